#include "joedb/schema/type.h"

#include <algorithm>
#include <array>

namespace joedb::inline v1 {

static constexpr std::array<std::string_view, type_count + 1> names{
    "none",    "string",  "int32", "int64", "references", "boolean",
    "float32", "float64", "int8",  "int16", "blob"};

std::string_view type_name(Type_Code code) { return names[static_cast<std::size_t>(code)]; }

Type_Code type_named(std::string_view name) {
  const auto found = std::find(names.begin() + 1, names.end(), name);
  return found == names.end() ? Type_Code::none : static_cast<Type_Code>(found - names.begin());
}

bool is_identifier(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty() || is_digit(name[0]) || name.find("__") != name.npos) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_digit(c) || is_letter(c) || c == '_'; });
}

}  // namespace joedb::inline v1
