#ifndef JOEDB_SRC_COMMANDS_COMPLETION_H
#define JOEDB_SRC_COMMANDS_COMPLETION_H

#include <string>
#include <string_view>
#include <vector>

#include "commands/line_source.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Returns the candidates for the argument that is being typed. `kind` is as in Command_Help,
// `words` are the words before it, beginning with the command, and `prefix` is its beginning.
// Candidates are names of the schema; ids of existing records, with their names; and values of
// booleans and references.
Completions complete_from(const Database& database, std::string_view kind,
                          const std::vector<std::string_view>& words, std::string_view prefix);

}  // namespace joedb::inline v1

#endif
