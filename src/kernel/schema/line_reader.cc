#include "kernel/schema/line_reader.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace joedb::inline v1 {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

const char* end_of_word(const char* begin, const char* end) {
  return std::find_if(begin, end, is_space);
}

}  // namespace

Line_Error::Line_Error(std::optional<std::size_t> at, std::string_view cause)
    : Data_Error((at ? "column " + std::to_string(*at) + ": " : "") + std::string(cause)),
      column(at),
      reason(cause) {}

// ---- words --------------------------------------------------------------------------------------

const char* Line_Reader::next_word() const { return std::find_if_not(current_, end_, is_space); }

bool Line_Reader::has_more() const {
  return is_classic_ ? !has_failed_ && !is_at_end_ : next_word() != end_;
}

Line_Error Line_Reader::error_at(const char* place, std::string_view what) const {
  if (is_classic_) return {std::nullopt, what};
  const auto characters_before = std::count_if(line_, place, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;  // true if c begins a character
  });
  return {static_cast<std::size_t>(characters_before) + 1, what};
}

// Formats a word of the line for an error message.
static std::string shown_word(const char* begin, const char* end) {
  constexpr std::ptrdiff_t longest = 40;
  if (begin == end) return "the end of the line";
  const char* word_end = end_of_word(begin, end);
  const bool is_cut = word_end - begin > longest;
  if (is_cut) word_end = begin + longest;
  return '`' + std::string(begin, word_end) + (is_cut ? "…`" : "`");
}

Line_Error Line_Reader::unexpected(std::string_view expected) const {
  return error(std::string(expected) + " expected, got " + shown_word(start_, end_));
}

// Moves to the next word. Throws if there is none.
void Line_Reader::begin_strictly(std::string_view what) {
  start_ = current_ = next_word();
  if (current_ == end_) throw unexpected(what);
}

// Throws unless `read` consumes the whole word.
template <class Read>
auto Line_Reader::read_strictly(std::string_view what, Read read) {
  begin_strictly(what);
  const auto value = read();
  if (has_failed_ || current_ != end_of_word(start_, end_)) {
    if (!is_out_of_range_) throw unexpected(what);
    throw error(std::string(what) + " expected, and " + shown_word(start_, end_) +
                " is out of range");
  }
  return value;
}

void Line_Reader::require_end() {
  if (is_classic_) return;
  start_ = next_word();
  if (start_ != end_) throw unexpected("end of line");
}

// Skips white space. If there is nothing to read, makes the reader fail, and returns false.
bool Line_Reader::begin_read() {
  if (has_failed_ || is_at_end_) {
    has_failed_ = true;
    return false;
  }
  current_ = next_word();
  if (current_ != end_) return true;
  is_at_end_ = has_failed_ = true;
  return false;
}

std::string_view Line_Reader::peek_word() const {
  const char* const begin = next_word();
  return {begin, static_cast<std::size_t>(end_of_word(begin, end_) - begin)};
}

std::string_view Line_Reader::read_rest() {
  assert(!is_classic_);
  const char* const begin = start_ = next_word();
  current_ = end_;
  is_at_end_ = true;
  const std::string_view rest(begin, static_cast<std::size_t>(end_ - begin));
  return rest.substr(0, rest.find_last_not_of(" \t\r\n\v\f") + 1);
}

std::string_view Line_Reader::read_word(std::string_view what) {
  if (!is_classic_) begin_strictly(what);
  if (!begin_read()) return {};
  const char* const begin = current_;
  current_ = end_of_word(current_, end_);
  is_at_end_ = current_ == end_;
  return {begin, static_cast<std::size_t>(current_ - begin)};
}

// ---- numbers ------------------------------------------------------------------------------------

std::int64_t Line_Reader::take_integer(std::int64_t fallback, Range range) {
  if (!begin_read()) return fallback;
  // from_chars does not accept a plus sign.
  const bool has_plus = *current_ == '+';
  const char* const begin = current_ + (has_plus ? 1 : 0);
  const bool is_negative = *current_ == '-';
  std::int64_t value = 0;
  auto [next, error] = std::from_chars(begin, end_, value);
  if (error == std::errc::invalid_argument || (has_plus && begin != end_ && *begin == '-')) {
    value = 0;
    next = current_ + (has_plus || is_negative ? 1 : 0);
    has_failed_ = true;
  } else if (error == std::errc::result_out_of_range) {
    value = is_negative ? range.min : range.max;
    is_out_of_range_ = has_failed_ = true;
  } else if (value < range.min || value > range.max) {
    value = value < range.min ? range.min : range.max;
    is_out_of_range_ = has_failed_ = true;
  }
  current_ = next;
  is_at_end_ = current_ == end_;
  return value;
}

std::int64_t Line_Reader::read_integer(std::string_view what, std::int64_t fallback, Range range) {
  if (is_classic_) return take_integer(fallback, {});
  return read_strictly(what, [&] { return take_integer(fallback, range); });
}

