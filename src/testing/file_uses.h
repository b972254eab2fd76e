#ifndef TESTING_FILE_USES_H
#define TESTING_FILE_USES_H

#include <optional>
#include <string>
#include <string_view>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb::testing {

// Does with a file of any bytes all that a program might: reads it in each recovery mode, prints it
// in each form, packs and merges it, pushes it to another file and pulls it into one, opens it for
// writing in each way, appends to it and reads it again. Aborts, with a text on standard error,
// where a promise is broken; errors that the library reports are none.
void use_file(std::string_view file);

// All that a reader sees of a file (text_of; of very large tables only their sizes), or nothing if
// it is refused.
std::optional<std::string> content_of(std::string_view file, Recovery recovery = Recovery::none,
                                      Deleted_Values deleted = Deleted_Values::reset);

// What the command dump of joedbi prints.
std::string commands_of(const Database& database);

// Reads the history of a file in all ways, forwards and backwards: that succeeds where the file has
// a content, and leads to that. use_file does it, too.
void use_history(std::string_view file, Recovery recovery);

// Aborts with the text unless it is true.
void require(bool is_true, const std::string& text);

}  // namespace joedb::testing

#endif
