#ifndef JOEDB_SRC_EXCHANGE_TYPE_GUESS_H
#define JOEDB_SRC_EXCHANGE_TYPE_GUESS_H

#include <cstdint>
#include <string>
#include <vector>

#include "exchange/cell.h"

namespace joedb {

// Guesses the type of the values of a column. The result is string, or a type from which an export
// would write the same texts. Stores only some of the values.
class Type_Guess {
 public:
  void add(const Cell& cell);

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
  void add_word(std::string_view word);
  void add_number(std::string_view word);
  void add_integer(std::int64_t value);
  void add_real(const Cell& cell);
  void only(bool& type);

  std::vector<std::string> examples_;
  std::int64_t value_count_ = 0;
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
  bool resembles_boolean_ = true;
  bool resembles_integer_ = true;
  bool resembles_float_ = true;
};

}  // namespace joedb

#endif
