#ifndef JOEDB_SRC_SIM_LAB_DISTINCT_STATES_H
#define JOEDB_SRC_SIM_LAB_DISTINCT_STATES_H

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace joedb::testing {

// The 128-bit hash of a state.
struct State_Hash {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const State_Hash&, const State_Hash&) = default;
};

inline State_Hash hash_of_bytes(const void* data, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.low64, hash.high64};
}

// A set of hashes (a hash table with open addressing). 0 cannot be an element.
class State_Set {
 public:
  // Returns true if the hash is new.
  bool insert(State_Hash hash) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    State_Hash* const slot = find(hash);
    if (*slot == hash) return false;
    *slot = hash;
    ++size_;
    return true;
  }
  std::size_t size() const { return size_; }

  template <class F>
  void for_each(F f) const {
    for (const State_Hash& hash : slots_)
      if (hash != State_Hash()) f(hash);
  }

 private:
  State_Hash* find(State_Hash hash) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash.low & mask;
    while (slots_[i] != State_Hash() && slots_[i] != hash) i = (i + 1) & mask;
    return &slots_[i];
  }
  void grow() {
    std::vector<State_Hash> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const State_Hash& hash : old)
      if (hash != State_Hash()) *find(hash) = hash;
  }

  std::vector<State_Hash> slots_;
  std::size_t size_ = 0;
};

// A State_Set for several threads.
class Shared_State_Set {
 public:
  // Returns the number of new states.
  std::size_t insert(const State_Set& states) {
    std::size_t count = 0;
    states.for_each([&](State_Hash hash) {
      Part& part = parts_[hash.high % parts_.size()];
      const std::lock_guard lock(part.mutex);
      count += part.states.insert(hash);
    });
    return count;
  }

 private:
  struct Part {
    std::mutex mutex;
    State_Set states;
  };
  std::array<Part, 16> parts_;
};

}  // namespace joedb::testing

#endif
