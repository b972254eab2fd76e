// Compiled with -mavx2 on x86 (src/CMakeLists.txt). This file must contain nothing else, and must
// not use a function of a header that may not be inlined: the linker could choose its AVX2 version
// for every processor.
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include "kernel/format/hash_avx2.h"

#include <xxhash.h>

namespace joedb::inline v1::avx2 {

#if defined(__AVX2__) && defined(__GNUC__)
const bool is_supported = __builtin_cpu_supports("avx2");
#else
const bool is_supported = false;
#endif

std::uint64_t hash_of(const char* bytes, std::size_t size, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

void add(void* state, const char* bytes, std::size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}

}  // namespace joedb::inline v1::avx2
