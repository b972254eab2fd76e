#ifndef JOEDB_INTERPRETER_COMPLETION_H
#define JOEDB_INTERPRETER_COMPLETION_H

#include <string>
#include <string_view>
#include <vector>

#include "interpreter/line_source.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// What the argument may be that is being typed: `kind` as in Command_Help; `words` are those
// before it, the command first, and `prefix` is its beginning. Names of the schema; ids of existing
// records, with the name of the record; values of booleans and references.
Completions complete_from(const Database& database, std::string_view kind,
                          const std::vector<std::string_view>& words, std::string_view prefix);

}  // namespace joedb::inline v1

#endif
