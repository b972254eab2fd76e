#ifndef JOEDB_SRC_EXCHANGE_CELL_H
#define JOEDB_SRC_EXCHANGE_CELL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/schema/type.h"
#include "kernel/schema/logical_type.h"

namespace joedb {

// A value of a row in a CSV file, a line of JSON, or another database. Does not own its text.
class Cell {
 public:
  enum class Kind : std::uint8_t {
    absent,  // the row does not have the cell: an existing record keeps its value
    null,    // no value
    boolean,
    integer,
    real,
    text,   // a string
    json,   // an array or object, or another value of a column of JSON, as JSON text
    word,   // characters that may be a value of any type, as in a CSV file
    bytes,  // bytes of a blob, or of a string that is not UTF-8
  };

  Cell() = default;
  static Cell null() { return Cell(Kind::null); }
  static Cell of(bool value) { return {Kind::boolean, std::int64_t{value}}; }
  static Cell of(std::int64_t value) { return {Kind::integer, value}; }
  static Cell of(double value) {
    Cell cell(Kind::real);
    cell.real_ = value;
    return cell;
  }
  // `kind` must be text, json, word or bytes.
  static Cell of(Kind kind, std::string_view text) {
    Cell cell(kind);
    cell.text_ = text;
    return cell;
  }

  // Returns the same number, with the text by which the source represents it.
  Cell written_as(std::string_view text) const {
    Cell cell = *this;
    cell.text_ = text;
    return cell;
  }

  Kind kind() const { return kind_; }
  bool has_text() const { return kind_ >= Kind::text; }
  // Returns true if the cell has no value for a field that is not a string. An empty text has none,
  // because a CSV file may write a missing value as "".
  bool is_empty() const { return kind_ <= Kind::null || (has_text() && text_.empty()); }
  // For a boolean, this is 0 or 1.
  std::int64_t integer() const { return integer_; }
  double real() const { return real_; }
  // For a number, this is the text by which the source represents it, if known.
  std::string_view text() const { return text_; }

 private:
  explicit Cell(Kind kind) : kind_(kind) {}
  Cell(Kind kind, std::int64_t value) : kind_(kind), integer_(value) {}

  Kind kind_ = Kind::absent;
  union {
    std::int64_t integer_ = 0;
    double real_;
  };
  std::string_view text_;
};

// Thrown if a field cannot hold a cell. The message has the expected value, but not the place.
class Cell_Error : public Data_Error {
 public:
  using Data_Error::Data_Error;
};

// Returns the value of a cell for a field of type T. A cell without a value becomes 0, false, the
// empty string, the null reference or, for floats, nan. Throws Cell_Error. The accepted cells are:
//
// * boolean: true, false, yes, no, t, f, y, n in any case, 1, 0.
// * integers: an optional sign; also a float without a fraction, but not true or false. An int64
//   may also be a time (parse_cell_time).
// * floats: also nan, inf, -inf.
// * reference: a record id, or -1.
// * string: any text or bytes. A number becomes its text in the source or, if unknown, a text in
//   `buffer`, which must outlive the result.
//
// Not for blobs, whose bytes are taken by Column_Writer (row_writer.h).
template <Field_Value T>
T read_cell(const Cell& cell, std::string& buffer);

// The same for a field with a logical type. An optional field gets the value that means "missing"
// (missing_value in kernel/schema/logical_type.h) from a cell without a value. A text without
// characters is a value for strings and bytes only. The accepted cells are:
//
// * words and texts as in parse_logical_number() and parse_logical_bytes(); a boolean is as above;
// * integers and floats: of a decimal, they are the value itself; they are no dates, times,
//   durations or names;
// * bytes: words are base64, texts are hexadecimal;
// * json: words are JSON; a text is a JSON string, and other cells are JSON values.
template <Field_Value T>
T read_cell(const Cell& cell, const Logical_Type& logical, std::string& buffer);

// Returns true if the cell has no value for a field of this type.
bool is_empty_for(const Cell& cell, Type_Code stored, const Logical_Type& logical);

// Returns the value, for messages, that a field of this type gets from a cell without a value: "0",
// "false", "\"\"", "1970-01-01". Empty if the field becomes nan, null or missing.
std::string missing_value_text(Type_Code stored, const Logical_Type& logical = {});

// Returns a time in seconds since 1970; nullopt if the text is not a time. Accepts the formats of
// parse_time (kernel/base/time.h). Times without a zone are in UTC, so that an import does not
// depend on where it runs.
std::optional<std::int64_t> parse_cell_time(std::string_view text);

// Returns the text of the cell in backquotes, shortened, for messages.
std::string quoted_cell(const Cell& cell);

}  // namespace joedb

#endif
