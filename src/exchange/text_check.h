#ifndef JOEDB_EXCHANGE_TEXT_CHECK_H
#define JOEDB_EXCHANGE_TEXT_CHECK_H

#include <string>
#include <string_view>

namespace joedb {

// What a file is that is no text in UTF-8, or another 8-bit encoding, and what makes such a text of
// it: "is compressed by gzip: gunzip -c FILE | joedb import ...". Empty if nothing is known against
// it. `begin`: the first bytes, up to some thousands; `name`: that of the file for a shell.
std::string why_no_text(std::string_view begin, const std::string& name);

// Whether a text has control characters other than tabs and ends of lines, as only bytes that are
// no text have.
bool has_control_characters(std::string_view text);

}  // namespace joedb

#endif
