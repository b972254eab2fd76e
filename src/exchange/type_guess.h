#ifndef JOEDB_SRC_EXCHANGE_TYPE_GUESS_H
#define JOEDB_SRC_EXCHANGE_TYPE_GUESS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/cell.h"

namespace joedb {

// The form of a time like 2026-01-31T12:00:00.000Z.
struct Time_Form {
  char separator = 'T';    // or a blank
  bool has_zone = false;   // Z
  std::uint8_t scale = 0;  // digits behind the point: 0, 3, 6 or 9
  friend bool operator==(const Time_Form&, const Time_Form&) = default;
};
// Returns nullopt for other texts; also for a time whose zone is an offset, which a timestamp does
// not keep.
std::optional<Time_Form> time_form(std::string_view text);

// Returns true for a date as a date field writes it, 2026-01-31.
bool is_date(std::string_view text);

// Guesses the type of the values of a column. The result is string, or a type from which an export
// would write the same texts. Stores only some of the values.
class Type_Guess {
 public:
  void add(const Cell& cell);

  // Returns the plain type of type(), or the only other type that fits all values: date, timestamp
  // if all times have the same form, decimal if all numbers have the same number of digits behind
  // the point, json if all values are arrays or objects. If some of the rows, `missing`, have no
  // value, the type is optional; but text is so only if other values are "".
  Declared_Type declared_type(bool reads_times, std::int64_t missing = 0) const;
  // The first of the times, as declared_type() will write it; empty if it writes the same texts.
  const std::string& other_time_text() const { return other_time_text_; }

  // Returns boolean, int32, int64, float64 or blob if the type fits all values, else string.
  // `reads_times`: times are int64. Words like NO, 007, 1.10, 1E5 and 0.1000000000000000055 are
  // strings, because an export would write them differently. `has_missing`: some rows have no
  // value, so numbers are float64, where nan is a missing value; of words, true and false are
  // strings.
  Type_Code type(bool reads_times, bool has_missing = false) const;
  // If type() is string: returns a type that can hold all values, but changes their texts; none if
  // there is no such type.
  Type_Code similar_type() const;
  // Returns the first values, to show to users.
  const std::vector<std::string>& examples() const { return examples_; }
  bool has_times() const { return value_count_ > 0 && can_be_time_; }
  std::int64_t value_count() const { return value_count_; }

 private:
  void add_text(std::string_view text);
  void add_time(std::string_view text);
  void add_decimal(std::string_view word);
  Declared_Type logical_type() const;
  void add_word(std::string_view word);
  void add_number(std::string_view word);
  void add_integer(std::int64_t value);
  void add_real(const Cell& cell);
  void only(bool& type);

  std::vector<std::string> examples_;
  std::int64_t value_count_ = 0;
  std::int64_t empty_words_ = 0;
  bool is_typed_ = false;           // JSON tells numbers and booleans from texts
  bool has_numbers_ = false;        // besides nan and inf
  bool has_large_numbers_ = false;  // with more digits than a float can represent
  bool has_integers_ = false;       // words like 5
  bool has_whole_floats_ = false;   // words like 5.0
  bool can_be_boolean_ = true;
  bool can_be_int32_ = true;
  bool can_be_int64_ = true;
  bool can_be_float_ = true;
  bool can_be_time_ = true;
  bool can_be_blob_ = true;
  bool can_be_date_ = true;
  bool can_be_timestamp_ = true;
  std::optional<Time_Form> time_form_;
  std::string other_time_text_;
  bool can_be_decimal_ = true;
  std::optional<std::uint8_t> decimal_scale_;
  bool can_be_json_ = true;
  bool has_int32_min_ = false;  // the value that means "missing" in an optional field
  bool has_int64_min_ = false;
  bool has_missing_text_ = false;
  bool has_empty_text_ = false;
  bool resembles_boolean_ = true;
  bool resembles_integer_ = true;
  bool resembles_float_ = true;
};

}  // namespace joedb

#endif
