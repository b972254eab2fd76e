#ifndef JOEDB_SRC_TOOLS_COMPILER_INDEX_FILE_H
#define JOEDB_SRC_TOOLS_COMPILER_INDEX_FILE_H

#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/index.h"

namespace joedb {

// Returns the indexes in a .joedbc file, for the current schema of `file`; empty if `options_file`
// is empty. Throws compiler::Schema_Errors, Io_Error or Corruption_Error.
std::vector<Index_Definition> read_indexes(const std::string& options_file, Abstract_File& file,
                                           Recovery recovery = Recovery::none);

}  // namespace joedb

#endif
