#include "kernel/schema/value_text.h"

#include <charconv>
#include <cmath>

#include "kernel/base/plain_text.h"
#include "kernel/base/utf8.h"

namespace joedb::inline v1 {

namespace {

template <class T>
void append_integer(std::string& out, T value) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

bool has_g_format = false;

template <class T>
void append_float(std::string& out, T value) {
  constexpr T smallest = static_cast<T>(1e-4);
  constexpr T limit = static_cast<T>(1e16);
  const T size = std::abs(value);
  const bool is_plain = !has_g_format && (size == 0 || (size >= smallest && size < limit));
  char digits[64];
  const auto result = std::to_chars(digits, digits + sizeof digits, value,
                                    is_plain       ? std::chars_format::fixed
                                    : has_g_format ? std::chars_format::general
                                                   : std::chars_format::scientific);
  out.append(digits, result.ptr);
}

}  // namespace

void write_floats_as_joedb_10() { has_g_format = true; }

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0;;) {
    const std::size_t start = i;
    // Text that needs no escape is copied as a whole.
    for (std::size_t sequence = 1; sequence > 0; i += sequence) {
      i += plain_size<'"', '\\', '?'>(text.substr(i));
      sequence = i < text.size() ? utf8_sequence_size(text.substr(i)) : 0;
    }
    out.append(text, start, i - start);
    if (i == text.size()) break;
    const char c = text[i];
    if (is_control(c) || static_cast<unsigned char>(c) >= 0x80) {
      append_octal(out, c);
    } else {
      if (c != '?' || (i > 0 && text[i - 1] == '?')) out += '\\';
      out += c;
    }
    ++i;
  }
  out += '"';
}

void append_doubled(std::string& out, std::string_view text, char quote) {
  out += quote;
  for (std::size_t size; (size = text.find(quote)) != text.npos; text.remove_prefix(size + 1))
    out.append(text.substr(0, size)).append(2, quote);
  out.append(text) += quote;
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

}  // namespace joedb::inline v1
