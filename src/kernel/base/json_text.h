#ifndef JOEDB_SRC_KERNEL_BASE_JSON_TEXT_H
#define JOEDB_SRC_KERNEL_BASE_JSON_TEXT_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/log.h"

// Functions that write JSON piece by piece, with a space after each comma and colon, as in
// `{"table": "city", "rows": 3}`. (print_json in tools/frame/json_output.h writes the lines of
// --json, which have no spaces.)

namespace joedb::inline v1 {

// Appends `text`, escaped for a JSON string. If `text` is not UTF-8, appends the part before the
// invalid byte, and returns false.
bool append_json_text(std::string& out, std::string_view text);

// The same, but in double quotes.
bool append_json_string(std::string& out, std::string_view text);

// Returns the members of an object, without its braces.
std::string json_members(const std::vector<Log_Field>& members);

// Appends the bytes as base64.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace joedb::inline v1

#endif