std::int64_t Line_Reader::read_integer_or(std::int64_t fallback, std::string_view what,
                                          Range range) {
  return is_classic_ || has_more() ? read_integer(what, fallback, range) : fallback;
}

// Reads a word that is nan, inf or infinity, with or without a sign. Returns false for any other
// word.
template <class T>
bool Line_Reader::take_special(T& value) {
  const char* begin = current_;
  const bool is_negative = *begin == '-';
  if (is_negative || *begin == '+') ++begin;
  const char* const word_end = end_of_word(begin, end_);
  const std::string_view word(begin, static_cast<std::size_t>(word_end - begin));
  if (word == "nan")
    value = std::numeric_limits<T>::quiet_NaN();
  else if (word == "inf" || word == "infinity")
    value = std::numeric_limits<T>::infinity();
  else
    return false;
  if (is_negative) value = std::copysign(value, T(-1));
  current_ = word_end;
  is_at_end_ = current_ == end_;
  return true;
}

// A C++ stream first collects all characters that can belong to a number, and then converts them.
// So "1e" is not a number, but the first three characters of "1.5abc" are.
template <class T>
T Line_Reader::take_float() {
  if (!begin_read()) return 0;
  T value = 0;
  if (take_special(value)) return value;
  const char* const begin = *current_ == '+' ? current_ + 1 : current_;
  const char* next = begin;
  const auto skip_digits = [&] {
    while (next != end_ && is_digit(*next)) ++next;
  };
  if (next != end_ && begin == current_ && *next == '-') ++next;
  const char* const digits = next;
  skip_digits();
  if (next != end_ && *next == '.') {
    ++next;
    skip_digits();
  }
  if (next != end_ && next != digits && (*next == 'e' || *next == 'E')) {
    ++next;
    if (next != end_ && (*next == '+' || *next == '-')) ++next;
    skip_digits();
  }
  const auto [converted, error] = std::from_chars(begin, next, value);
  if (error == std::errc::result_out_of_range) {
    // The number is either too large or too close to zero; strtod distinguishes the two cases.
    const double wide = std::strtod(std::string(begin, next).c_str(), nullptr);
    constexpr T largest = std::numeric_limits<T>::max();
    is_out_of_range_ = has_failed_ = std::abs(wide) > largest;
    value = has_failed_ ? (wide < 0 ? -largest : largest) : static_cast<T>(wide);
  } else if (error != std::errc() || converted != next) {
    value = 0;
    has_failed_ = true;
  }
  current_ = next;
  is_at_end_ = current_ == end_;
  return value;
}

template <class T>
T Line_Reader::read_float(std::string_view what) {
  if (is_classic_) return take_float<T>();
  return read_strictly(what, [&] { return take_float<T>(); });
}

template <class T>
T Line_Reader::read_fixed(std::string_view what) {
  using limits = std::numeric_limits<T>;
  const auto take = [&] { return take_integer(0, {limits::min(), limits::max()}); };
  return static_cast<T>(is_classic_ ? take() : read_strictly(what, take));
}

// ---- strings ------------------------------------------------------------------------------------

static int hexadecimal_digit(char c) {
  return is_digit(c)            ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}
static int octal_digit(char c) { return c >= '0' && c <= '7' ? c - '0' : -1; }

// Returns the byte that an escape encodes. current_ is at the backslash.
char Line_Reader::take_escaped() {
  const char* const escape = current_++;
  const auto fail = [&] {
    const char* const shown_end = std::min(end_, std::max(current_, escape + 2));
    return error_at(escape, "unknown escape " + shown_word(escape, shown_end) +
                                " (known are \\OOO in octal, \\xHH, and \\ before a character that "
                                "is neither letter nor digit)");
  };
  const auto number = [&](int digits, int base, int (*digit)(char)) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      const int d = current_ != end_ ? digit(*current_++) : -1;
      if (d < 0) throw fail();
      value = value * base + d;
    }
    if (value > 0xff) throw fail();
    return static_cast<char>(value);
  };
  const char c = current_ != end_ ? *current_ : '\n';
  if (is_digit(c)) return number(3, 8, octal_digit);
  if (c < ' ' || c == 0x7f || (is_letter(c) && c != 'x')) throw fail();
  ++current_;
  return c == 'x' ? number(2, 16, hexadecimal_digit) : c;
}

