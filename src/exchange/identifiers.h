#ifndef JOEDB_SRC_EXCHANGE_IDENTIFIERS_H
#define JOEDB_SRC_EXCHANGE_IDENTIFIERS_H

#include <string>
#include <vector>

namespace joedb {

// Returns valid names for tables or fields, all different. An identifier is unchanged; other names
// become identifier_of(name) (exchange/import.h). Of equal names, one name is unchanged, and _2, _3
// … is appended to the others.
std::vector<std::string> to_identifiers(const std::vector<std::string>& names);

// Returns the names; of equal names, _2, _3 … is appended to all but the first.
std::vector<std::string> to_different(const std::vector<std::string>& names);

}  // namespace joedb

#endif
