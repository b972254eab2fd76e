#define XXH_INLINE_ALL
#include "format/hash.h"

#include <xxhash.h>

namespace joedb::inline v1 {

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace joedb::inline v1
