#ifndef FORMAT_HASH_H
#define FORMAT_HASH_H

#include <cstdint>
#include <string_view>

// XXH3, 64 bits (https://github.com/Cyan4973/xxHash). Compiled in, so that users link nothing more.

namespace joedb::inline v1 {

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed);

}  // namespace joedb::inline v1

#endif
