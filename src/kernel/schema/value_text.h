#ifndef JOEDB_SRC_KERNEL_SCHEMA_VALUE_TEXT_H
#define JOEDB_SRC_KERNEL_SCHEMA_VALUE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Functions that write values as text, in the format of joedbi. Line_Reader reads exactly the same
// value from this text, even for floats.

// Appends a text in double quotes. A backslash is written before ", before a backslash, and before
// the second of two question marks (?? began a trigraph in older C). Control characters and bytes
// that are not UTF-8 are written as a backslash and three octal digits. Other UTF-8 text is
// unchanged.
void append_quoted(std::string& out, std::string_view text);

// Appends the text between two quotes. Each quote in the text is doubled, as in SQL and CSV.
void append_doubled(std::string& out, std::string_view text, char quote);

// Appends a value: decimal integers; true or false; POSITION,SIZE for a blob; -1 for a null
// reference. A float is written with the fewest digits that distinguish it from its neighbours. It
// has an exponent if its absolute value is less than 0.0001, or at least 1e16.
void append_value(std::string& out, std::int8_t value);
void append_value(std::string& out, std::int16_t value);
void append_value(std::string& out, std::int32_t value);
void append_value(std::string& out, std::int64_t value);
void append_value(std::string& out, float value);
void append_value(std::string& out, double value);
void append_value(std::string& out, bool value);
void append_value(std::string& out, Record_Id value);
void append_value(std::string& out, Blob value);

// From now on, floats of 1e6 or more have an exponent, as with %g of printf and in joedb 10.
// Affects the whole program, and is not thread-safe: call this before anything is written.
void write_floats_as_joedb_10();

inline void append_value(std::string& out, std::string_view value) { append_quoted(out, value); }
inline void append_value(std::string& out, const char* value) { append_quoted(out, value); }

}  // namespace joedb::inline v1

#endif
