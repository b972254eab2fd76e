#ifndef JOEDB_WAL_TEXT_H
#define JOEDB_WAL_TEXT_H

#include <string>
#include <string_view>

// Entries as text, one per line: `joedb wal dump` prints them, `joedb wal load` reads them.

namespace joedb::inline v1::wal {

// Appends any bytes in double quotes, without a line break. `"` and `\` are preceded by `\`;
// control characters and bytes that are not UTF-8 become `\` and three octal digits; of two
// adjacent question marks the second is preceded by `\` (as joedb_logdump writes strings). Other
// text is unchanged.
void append_text(std::string& out, std::string_view bytes);

// Returns the bytes of such a line, given without its line end. `\` must be followed by three octal
// digits, by x and two hexadecimal digits, or by one character that is neither letter nor digit.
// Throws Exception, which states the error and its column.
std::string parse_text(std::string_view line);

}  // namespace joedb::inline v1::wal

#endif
