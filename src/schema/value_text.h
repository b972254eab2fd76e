#ifndef JOEDB_SCHEMA_VALUE_TEXT_H
#define JOEDB_SCHEMA_VALUE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Values as text, as joedbi reads and writes them. What is written here is read back as
// the same value, to the last bit of a float.

// In double quotes: " and \ get a \ before them, control characters and bytes that are not UTF-8
// become three octal digits, and the second of two question marks gets a \ (once, ?? began a
// trigraph in C). Other UTF-8 text stays as it is.
void append_quoted(std::string& out, std::string_view text);

// One byte as a backslash and three octal digits.
void append_octal(std::string& out, char c);

// Length of the well-formed UTF-8 sequence that `text` begins with, if it is not ASCII; else 0.
std::size_t utf8_sequence_size(std::string_view text);

// Decimal integers; true or false; POSITION,SIZE for a blob; -1 for a null reference. A float has
// as few digits as tell it from its neighbours, and looks like printf's %g otherwise.
void append_value(std::string& out, std::int8_t value);
void append_value(std::string& out, std::int16_t value);
void append_value(std::string& out, std::int32_t value);
void append_value(std::string& out, std::int64_t value);
void append_value(std::string& out, float value);
void append_value(std::string& out, double value);
void append_value(std::string& out, bool value);
void append_value(std::string& out, Record_Id value);
void append_value(std::string& out, Blob value);
inline void append_value(std::string& out, std::string_view value) { append_quoted(out, value); }
inline void append_value(std::string& out, const char* value) { append_quoted(out, value); }

// Reads words and values from a line, from left to right.
//
// It behaves like a C++ stream, because existing files depend on what joedb's interpreter does:
// what cannot be read gives zero and makes the reader fail, and a reader that has failed reads
// nothing any more. Coming to the end of the line is no failure, but the next read is.
class Line_Reader {
 public:
  // `line` must outlive the reader and what it returns.
  explicit Line_Reader(std::string_view line)
      : current_(line.data()), end_(line.data() + line.size()) {}

  // Something could not be read.
  bool has_failed() const { return has_failed_; }
  // The last read neither failed nor touched the end of the line: there is more.
  bool has_more() const { return !has_failed_ && !is_at_end_; }

  // Up to the next white space; empty, and failed, if there is none left.
  std::string_view read_word();

  // A value. A string is in quotes, or goes to the next space; in both forms \ is followed by three
  // octal digits, by x and two hexadecimal digits, or by a character that stands for itself. An
  // unquoted string at the end of the line is read, but lets the reader fail. A text is valid until
  // the next read.
  template <Field_Value T>
  T read_value();

  // Like read_value, but gives `fallback` if nothing is left to read.
  std::int64_t read_integer_or(std::int64_t fallback);

 private:
  bool begin_read();
  std::int64_t read_integer(std::int64_t fallback, std::int64_t min, std::int64_t max);
  template <class T>
  T read_float();
  template <class T>
  bool read_special(T& value);
  int take();
  unsigned char read_escaped();

  const char* current_;
  const char* end_;
  bool has_failed_ = false;
  bool is_at_end_ = false;
  std::string text_;  // of a string with escapes
};

template <>
std::string_view Line_Reader::read_value<std::string_view>();
template <>
std::int8_t Line_Reader::read_value<std::int8_t>();
template <>
std::int16_t Line_Reader::read_value<std::int16_t>();
template <>
std::int32_t Line_Reader::read_value<std::int32_t>();
template <>
std::int64_t Line_Reader::read_value<std::int64_t>();
template <>
float Line_Reader::read_value<float>();
template <>
double Line_Reader::read_value<double>();
template <>
bool Line_Reader::read_value<bool>();
template <>
Record_Id Line_Reader::read_value<Record_Id>();
template <>
Blob Line_Reader::read_value<Blob>();

}  // namespace joedb::inline v1

#endif
