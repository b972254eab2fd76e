#ifndef JOEDB_SRC_SIM_LAB_RANDOM_H
#define JOEDB_SRC_SIM_LAB_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace joedb::testing {

// Pseudo-random numbers that are the same on every machine, and differ for adjacent seeds
// (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Returns a number from 0 to limit - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  bool flip() { return below(2) != 0; }

 private:
  std::uint64_t state_;
};

// Returns the first seed of random tests: 1, or N if the environment has JOEDB_TEST_SEED=N.
inline std::uint64_t first_seed() {
  const char* const seed = std::getenv("JOEDB_TEST_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
}

}  // namespace joedb::testing

#endif
