#ifndef JOEDB_SRC_EXCHANGE_TEXT_CHECK_H
#define JOEDB_SRC_EXCHANGE_TEXT_CHECK_H

#include <string>
#include <string_view>

namespace joedb {

// Returns why a file is not text in UTF-8 or another 8-bit encoding, and how to convert it: "is
// compressed by gzip: import what `gunzip -c FILE` prints, with - as IN". Empty if it may be text.
// `begin` is the beginning of the file, up to some thousand bytes. `name` is the name of the file,
// for a shell command.
std::string non_text_reason(std::string_view begin, const std::string& name);

// Returns true for the beginning of a joedb file, header_size bytes or more.
bool is_joedb_file(std::string_view begin);

// Returns true if a text has control characters other than tabs and line ends. Such control
// characters indicate binary data.
bool has_control_characters(std::string_view text);

}  // namespace joedb

#endif
