#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Appends `text`, escaped for a JSON string. If `text` is not UTF-8, appends the part before the
// invalid byte, and returns false.
bool append_json_text(std::string& out, std::string_view text);

}  // namespace joedb::inline v1

#endif
