#include "schema/value_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace joedb::inline v1 {

// ---- writing ------------------------------------------------------------------------------------

namespace {

template <class T>
void append_integer(std::string& out, T value) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

// The general format is fixed where printf's %g is, so that a text is the same as that of joedb 10
// wherever six digits are enough.
template <class T>
void append_float(std::string& out, T value) {
  char digits[64];
  const auto result =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general);
  out.append(digits, result.ptr);
}

}  // namespace

std::size_t utf8_sequence_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0xc2 || first > 0xf4 || !continues(1)) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) {
    const bool is_overlong = first == 0xe0 && second < 0xa0;
    const bool is_surrogate = first == 0xed && second >= 0xa0;
    return !is_overlong && !is_surrogate && continues(2) ? 3 : 0;
  }
  const bool is_overlong = first == 0xf0 && second < 0x90;
  const bool is_too_large = first == 0xf4 && second >= 0x90;
  return !is_overlong && !is_too_large && continues(2) && continues(3) ? 4 : 0;
}

void append_octal(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += '\\';
  for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
}

// Bytes that stand for themselves, whatever is beside them.
static constexpr auto is_plain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x7f; ++byte)
    plain[byte] = byte != '"' && byte != '\\' && byte != '?';
  return plain;
}();

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0;;) {
    const std::size_t start = i;
    while (i < text.size() && is_plain[static_cast<unsigned char>(text[i])]) ++i;
    out.append(text, start, i - start);
    if (i == text.size()) break;
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      append_octal(out, c);
    } else if (byte < 0x80) {
      if (c != '?' || (i > 0 && text[i - 1] == '?')) out += '\\';
      out += c;
    } else if (const std::size_t size = utf8_sequence_size(text.substr(i)); size > 0) {
      out.append(text, i, size);
      i += size;
      continue;
    } else {
      append_octal(out, c);
    }
    ++i;
  }
  out += '"';
}

void append_value(std::string& out, std::int8_t value) { append_integer(out, value); }
void append_value(std::string& out, std::int16_t value) { append_integer(out, value); }
void append_value(std::string& out, std::int32_t value) { append_integer(out, value); }
void append_value(std::string& out, std::int64_t value) { append_integer(out, value); }
void append_value(std::string& out, float value) { append_float(out, value); }
void append_value(std::string& out, double value) { append_float(out, value); }
void append_value(std::string& out, bool value) { out += value ? "true" : "false"; }
void append_value(std::string& out, Record_Id value) { append_integer(out, value.value()); }
void append_value(std::string& out, Blob value) {
  append_integer(out, value.get_position());
  out += ',';
  append_integer(out, value.get_size());
}

// ---- reading ------------------------------------------------------------------------------------

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// Skips white space. False if there is nothing to read then.
bool Line_Reader::begin_read() {
  if (!has_more()) {
    has_failed_ = true;
    return false;
  }
  while (current_ != end_ && is_space(*current_)) ++current_;
  if (current_ != end_) return true;
  is_at_end_ = has_failed_ = true;
  return false;
}

std::string_view Line_Reader::read_word() {
  if (!begin_read()) return {};
  const char* const begin = current_;
  while (current_ != end_ && !is_space(*current_)) ++current_;
  is_at_end_ = current_ == end_;
  return {begin, static_cast<std::size_t>(current_ - begin)};
}

// ---- numbers

std::int64_t Line_Reader::read_integer(std::int64_t fallback, std::int64_t min, std::int64_t max) {
  if (!begin_read()) return fallback;
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
    value = is_negative ? min : max;
    has_failed_ = true;
  } else if (value < min || value > max) {
    value = value < min ? min : max;
    has_failed_ = true;
  }
  current_ = next;
  is_at_end_ = current_ == end_;
  return value;
}

std::int64_t Line_Reader::read_integer_or(std::int64_t fallback) {
  using limits = std::numeric_limits<std::int64_t>;
  return read_integer(fallback, limits::min(), limits::max());
}

// nan, inf and infinity, with or without a sign, when nothing follows.
template <class T>
bool Line_Reader::read_special(T& value) {
  const char* begin = current_;
  const bool is_negative = *begin == '-';
  if (is_negative || *begin == '+') ++begin;
  const char* word_end = begin;
  while (word_end != end_ && !is_space(*word_end)) ++word_end;
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

// A stream first takes all characters that can belong to a number, then converts them: "1e" is no
// number at all, while of "1.5abc" the first three characters are one.
template <class T>
T Line_Reader::read_float() {
  if (!begin_read()) return 0;
  T value = 0;
  if (read_special(value)) return value;
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
    // Too large, or too close to zero: strtod tells which.
    const double wide = std::strtod(std::string(begin, next).c_str(), nullptr);
    constexpr T largest = std::numeric_limits<T>::max();
    has_failed_ = std::abs(wide) > largest;
    value = has_failed_ ? (wide < 0 ? -largest : largest) : static_cast<T>(wide);
  } else if (error != std::errc() || converted != next) {
    value = 0;
    has_failed_ = true;
  }
  current_ = next;
  is_at_end_ = current_ == end_;
  return value;
}

// ---- strings

// The next byte, or -1 at the end of the line, which makes the reader fail.
int Line_Reader::take() {
  if (has_more() && current_ != end_) return static_cast<unsigned char>(*current_++);
  is_at_end_ = has_failed_ = true;
  return -1;
}

// What stands for one byte behind a backslash.
unsigned char Line_Reader::read_escaped() {
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

template <>
std::string_view Line_Reader::read_value<std::string_view>() {
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

  text_.assign(begin, end);
  for (; !has_failed_ && c != end_character; c = take()) {
    if (c != '\\') {
      text_ += static_cast<char>(c);
    } else if (const unsigned char byte = read_escaped(); !has_failed_) {
      text_ += static_cast<char>(byte);
    }
  }
  return text_;
}

// ---- values by type

template <>
std::int8_t Line_Reader::read_value<std::int8_t>() {
  return static_cast<std::int8_t>(read_value<std::int32_t>());  // 200 is -56, and no failure
}

template <>
std::int16_t Line_Reader::read_value<std::int16_t>() {
  using limits = std::numeric_limits<std::int16_t>;
  return static_cast<std::int16_t>(read_integer(0, limits::min(), limits::max()));
}

template <>
std::int32_t Line_Reader::read_value<std::int32_t>() {
  using limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(read_integer(0, limits::min(), limits::max()));
}

template <>
std::int64_t Line_Reader::read_value<std::int64_t>() {
  return read_integer_or(0);
}

template <>
float Line_Reader::read_value<float>() {
  return read_float<float>();
}

template <>
double Line_Reader::read_value<double>() {
  return read_float<double>();
}

template <>
bool Line_Reader::read_value<bool>() {
  const std::string_view word = read_word();
  if (word == "true" || word == "1") return true;
  if (word != "false" && word != "0") has_failed_ = true;
  return false;
}

template <>
Record_Id Line_Reader::read_value<Record_Id>() {
  return Record_Id(read_integer_or(0));
}

template <>
Blob Line_Reader::read_value<Blob>() {
  const std::int64_t position = read_integer_or(0);
  if (!begin_read()) return {position, 0};
  if (*current_ != ',') {
    has_failed_ = true;
    return {position, 0};
  }
  ++current_;
  return {position, read_integer_or(0)};
}

}  // namespace joedb::inline v1
