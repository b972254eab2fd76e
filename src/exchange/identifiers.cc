#include "exchange/identifiers.h"

#include <set>

#include "joedb/schema/type.h"

namespace joedb {

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string to_identifier(std::string_view name) {
  std::string result;
  if (!name.empty() && is_digit(name[0])) result = "_";
  for (const char c : name) {
    if (is_letter(c) || is_digit(c))
      result += c;
    else if (!result.ends_with('_'))
      result += '_';
  }
  return result.empty() ? "_" : result;
}

std::vector<std::string> to_identifiers(const std::vector<std::string>& names) {
  std::set<std::string> reserved;
  for (const std::string& name : names)
    if (is_identifier(name)) reserved.insert(name);
  std::set<std::string> used;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const std::string plain = to_identifier(name);
    const std::string stem = plain.ends_with('_') ? plain : plain + '_';
    std::string identifier = plain;
    for (int number = 2;
         used.contains(identifier) || (identifier != name && reserved.contains(identifier));
         ++number)
      identifier = stem + std::to_string(number);
    used.insert(identifier);
    result.push_back(std::move(identifier));
  }
  return result;
}

}  // namespace joedb
