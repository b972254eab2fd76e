#define XXH_STATIC_LINKING_ONLY  // XXH3_state_t
#define XXH_INLINE_ALL
#include "kernel/format/hash.h"

#include <xxhash.h>

#include <new>

#include "kernel/format/hash_avx2.h"

namespace joedb::inline v1 {

static_assert(sizeof(XXH3_state_t) == 576 && alignof(XXH3_state_t) == 64);

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed) {
  if (avx2::is_supported && bytes.size() >= avx2::least)
    return avx2::hash_of(bytes.data(), bytes.size(), seed);
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

void Hash_Of_Pieces::start(std::uint64_t seed) {
  XXH3_64bits_reset_withSeed(new (state_) XXH3_state_t, seed);
}

void Hash_Of_Pieces::add(std::string_view bytes) {
  auto* const state = reinterpret_cast<XXH3_state_t*>(state_);
  if (avx2::is_supported && bytes.size() >= avx2::least)
    avx2::add(state, bytes.data(), bytes.size());
  else
    XXH3_64bits_update(state, bytes.data(), bytes.size());
}

std::uint64_t Hash_Of_Pieces::hash() const {
  return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_));
}

}  // namespace joedb::inline v1
