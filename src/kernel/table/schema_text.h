#ifndef JOEDB_SRC_KERNEL_TABLE_SCHEMA_TEXT_H
#define JOEDB_SRC_KERNEL_TABLE_SCHEMA_TEXT_H

#include <string>
#include <string_view>
#include <vector>

// Functions that describe schemas as text, for messages.

namespace joedb::inline v1 {

// Returns the joedbi commands that create a schema, one for each entry (Database::schema_entries).
std::vector<std::string> schema_lines(std::string_view entries);

// Describes the first difference of two schemas that are not equal: "change 3 is A in the file, B
// in the program", where `first` is "in the file" and `second` is "in the program".
std::string schema_difference(std::string_view first_entries, std::string_view first,
                              std::string_view second_entries, std::string_view second);

}  // namespace joedb::inline v1

#endif
