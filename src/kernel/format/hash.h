#ifndef JOEDB_SRC_KERNEL_FORMAT_HASH_H
#define JOEDB_SRC_KERNEL_FORMAT_HASH_H

#include <cstddef>
#include <cstdint>
#include <string_view>

// XXH3, 64 bits (https://github.com/Cyan4973/xxHash). XXH3 is compiled into this library, so that
// programs need not link another library. On x86, it is compiled a second time, for processors with
// AVX2.

namespace joedb::inline v1 {

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed);

// Computes the same hash as hash_of, for bytes that come in pieces.
class Hash_Of_Pieces {
 public:
  void start(std::uint64_t seed);
  void add(std::string_view bytes);
  std::uint64_t hash() const;

 private:
  static constexpr std::size_t size = 576;
  alignas(64) char state_[size];
};

}  // namespace joedb::inline v1

#endif
