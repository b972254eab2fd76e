#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Returns the length of the well-formed UTF-8 sequence at the start of `text`, or 0 if there is
// none or it is ASCII.
std::size_t utf8_sequence_size(std::string_view text);

// Appends `text`, escaped for a JSON string. If `text` is not UTF-8, appends the part before the
// invalid byte, and returns false.
bool append_json_text(std::string& out, std::string_view text);

}  // namespace joedb::inline v1

#endif
