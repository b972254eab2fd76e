#ifndef JOEDB_SRC_KERNEL_SCHEMA_VALUE_TEXT_H
#define JOEDB_SRC_KERNEL_SCHEMA_VALUE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Values as text, in the format of joedbi. Line_Reader reads back the same value, to the last bit
// of a float.

// Appends a text in double quotes. A backslash precedes ", itself, and the second of two question
// marks (?? used to begin a trigraph in C). Control characters and bytes that are not UTF-8 become
// a backslash and three octal digits. Other UTF-8 text is unchanged.
void append_quoted(std::string& out, std::string_view text);

// Appends the text between two quotes, with each quote in it doubled, as SQL and CSV have it.
void append_doubled(std::string& out, std::string_view text, char quote);

// Appends a value: decimal integers; true or false; POSITION,SIZE for a blob; -1 for a null
// reference. A float has the fewest digits that distinguish it from its neighbours, and an exponent
// below 0.0001 and from 1e16 on.
void append_value(std::string& out, std::int8_t value);
void append_value(std::string& out, std::int16_t value);
void append_value(std::string& out, std::int32_t value);
void append_value(std::string& out, std::int64_t value);
void append_value(std::string& out, float value);
void append_value(std::string& out, double value);
void append_value(std::string& out, bool value);
void append_value(std::string& out, Record_Id value);
void append_value(std::string& out, Blob value);

// From now on, floats have an exponent where printf's %g has one, from 1e6 on, as joedb 10 writes
// them. Affects the whole program, and is not thread-safe: call it before writing.
void write_floats_as_joedb_10();

inline void append_value(std::string& out, std::string_view value) { append_quoted(out, value); }
inline void append_value(std::string& out, const char* value) { append_quoted(out, value); }

}  // namespace joedb::inline v1

#endif
