#ifndef FORMAT_HASH_AVX2_H
#define FORMAT_HASH_AVX2_H

#include <cstddef>
#include <cstdint>

namespace joedb::inline v1::avx2 {

// Shorter ones are not worth the question.
inline constexpr std::size_t least = 1024;

// Whether the processor has AVX2, and the others are compiled for it.
extern const bool is_supported;

std::uint64_t hash_of(const char* bytes, std::size_t size, std::uint64_t seed);
// `state` is a XXH3_state_t.
void add(void* state, const char* bytes, std::size_t size);

}  // namespace joedb::inline v1::avx2

#endif
