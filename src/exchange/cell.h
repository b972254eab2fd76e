#ifndef JOEDB_SRC_EXCHANGE_CELL_H
#define JOEDB_SRC_EXCHANGE_CELL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/schema/type.h"

namespace joedb {

// A value of a row in a CSV file, a line of JSON, or another database. Does not own its text.
class Cell {
 public:
  enum class Kind : std::uint8_t {
    absent,  // not in the row: an existing record keeps its value
    null,    // no value
    boolean,
    integer,
    real,
    text,   // a string
    word,   // characters for a value of any type, as in a CSV file
    bytes,  // of a blob, or of a string that is not UTF-8
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
  // `kind`: text, word or bytes.
  static Cell of(Kind kind, std::string_view text) {
    Cell cell(kind);
    cell.text_ = text;
    return cell;
  }

  // Returns the same number, with the text that the source has for it.
  Cell written_as(std::string_view text) const {
    Cell cell = *this;
    cell.text_ = text;
    return cell;
  }

  Kind kind() const { return kind_; }
  bool has_text() const { return kind_ >= Kind::text; }
  // True if the cell has no value for a field that is not a string: a CSV file may also write that
  // as "".
  bool is_empty() const { return kind_ <= Kind::null || (has_text() && text_.empty()); }
  // For a boolean: 0 or 1.
  std::int64_t integer() const { return integer_; }
  double real() const { return real_; }
  // For a number: the text that the source has for it, if known.
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

// Thrown if a cell cannot be a value of its field. The text names the expected value, but no place.
class Cell_Error : public Data_Error {
 public:
  using Data_Error::Data_Error;
};

// Returns the value of a cell for a field of type T. A cell without a value becomes 0, false, the
// empty string, the null reference, or nan for floats. Throws Cell_Error.
//
// boolean: true, false, yes, no, t, f, y, n in any case, 1, 0. An integer may have a sign, or be
// written as a float without a fraction; true and false are not integers. An int64 may be a time
// (parse_cell_time). A float may be nan, inf, -inf. A reference is a record id, or -1. A string is
// any text or bytes; a number becomes its text in the input or, without one, a text in `buffer`,
// which must outlive the result. Not for blobs: Column_Writer (row_writer.h) takes their bytes.
template <Field_Value T>
T read_cell(const Cell& cell, std::string& buffer);

// Returns, for messages, the value of a field of this type for a cell without a value: "0", "false"
// or "\"\"". Empty for types whose cells without a value become nan or null.
const char* missing_value_text(Type_Code type);

// Returns seconds since 1970, or nullopt. Takes the formats of parse_time (kernel/base/time.h),
// also with a Z at the end.
std::optional<std::int64_t> parse_cell_time(std::string_view text);

// Returns, for messages, the text of the source in backquotes, shortened.
std::string quoted_cell(const Cell& cell);

}  // namespace joedb

#endif
