#ifndef JOEDB_EXCHANGE_IDENTIFIERS_H
#define JOEDB_EXCHANGE_IDENTIFIERS_H

#include <string>
#include <vector>

namespace joedb {

// Names as tables and fields can have them, all different: an identifier stays, others become
// identifier_of(name) (exchange/import.h); of those that would be equal, one stays as it is,
// and the others get _2, _3 …
std::vector<std::string> to_identifiers(const std::vector<std::string>& names);

}  // namespace joedb

#endif
