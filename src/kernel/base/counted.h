#ifndef JOEDB_SRC_KERNEL_BASE_COUNTED_H
#define JOEDB_SRC_KERNEL_BASE_COUNTED_H

#include <concepts>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Returns "1 entry", "2 entries".
template <std::integral N>
std::string counted(N n, std::string_view one, std::string_view many) {
  return std::to_string(n).append(" ").append(n == 1 ? one : many);
}

// Returns "1 row", "2 rows": for words with a plural in -s.
template <std::integral N>
std::string counted(N n, std::string_view thing) {
  return std::to_string(n).append(" ").append(thing).append(n == 1 ? "" : "s");
}

}  // namespace joedb::inline v1

#endif
