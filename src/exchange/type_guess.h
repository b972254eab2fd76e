#ifndef JOEDB_EXCHANGE_TYPE_GUESS_H
#define JOEDB_EXCHANGE_TYPE_GUESS_H

#include <cstdint>
#include <string>
#include <vector>

#include "exchange/cell.h"

namespace joedb {

// Which type the values of a column have. Only some of them are remembered.
class Type_Guess {
 public:
  void add(const Cell& cell);

  // boolean, int32, int64, float64, blob, else string. `reads_times`: int64 for times, too. Words
  // with a leading zero or plus sign are strings: numbers lose them.
  Type_Code type(bool reads_times) const;
  // The first values, for people.
  const std::vector<std::string>& examples() const { return examples_; }
  bool has_times() const { return has_values_ && can_be_time_; }
  std::int64_t empty_count() const { return empty_count_; }

 private:
  void add_text(std::string_view text);
  void add_word(std::string_view word);
  void add_integer(std::int64_t value);
  void only(bool& type);

  std::vector<std::string> examples_;
  std::int64_t empty_count_ = 0;
  bool has_values_ = false;
  bool has_numbers_ = false;         // not only nan and inf
  bool has_large_integers_ = false;  // beyond 2^53
  bool can_be_boolean_ = true;
  bool can_be_int32_ = true;
  bool can_be_int64_ = true;
  bool can_be_float_ = true;
  bool can_be_time_ = true;
  bool can_be_blob_ = true;
};

}  // namespace joedb

#endif
