#ifndef JOEDB_EXCHANGE_IDENTIFIERS_H
#define JOEDB_EXCHANGE_IDENTIFIERS_H

#include <string>
#include <string_view>
#include <vector>

namespace joedb {

// A name as one that tables and fields can have (is_identifier): each run of underscores and of
// characters other than ASCII letters and digits becomes one underscore, and one is put before a
// digit at the start. An identifier stays as it is; of nothing it makes "_".
std::string to_identifier(std::string_view name);

// The identifiers of several names, all different: of those that would be equal, one that is an
// identifier already stays as it is, and the others get _2, _3 …
std::vector<std::string> to_identifiers(const std::vector<std::string>& names);

}  // namespace joedb

#endif
