#ifndef JOEDB_SRC_KERNEL_SCHEMA_LINE_READER_H
#define JOEDB_SRC_KERNEL_SCHEMA_LINE_READER_H

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Thrown for an invalid item of a line. `column` is counted in characters, from 1. The text is
// "column N: REASON", or REASON if there is no column (Reading::classic).
class Line_Error : public Data_Error {
 public:
  Line_Error(std::optional<std::size_t> at, std::string_view cause);
  const std::optional<std::size_t> column;
  const std::string reason;
};

// How strictly to read a line.
enum class Reading {
  // If any part of a word is invalid, Line_Error is thrown: "column 16: int32 expected, got `x`".
  strict,
  // The line is read as in joedb 10, by the rules of a C++ stream. An invalid value reads as zero
  // or the nearest value, and makes the reader fail. A failed reader reads nothing more. To reach
  // the end of the line is not a failure; to read again after that is a failure.
  classic,
};

// Reads words and values from a line, from left to right. Columns are counted in characters (of
// UTF-8), from 1.
class Line_Reader {
 public:
  // `line` must outlive the reader and the texts it returns.
  explicit Line_Reader(std::string_view line, Reading reading = Reading::strict)
      : line_(line.data()),
        current_(line.data()),
        end_(line.data() + line.size()),
        start_(line.data()),
        is_classic_(reading == Reading::classic) {}

  bool is_classic() const { return is_classic_; }
  // Classic: true if a read has failed. A strict reader throws instead.
  bool has_failed() const { return has_failed_; }
  // Strict: true if another word follows. Classic: true if the last read neither failed nor reached
  // the end of the line.
  bool has_more() const;

  // Reads a word, up to the next white space. `what` names the expected item in errors. If no word
  // is left, a strict reader throws Line_Error, and a classic reader returns an empty text.
  std::string_view read_word(std::string_view what);
  // Returns the next word without reading it. Empty if there is none.
  std::string_view peek_word() const;

  // Reads the rest of the line, which may be empty, without white space around it. Not for classic
  // readers.
  std::string_view read_rest();

  // Reads a value in the format of append_value. A string is either in double quotes, or a word
  // without quotes. In both forms, \ begins an escape: three octal digits, or x and two hexadecimal
  // digits, stand for a byte; any character that is neither a letter nor a digit stands for itself.
  // A returned text is valid during the lifetime of the reader and its line.
  //
  // Classic: if the line ends with an unquoted string, the string is returned, but the reader then
  // fails; any character may follow \.
  template <Field_Value T>
  T read_value();

  struct Range {
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
  };
  // Reads an integer. `what` names the expected item in errors. Classic: returns `fallback` if the
  // line has no more words, and accepts any range.
  std::int64_t read_integer(std::string_view what, std::int64_t fallback, Range range);
  std::int64_t read_integer(std::string_view what, std::int64_t fallback) {
    return read_integer(what, fallback, Range());
  }
  // Like read_integer, but returns `fallback` if no word is left. Classic: the same as
  // read_integer.
  std::int64_t read_integer_or(std::int64_t fallback, std::string_view what, Range range);
  std::int64_t read_integer_or(std::int64_t fallback, std::string_view what) {
    return read_integer_or(fallback, what, Range());
  }

  // Returns a text that is valid as long as those of read_value().
  std::string_view keep(std::string text) { return texts_.emplace_front(std::move(text)); }

  // Throws Line_Error if another word follows. Classic: does nothing.
  void require_end();

  // Returns an error about the item read last: "column 5: WHAT". Classic: "WHAT".
  Line_Error error(std::string_view what) const { return error_at(start_, what); }
  // Returns the error "column 5: EXPECTED expected, got `…`". Classic: without the column.
  Line_Error unexpected(std::string_view expected) const;

 private:
  Line_Error error_at(const char* place, std::string_view what) const;
  const char* next_word() const;
  void begin_strictly(std::string_view what);
  template <class Read>
  auto read_strictly(std::string_view what, Read read);

  bool begin_read();
  std::int64_t take_integer(std::int64_t fallback, Range range);
  template <class T>
  T take_float();
  template <class T>
  bool take_special(T& value);
  template <class T>
  T read_float(std::string_view what);
  template <class T>
  T read_fixed(std::string_view what);
  bool take_bool();
  Blob take_blob();

  std::string_view read_text();
  std::string_view read_classic_text();
  char take_escaped();
  int take();
  unsigned char take_classic_escaped();

  const char* line_;
  const char* current_;
  const char* end_;
  const char* start_;  // start of the item read last
  const bool is_classic_;
  bool has_failed_ = false;
  bool is_at_end_ = false;
  bool is_out_of_range_ = false;
  std::forward_list<std::string> texts_;  // texts that had escapes
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
