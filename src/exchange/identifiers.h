#ifndef JOEDB_SRC_EXCHANGE_IDENTIFIERS_H
#define JOEDB_SRC_EXCHANGE_IDENTIFIERS_H

#include <string>
#include <vector>

namespace joedb {

// Returns valid and distinct names for tables or fields. A name that is an identifier is unchanged;
// another name becomes identifier_of(name) (exchange/import.h). If results are equal, all except
// one get a suffix _2, _3 ….
std::vector<std::string> to_identifiers(const std::vector<std::string>& names);

// Returns the names. If names are equal, all except the first get a suffix _2, _3 ….
std::vector<std::string> to_different(const std::vector<std::string>& names);

}  // namespace joedb

#endif
