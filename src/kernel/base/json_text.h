#ifndef JOEDB_SRC_KERNEL_BASE_JSON_TEXT_H
#define JOEDB_SRC_KERNEL_BASE_JSON_TEXT_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/log.h"

// Writes JSON piece by piece: `{"table": "city", "rows": 3}`, with a space after each comma and
// colon. A line of --json, which has no spaces, is print_json of tools/frame/json_output.h.

namespace joedb::inline v1 {

// Appends `text`, escaped for a JSON string. If `text` is not UTF-8, appends the part before the
// invalid byte, and returns false.
bool append_json_text(std::string& out, std::string_view text);

// Appends the same in double quotes.
bool append_json_string(std::string& out, std::string_view text);

// Returns the members of an object, without its braces.
std::string json_members(const std::vector<Log_Field>& members);

// Appends the bytes as base64.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace joedb::inline v1

#endif