std::string_view Line_Reader::read_text() {
  begin_strictly("string");
  const bool is_quoted = *current_ == '"';
  if (is_quoted) ++current_;
  const char* piece = current_;  // the text after the last escape
  std::string* text = nullptr;   // the text before `piece`, if it has escapes
  const auto is_plain = [&](char c) {
    return c != '\\' && c != '"' && (is_quoted || !is_space(c));
  };
  while (true) {
    while (current_ != end_ && is_plain(*current_)) ++current_;
    if (current_ == end_ || *current_ != '\\') break;
    if (text == nullptr) text = &texts_.emplace_front();
    text->append(piece, current_);
    *text += take_escaped();
    piece = current_;
  }
  if (is_quoted && current_ == end_) throw error("this string has no closing quote");
  if (!is_quoted && current_ != end_ && *current_ == '"')
    throw error_at(current_, "a string that has quotes must begin with one");
  std::string_view result(piece, static_cast<std::size_t>(current_ - piece));
  if (text != nullptr) result = text->append(result);
  if (is_quoted) ++current_;
  if (current_ != end_ && !is_space(*current_))
    throw error_at(current_,
                   "white space expected behind a string, got " + shown_word(current_, end_));
  return result;
}

// ---- strings, classic

// Returns the next byte. At the end of the line, makes the reader fail, and returns -1.
int Line_Reader::take() {
  if (has_more() && current_ != end_) return static_cast<unsigned char>(*current_++);
  is_at_end_ = has_failed_ = true;
  return -1;
}

// Returns the byte that is encoded by the characters after a backslash.
unsigned char Line_Reader::take_classic_escaped() {
  const auto hexadecimal = [&] {
    const int c = take();
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
  };
  const auto octal = [](int c) { return c >= '0' && c <= '7' ? c - '0' : 0; };
  const int c = take();
  int byte = c;
  if (c == 'x') {
    byte = hexadecimal() * 16;
    byte += hexadecimal();
  } else if (c >= '0' && c <= '9') {
    byte = octal(c) * 64;
    byte += octal(take()) * 8;
    byte += octal(take());
  }
  return static_cast<unsigned char>(byte);
}

std::string_view Line_Reader::read_classic_text() {
  while (has_more() && current_ != end_ && *current_ == ' ') ++current_;
  int c = take();
  const bool is_quoted = c == '"';
  const int end_character = is_quoted ? '"' : ' ';
  if (is_quoted) c = take();

  // Without escapes, the text is a piece of the line.
  const char* const begin = has_failed_ ? current_ : current_ - 1;
  while (!has_failed_ && c != end_character && c != '\\') c = take();
  const char* const end = has_failed_ ? current_ : current_ - 1;
  if (has_failed_ || c == end_character) return {begin, static_cast<std::size_t>(end - begin)};

  std::string& text = texts_.emplace_front(begin, end);
  for (; !has_failed_ && c != end_character; c = take()) {
    if (c != '\\') {
      text += static_cast<char>(c);
    } else if (const unsigned char byte = take_classic_escaped(); !has_failed_) {
      text += static_cast<char>(byte);
    }
  }
  return text;
}

// ---- values by type -----------------------------------------------------------------------------

bool Line_Reader::take_bool() {
  if (!begin_read()) return false;
  const char* const begin = current_;
  current_ = end_of_word(current_, end_);
  is_at_end_ = current_ == end_;
  const std::string_view word(begin, static_cast<std::size_t>(current_ - begin));
  if (word == "true" || word == "1") return true;
  if (word != "false" && word != "0") has_failed_ = true;
  return false;
}

Blob Line_Reader::take_blob() {
  const std::int64_t position = take_integer(0, {});
  if (!begin_read()) return {position, 0};
  if (*current_ != ',') {
    has_failed_ = true;
    return {position, 0};
  }
  ++current_;
  return {position, take_integer(0, {})};
}

template <>
std::string_view Line_Reader::read_value<std::string_view>() {
  return is_classic_ ? read_classic_text() : read_text();
}

template <>
std::int8_t Line_Reader::read_value<std::int8_t>() {
  // 200 wraps to -56
  if (is_classic_) return static_cast<std::int8_t>(read_fixed<std::int32_t>({}));
  return read_fixed<std::int8_t>("int8");
}

template <>
std::int16_t Line_Reader::read_value<std::int16_t>() {
  return read_fixed<std::int16_t>("int16");
}

template <>
std::int32_t Line_Reader::read_value<std::int32_t>() {
  return read_fixed<std::int32_t>("int32");
}

template <>
std::int64_t Line_Reader::read_value<std::int64_t>() {
  return read_fixed<std::int64_t>("int64");
}

template <>
float Line_Reader::read_value<float>() {
  return read_float<float>("float32");
}

template <>
double Line_Reader::read_value<double>() {
  return read_float<double>("float64");
}

template <>
bool Line_Reader::read_value<bool>() {
  if (is_classic_) return take_bool();
  return read_strictly("true or false", [&] { return take_bool(); });
}

template <>
Record_Id Line_Reader::read_value<Record_Id>() {
  return Record_Id(read_integer("record id or -1", 0));
}

template <>
Blob Line_Reader::read_value<Blob>() {
  if (is_classic_) return take_blob();
  return read_strictly("blob (POSITION,SIZE)", [&] { return take_blob(); });
}

}  // namespace joedb::inline v1
