#ifndef JOEDB_SRC_KERNEL_FORMAT_HASH_AVX2_H
#define JOEDB_SRC_KERNEL_FORMAT_HASH_AVX2_H

#include <cstddef>
#include <cstdint>

namespace joedb::inline v1::avx2 {

// Smallest size in bytes for which the AVX2 functions are worth their cost.
inline constexpr std::size_t least = 1024;

// True if the processor has AVX2 and the functions below are compiled for it.
extern const bool is_supported;

std::uint64_t hash_of(const char* bytes, std::size_t size, std::uint64_t seed);
// `state` points to an XXH3_state_t.
void add(void* state, const char* bytes, std::size_t size);

}  // namespace joedb::inline v1::avx2

#endif
