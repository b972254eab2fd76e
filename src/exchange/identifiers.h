#ifndef JOEDB_SRC_EXCHANGE_IDENTIFIERS_H
#define JOEDB_SRC_EXCHANGE_IDENTIFIERS_H

#include <string>
#include <vector>

namespace joedb {

// Returns valid names for tables or fields, all different. An identifier is unchanged; other names
// become identifier_of(name) (exchange/import.h). Of equal names, one name is unchanged, and _2, _3
// … is appended to the others.
std::vector<std::string> to_identifiers(const std::vector<std::string>& names);

}  // namespace joedb

#endif
