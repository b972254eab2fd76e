#include "exchange/identifiers.h"

#include "exchange/import.h"
#include "joedb/schema/type.h"
#include "text/different_names.h"

namespace joedb {

static const std::string& itself(const std::string& name) { return name; }

std::vector<std::string> to_identifiers(const std::vector<std::string>& names) {
  return different_names(
      names,
      [](const std::string& name) { return is_identifier(name) ? name : identifier_of(name); },
      itself);
}

std::vector<std::string> to_different(const std::vector<std::string>& names) {
  return different_names(names, itself, itself);
}

}  // namespace joedb
