#ifndef JOEDB_SCHEMA_VALUE_TEXT_H
#define JOEDB_SCHEMA_VALUE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Values as text, as joedbi writes them. Line_Reader reads back the same value, to the last bit of
// a float.

// In double quotes: " and \ get a \ before them, control characters and bytes that are not UTF-8
// become three octal digits, and the second of two question marks gets a \ (once, ?? began a
// trigraph in C). Other UTF-8 text stays as it is.
void append_quoted(std::string& out, std::string_view text);

// One byte as a backslash and three octal digits.
void append_octal(std::string& out, char c);

// Decimal integers; true or false; POSITION,SIZE for a blob; -1 for a null reference. A float has
// as few digits as tell it from its neighbours, and an exponent below 0.0001 and from 1e16 on.
void append_value(std::string& out, std::int8_t value);
void append_value(std::string& out, std::int16_t value);
void append_value(std::string& out, std::int32_t value);
void append_value(std::string& out, std::int64_t value);
void append_value(std::string& out, float value);
void append_value(std::string& out, double value);
void append_value(std::string& out, bool value);
void append_value(std::string& out, Record_Id value);
void append_value(std::string& out, Blob value);

// From now on, floats have an exponent where printf's %g has one, from 1e6 on: joedb 10 writes them
// so. For a whole program, before it writes.
void write_floats_as_joedb_10();

inline void append_value(std::string& out, std::string_view value) { append_quoted(out, value); }
inline void append_value(std::string& out, const char* value) { append_quoted(out, value); }

}  // namespace joedb::inline v1

#endif
