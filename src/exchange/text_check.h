#ifndef JOEDB_SRC_EXCHANGE_TEXT_CHECK_H
#define JOEDB_SRC_EXCHANGE_TEXT_CHECK_H

#include <string>
#include <string_view>

namespace joedb {

// Returns the reason why a file is not a text in UTF-8 or another 8-bit encoding, and how to
// convert the file to text: "is compressed by gzip: import what `gunzip -c FILE` prints, with - as
// IN". Empty if there is no reason. `begin`: the first bytes, up to some thousands; `name`: the
// name of the file, for a shell.
std::string non_text_reason(std::string_view begin, const std::string& name);

// Returns true if a text has control characters other than tabs and ends of lines, which only
// binary data has.
bool has_control_characters(std::string_view text);

}  // namespace joedb

#endif
