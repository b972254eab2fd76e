#ifndef JOEDB_SRC_EXCHANGE_VALUE_FORMATS_H
#define JOEDB_SRC_EXCHANGE_VALUE_FORMATS_H

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernel/base/json_text.h"
#include "kernel/schema/logical_type.h"
#include "kernel/schema/value_text.h"

namespace joedb {

// A value of a logical type that has no text is written as this character and the stored number, or
// the hexadecimal digits of the stored bytes.
inline constexpr char stored_mark = '#';
template <class T>
void append_stored(std::string& out, const T& value) {
  out += stored_mark;
  if constexpr (std::is_same_v<T, std::string_view>)
    append_logical_bytes(out, {.kind = Logical_Type::Kind::bytes}, value);
  else
    append_value(out, value);
}

// Appends a finite float. A point or an exponent distinguishes it from an integer.
inline void append_finite(std::string& out, auto value) {
  const std::size_t start = out.size();
  append_value(out, value);
  if (out.find_first_not_of("-0123456789", start) == out.npos) out += ".0";
}

// Appends any float but nan. Inf and -inf are in quotes; others are as by append_finite().
inline void append_any_float(std::string& out, auto value, std::string_view quote) {
  if (std::isfinite(value)) return append_finite(out, value);
  out.append(quote).append(value > 0 ? "inf" : "-inf").append(quote);
}

// Writes values as CSV (RFC 4180). A nan is a missing value; bytes are base64.
class Csv_Values {
 public:
  // Whether to write a value without characters as "" instead of nothing.
  struct Quotes {
    bool quotes_null = false;
    bool quotes_empty = false;  // for a text
  };
  Csv_Values(char separator, Quotes quotes) : separator_(separator), quotes_(quotes) {
    for (const char c : {separator_, '"', '\r', '\n'})
      needs_quotes_[static_cast<unsigned char>(c)] = true;
  }

  std::string prefix(std::string_view, bool is_first) const {
    return is_first ? "" : std::string(1, separator_);
  }
  static void begin_record(std::string&) {}
  static void end_record(std::string&) {}

  void null(std::string& out) const {
    if (quotes_.quotes_null) out += "\"\"";
  }
  template <class T>
  void value(std::string& out, T value) const {
    append_value(out, value);
  }
  void value(std::string& out, std::floating_point auto value) const {
    std::isnan(value) ? null(out) : append_any_float(out, value, "");
  }
  void value(std::string& out, std::string_view text) const {
    if (text.empty()) {
      if (quotes_.quotes_empty) out += "\"\"";
      return;
    }
    const auto is_special = [&](char c) { return needs_quotes_[static_cast<unsigned char>(c)]; };
    const bool has_space = text.front() == ' ' || text.back() == ' ';
    // Quote it, so that it is not taken for a byte order mark.
    const bool has_mark = text.front() == '\xef';
    if (!has_space && !has_mark && std::none_of(text.begin(), text.end(), is_special))
      out += text;
    else
      append_doubled(out, text, '"');
  }
  void bytes(std::string& out, std::string_view bytes) const {
    if (bytes.empty()) out += "\"\"";
    append_base64(out, bytes);
  }
  // A text of a column where a missing value is another one.
  void optional_text(std::string& out, std::string_view text) const {
    text.empty() ? out.append("\"\"") : (value(out, text), out);
  }
  // The text of a number or boolean.
  void word(std::string& out, std::string_view text) const { value(out, text); }

 private:
  const char separator_;
  const Quotes quotes_;
  std::array<bool, 256> needs_quotes_{};
};

// Writes values as JSON. Bytes, and texts that are not UTF-8, are {"base64": "…"}. A nan is
// null, as a missing value; an infinity is "inf" or "-inf".
class Json_Values {
 public:
  static std::string prefix(std::string_view name, bool is_first) {
    std::string text = is_first ? "" : ", ";
    append_json_string(text, name);
    return text + ": ";
  }
  static void begin_record(std::string& out) { out += '{'; }
  static void end_record(std::string& out) { out += '}'; }

  static void null(std::string& out) { out += "null"; }
  template <class T>
  static void value(std::string& out, T value) {
    append_value(out, value);
  }
  static void value(std::string& out, std::floating_point auto value) {
    std::isnan(value) ? null(out) : append_any_float(out, value, "\"");
  }
  static void value(std::string& out, std::string_view text) {
    const std::size_t start = out.size();
    if (append_json_string(out, text)) return;
    out.resize(start);
    bytes(out, text);
  }
  static void bytes(std::string& out, std::string_view bytes) {
    out += "{\"base64\": \"";
    append_base64(out, bytes);
    out += "\"}";
  }
  static void optional_text(std::string& out, std::string_view text) { value(out, text); }
  static void word(std::string& out, std::string_view text) { out += text; }
};

}  // namespace joedb

#endif
