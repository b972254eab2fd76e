#include "exchange/identifiers.h"

#include <set>

#include "exchange/import.h"
#include "joedb/schema/type.h"

namespace joedb {

std::vector<std::string> to_identifiers(const std::vector<std::string>& names) {
  // Names that are kept: no other name may become one of them.
  std::set<std::string> reserved;
  for (const std::string& name : names)
    if (is_identifier(name)) reserved.insert(name);
  std::set<std::string> used;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const std::string plain = is_identifier(name) ? name : identifier_of(name);
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
