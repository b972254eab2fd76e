#include "exchange/type_guess.h"

#include <charconv>
#include <limits>

namespace joedb {

namespace {

constexpr std::size_t example_count = 3;

template <class T>
bool parses(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

bool starts_with_digit(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// 007 is no number, but 0 and 0.7 are.
bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && starts_with_digit(text.substr(1));
}

bool is_boolean(std::string_view text) {
  constexpr std::size_t longest = 5;
  if (text.size() > longest) return false;
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  return lower == "true" || lower == "false" || lower == "yes" || lower == "no";
}

// A number alone is no time, though parse_cell_time takes one.
bool is_time(std::string_view text) {
  constexpr std::size_t shortest = 10;
  return text.size() >= shortest && starts_with_digit(text) && text[4] == '-' &&
         parse_cell_time(text).has_value();
}

}  // namespace

// None of the other types is possible.
void Type_Guess::only(bool& type) {
  const bool is_possible = type;
  can_be_boolean_ = can_be_int32_ = can_be_int64_ = can_be_float_ = can_be_time_ = can_be_blob_ =
      false;
  type = is_possible;
}

void Type_Guess::add_integer(std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (value < Limits::min() || value > Limits::max()) can_be_int32_ = false;
  // As floats, integers that are too large would lose digits.
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  if (value < -largest || value > largest) has_large_integers_ = true;
  can_be_boolean_ = can_be_time_ = can_be_blob_ = false;
  has_numbers_ = true;
}

void Type_Guess::add_word(std::string_view word) {
  can_be_blob_ = false;
  if (can_be_boolean_ && !is_boolean(word)) can_be_boolean_ = false;
  if (can_be_time_ && !is_time(word)) can_be_time_ = false;
  if (!can_be_float_) return;
  std::int64_t integer = 0;
  double real = 0;
  const bool is_number = !has_leading_zero(word);
  if (is_number && parses(word, integer)) return add_integer(integer);
  const bool has_only_digits = word.find_first_not_of("-0123456789") == word.npos;
  can_be_int32_ = can_be_int64_ = false;
  can_be_float_ = is_number && !has_only_digits && parses(word, real);
  if (word.find_first_of("0123456789") != word.npos) has_numbers_ = true;
}

// A string is no number, but this is how JSON has the special ones.
void Type_Guess::add_text(std::string_view text) {
  const bool is_special = text == "nan" || text == "inf" || text == "-inf";
  can_be_boolean_ = can_be_int32_ = can_be_int64_ = can_be_blob_ = false;
  can_be_float_ = can_be_float_ && is_special;
  can_be_time_ = can_be_time_ && is_time(text);
}

void Type_Guess::add(const Cell& cell) {
  if (cell.kind() <= Cell::Kind::null || (cell.kind() == Cell::Kind::word && cell.text().empty())) {
    ++empty_count_;
    return;
  }
  has_values_ = true;
  if (examples_.size() < example_count) {
    const std::string text = quoted_cell(cell);
    examples_.push_back(text.substr(1, text.size() - 2));
  }
  switch (cell.kind()) {
    case Cell::Kind::boolean:
      return only(can_be_boolean_);
    case Cell::Kind::integer:
      return add_integer(cell.integer());
    case Cell::Kind::real:
      has_numbers_ = true;
      return only(can_be_float_);
    case Cell::Kind::bytes:
      return only(can_be_blob_);
    case Cell::Kind::word:
      return add_word(cell.text());
    default:
      return add_text(cell.text());
  }
}

Type_Code Type_Guess::type(bool reads_times) const {
  if (!has_values_) return Type_Code::string;
  if (can_be_boolean_) return Type_Code::boolean;
  if (can_be_int32_) return Type_Code::int32;
  if (can_be_int64_) return Type_Code::int64;
  if (can_be_float_ && has_numbers_ && !has_large_integers_) return Type_Code::float64;
  if (can_be_blob_) return Type_Code::blob;
  return reads_times && can_be_time_ ? Type_Code::int64 : Type_Code::string;
}

}  // namespace joedb
