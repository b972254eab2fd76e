#include "exchange/type_guess.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exchange/value_formats.h"
#include "kernel/base/parse_number.h"

namespace joedb {

namespace {

constexpr std::size_t example_count = 3;

bool starts_with_digit(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// Returns true for the words that a boolean field accepts (read_cell), except single characters.
bool resembles_boolean(std::string_view text) {
  constexpr std::size_t longest = 5;
  if (text.size() > longest) return false;
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  return lower == "true" || lower == "false" || lower == "yes" || lower == "no";
}

// Returns true for a time. A plain number is not a time, although parse_cell_time accepts it.
bool is_time(std::string_view text) {
  constexpr std::size_t shortest = 10;
  return text.size() >= shortest && starts_with_digit(text) && text[4] == '-' &&
         parse_cell_time(text).has_value();
}

using Kind = Logical_Type::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the digits behind the point of a number that a decimal would write in the same way.
std::optional<std::uint8_t> decimal_scale(std::string_view word) {
  constexpr std::size_t max_digits = 18, max_fraction_digits = 9;
  const bool is_negative = word.starts_with('-');
  if (is_negative) word.remove_prefix(1);
  const std::size_t point = word.find('.');
  if (point == word.npos || point == 0 || word.size() > max_digits + 1) return {};
  const std::size_t behind = word.size() - point - 1;
  if (behind == 0 || behind > max_fraction_digits || (word[0] == '0' && point > 1)) return {};
  for (std::size_t i = 0; i < word.size(); ++i)
    if (i != point && !is_digit(word[i])) return {};
  if (is_negative && word.find_first_not_of("0.") == word.npos) return {};  // -0.00
  return static_cast<std::uint8_t>(behind);
}

}  // namespace

bool is_date(std::string_view text) {
  constexpr std::size_t size = 10;
  if (text.size() != size || text[4] != '-' || text[7] != '-') return false;
  const Logical_Type type{.kind = Kind::date};
  const auto value = parse_logical_number(text, type);
  std::string written;
  return value && append_logical_number(written, type, *value) && written == text;
}

std::optional<Time_Form> time_form(std::string_view text) {
  constexpr std::size_t clock = 10, end = 19;  // 2026-01-31T12:00:00
  if (text.size() < end || text[4] != '-' || text[13] != ':' || text[16] != ':') return {};
  Time_Form form{text[clock], text.ends_with('Z')};
  if (form.separator != 'T' && form.separator != ' ') return {};
  const std::size_t digits_end = text.size() - (form.has_zone ? 1 : 0);
  if (digits_end > end) form.scale = static_cast<std::uint8_t>(digits_end - end - 1);
  if (form.scale % 3 != 0 || form.scale > 9 || digits_end - end == 1) return {};
  const Logical_Type type{.kind = Kind::timestamp, .scale = form.scale};
  const auto value = parse_logical_number(text, type);
  std::string written, wanted(text);
  if (!value || !append_logical_number(written, type, *value)) return {};
  wanted[clock] = 'T';
  if (!form.has_zone) wanted += 'Z';
  if (written != wanted) return {};
  return form;
}

// Excludes all types except `type`.
void Type_Guess::only(bool& type) {
  const bool is_possible = type;
  can_be_boolean_ = can_be_int32_ = can_be_int64_ = can_be_float_ = can_be_time_ = can_be_blob_ =
      false;
  can_be_date_ = can_be_timestamp_ = can_be_decimal_ = can_be_json_ = false;
  resembles_boolean_ = resembles_integer_ = resembles_float_ = false;
  type = is_possible;
}

void Type_Guess::add_integer(std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (value < Limits::min() || value > Limits::max()) can_be_int32_ = false;
  if (value <= Limits::min()) [[unlikely]] {
    has_int32_min_ = has_int32_min_ || value == Limits::min();
    has_int64_min_ = has_int64_min_ || value == std::numeric_limits<std::int64_t>::min();
  }
  // A float cannot represent all larger integers.
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  if (value < -largest || value > largest) has_large_numbers_ = true;
  can_be_boolean_ = can_be_time_ = can_be_blob_ = resembles_boolean_ = false;
  can_be_date_ = can_be_timestamp_ = can_be_decimal_ = can_be_json_ = false;
  has_numbers_ = true;
}

void Type_Guess::add_number(std::string_view word) {
  if (const auto integer = parse_number<std::int64_t>(word)) {
    if (std::to_string(*integer) == word) {
      has_integers_ = true;
      return add_integer(*integer);
    }
  } else {
    resembles_integer_ = false;
  }
  can_be_int32_ = can_be_int64_ = false;
  const auto real = parse_number<double>(word);
  if (!real) {
    can_be_float_ = resembles_float_ = false;
    return;
  }
  if (std::isfinite(*real)) has_numbers_ = true;
  std::string text;
  Csv_Values(',', {}).value(text, *real);
  // A nan is written as a missing value.
  can_be_float_ = can_be_float_ && (text == word || word == "nan");
  if (word.ends_with(".0")) has_whole_floats_ = true;
  const bool has_only_digits = word.find_first_not_of("-0123456789") == word.npos;
  if (has_only_digits && !resembles_integer_) resembles_float_ = false;
}

void Type_Guess::add_time(std::string_view text) {
  if (can_be_time_ && !is_time(text)) can_be_time_ = false;
  if (can_be_date_ && !is_date(text)) can_be_date_ = false;
  if (!can_be_timestamp_) return;
  const auto form = time_form(text);
  if (!time_form_) {
    time_form_ = form;
    if (form && *form != Time_Form{'T', true, form->scale}) {
      other_time_text_ = text;
      other_time_text_[10] = 'T';
      if (!form->has_zone) other_time_text_ += 'Z';
    }
  }
  can_be_timestamp_ = form && form == time_form_;
}

void Type_Guess::add_decimal(std::string_view word) {
  const auto scale = decimal_scale(word);
  if (!decimal_scale_) decimal_scale_ = scale;
  can_be_decimal_ = scale && scale == decimal_scale_;
}

void Type_Guess::add_word(std::string_view word) {
  can_be_blob_ = can_be_json_ = false;
  can_be_boolean_ = can_be_boolean_ && (word == "true" || word == "false");
  resembles_boolean_ = resembles_boolean_ && resembles_boolean(word);
  if (can_be_time_ || can_be_date_ || can_be_timestamp_) add_time(word);
  if (can_be_decimal_) add_decimal(word);
  if (resembles_float_ || can_be_float_) add_number(word);
}

// A JSON number may have more digits than a float can represent.
void Type_Guess::add_real(const Cell& cell) {
  constexpr std::ptrdiff_t float_digits = 17;
  const std::string_view text = cell.text().substr(0, cell.text().find_first_of("eE"));
  const std::size_t first = std::min(text.find_first_of("123456789"), text.size());
  const std::size_t last = text.find_last_not_of("0.") + 1;
  const auto digits = text.substr(first, std::max(last, first) - first);
  if (std::count_if(digits.begin(), digits.end(), [](char c) { return c != '.'; }) > float_digits)
    has_large_numbers_ = true;
  has_numbers_ = true;
  only(can_be_float_);
}

// Adds a JSON string. It is not a number, except nan and the infinities, which JSON writes as
// strings.
void Type_Guess::add_text(std::string_view text) {
  const bool is_special = text == "nan" || text == "inf" || text == "-inf";
  can_be_boolean_ = can_be_int32_ = can_be_int64_ = can_be_blob_ = false;
  can_be_decimal_ = can_be_json_ = false;
  resembles_boolean_ = resembles_integer_ = resembles_float_ = false;
  can_be_float_ = can_be_float_ && is_special;
  add_time(text);
}

void Type_Guess::add(const Cell& cell) {
  if (cell.has_text() && cell.text().size() <= 1) [[unlikely]] {
    has_empty_text_ = has_empty_text_ || cell.text().empty();
    has_missing_text_ =
        has_missing_text_ || cell.text() == missing_value<std::string_view>(Logical_Type());
    if (cell.kind() == Cell::Kind::word && cell.text().empty()) ++empty_words_;
  }
  if (cell.kind() <= Cell::Kind::null || (cell.kind() == Cell::Kind::word && cell.text().empty()))
    return;
  ++value_count_;
  if (examples_.size() < example_count) {
    const std::string text = quoted_cell(cell);
    examples_.push_back(text.substr(1, text.size() - 2));
  }
  is_typed_ = is_typed_ || cell.kind() == Cell::Kind::boolean || cell.kind() == Cell::Kind::integer;
  switch (cell.kind()) {
    case Cell::Kind::boolean:
      return only(can_be_boolean_);
    case Cell::Kind::integer:
      return add_integer(cell.integer());
    case Cell::Kind::real:
      return add_real(cell);
    case Cell::Kind::bytes:
      return only(can_be_blob_);
    case Cell::Kind::json:
      return only(can_be_json_);
    case Cell::Kind::word:
      return add_word(cell.text());
    default:
      return add_text(cell.text());
  }
}

Type_Code Type_Guess::type(bool reads_times, bool has_missing) const {
  if (value_count_ == 0) return Type_Code::string;
  if (!has_missing) {
    if (can_be_boolean_) return Type_Code::boolean;
    if (can_be_int32_) return Type_Code::int32;
    if (can_be_int64_) return Type_Code::int64;
  } else if (is_typed_) {
    if (can_be_boolean_) return Type_Code::boolean;
    if (can_be_int64_ && has_large_numbers_) return Type_Code::int64;
  }
  // 2 and 2.0 would become the same text.
  const bool is_one_text = !has_integers_ || !has_whole_floats_;
  if (can_be_float_ && has_numbers_ && !has_large_numbers_ && is_one_text)
    return Type_Code::float64;
  if (can_be_blob_) return Type_Code::blob;
  // A missing time would be 1970.
  return reads_times && can_be_time_ && !has_missing ? Type_Code::int64 : Type_Code::string;
}

// Requires values. The type is plain if none fits.
Declared_Type Type_Guess::logical_type() const {
  if (can_be_date_) return {Type_Code::int32, {.kind = Kind::date}};
  if (can_be_timestamp_)
    return {Type_Code::int64, {.kind = Kind::timestamp, .scale = time_form_->scale}};
  if (can_be_decimal_) return {Type_Code::int64, {.kind = Kind::decimal, .scale = *decimal_scale_}};
  return {Type_Code::string, {.kind = can_be_json_ ? Kind::json : Kind::plain}};
}

Declared_Type Type_Guess::declared_type(bool reads_times, std::int64_t missing) const {
  const bool has_missing = missing > 0;
  if (value_count_ > 0) {
    if (has_missing && can_be_boolean_)
      return {Type_Code::int8, {.kind = Kind::boolean, .is_optional = true}};
    if (has_missing && can_be_int32_ && !has_int32_min_)
      return {Type_Code::int32, {.is_optional = true}};
    if (has_missing && can_be_int64_ && !has_int64_min_)
      return {Type_Code::int64, {.is_optional = true}};
    const Type_Code code = type(reads_times, has_missing);
    const bool would_be_0 = has_missing && code == Type_Code::int64;
    if (code != Type_Code::string && !would_be_0) return {code, {}};
    Declared_Type result = logical_type();
    result.logical.is_optional = has_missing;
    if (result.logical.kind != Kind::plain) return result;
  }
  // Nothing else than null may mean that there is no value: an empty text, or one of a number.
  const bool is_distinct = has_empty_text_ || is_typed_ || has_numbers_;
  const bool is_optional = missing > empty_words_ && is_distinct && !has_missing_text_;
  return {Type_Code::string, {.is_optional = is_optional}};
}

Type_Code Type_Guess::similar_type() const {
  if (value_count_ == 0) return Type_Code::none;
  if (resembles_boolean_) return Type_Code::boolean;
  if (resembles_integer_) return Type_Code::int64;
  return resembles_float_ && has_numbers_ && !has_large_numbers_ ? Type_Code::float64
                                                                 : Type_Code::none;
}

}  // namespace joedb
