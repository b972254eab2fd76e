#ifndef JOEDB_SRC_KERNEL_BASE_COUNTED_H
#define JOEDB_SRC_KERNEL_BASE_COUNTED_H

#include <concepts>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Returns, for example, "1 entry" or "2 entries".
template <std::integral N>
std::string counted(N n, std::string_view one, std::string_view many) {
  return std::to_string(n).append(" ").append(n == 1 ? one : many);
}

// Returns, for example, "1 row" or "2 rows". For words whose plural ends with -s.
template <std::integral N>
std::string counted(N n, std::string_view thing) {
  return std::to_string(n).append(" ").append(thing).append(n == 1 ? "" : "s");
}

}  // namespace joedb::inline v1

#endif
