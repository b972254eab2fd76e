#ifndef JOEDB_TESTS_SUPPORT_FILE_USES_H
#define JOEDB_TESTS_SUPPORT_FILE_USES_H

#include <optional>
#include <string>
#include <string_view>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb::testing {

// Uses a file of arbitrary bytes in all the ways in which a program might: reads it in each
// recovery mode, prints it in each form, packs and merges it, pushes it to another file and pulls
// it into one, opens it for writing in each way, appends to it and reads it again. Aborts, with a
// text on standard error, if a guarantee is broken. Errors that the library reports are not
// failures.
void use_file(std::string_view file);

// Returns everything that a reader sees of a file (text_of; only the sizes of very large tables),
// or nullopt if the file is refused.
std::optional<std::string> content_of(std::string_view file, Recovery recovery = Recovery::none,
                                      Deleted_Values deleted = Deleted_Values::reset);

// Returns the output of the joedbi command dump.
std::string commands_of(const Database& database);

// Reads the history of a file in all ways, forwards and backwards. This must succeed exactly if the
// file has a content, and must lead to that content. use_file() calls this, too.
void use_history(std::string_view file, Recovery recovery);

// Aborts with the text if is_true is false.
void require(bool is_true, const std::string& text);

}  // namespace joedb::testing

#endif
