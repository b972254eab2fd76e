#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Length of the well-formed UTF-8 sequence that `text` begins with, if it is not ASCII; else 0.
std::size_t utf8_sequence_size(std::string_view text);

// Appends what can stand in a JSON string. False if `text` is not UTF-8; then it ends there.
bool append_json_text(std::string& out, std::string_view text);

}  // namespace joedb::inline v1

#endif
