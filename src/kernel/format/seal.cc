#include "kernel/format/seal.h"

#include "kernel/format/hash.h"

namespace joedb::inline v1 {

std::int64_t make_seal(std::string_view body, Offset position) {
  constexpr std::uint64_t hash_mask = (std::uint64_t{1} << 40) - 1;
  const std::uint64_t hash = hash_of(body, static_cast<std::uint64_t>(position));
  return static_cast<std::int64_t>(std::uint64_t{1} << 62 | std::uint64_t{body.size()} << 40 |
                                   (hash & hash_mask));
}

}  // namespace joedb::inline v1
