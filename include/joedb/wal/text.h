#ifndef JOEDB_WAL_TEXT_H
#define JOEDB_WAL_TEXT_H

#include <string>
#include <string_view>

// Entries as text, one in a line: what `joedb wal dump` prints and `joedb wal load` reads.

namespace joedb::inline v1::wal {

// Any bytes, in double quotes, without a line break: " and \ get a \ before them; control
// characters and bytes that are not UTF-8 become \ and three octal digits; of two question marks
// the second gets a \ (what joedb_logdump does with strings). Other text stays as it is.
void append_text(std::string& out, std::string_view bytes);

// The bytes of such a line, without its end. Behind \ it takes three octal digits, x and two
// hexadecimal digits, or one character that is neither letter nor digit. Throws Exception, which
// says what is wrong and in which column.
std::string parse_text(std::string_view line);

}  // namespace joedb::inline v1::wal

#endif
