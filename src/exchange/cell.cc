#include "exchange/cell.h"

#include <absl/strings/escaping.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "exchange/value_formats.h"
#include "joedb/format/entry.h"
#include "kernel/base/json_text.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "kernel/base/utf8.h"
#include "kernel/schema/value_text.h"

namespace joedb {

namespace {

// ---- errors -------------------------------------------------------------------------------------

// Returns the beginning of a text, short enough for a message.
std::string_view beginning(std::string_view text) {
  constexpr std::size_t limit = 40;
  if (text.size() <= limit) return text;
  std::size_t size = limit;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

template <class T>
const char* expected() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, std::int64_t>) return "int64, or a time like 2026-01-31 12:00:00";
  if constexpr (std::is_same_v<T, Record_Id>) return "record id, or nothing";
  return type_name(code_of<T>).data();
}

template <class T>
[[noreturn]] void fail(const Cell& cell) {
  throw Cell_Error(std::string(expected<T>()) + " expected, got " + quoted_cell(cell));
}

// ---- words --------------------------------------------------------------------------------------

// Removes a plus sign, which from_chars does not accept.
std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

template <class T>
bool parse(std::string_view text, T& value) {
  text = without_plus(text);
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

bool equals_in_any_case(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((text[i] | 0x20) != word[i]) return false;
  return true;
}

bool parse(std::string_view text, bool& value) {
  for (const char* word : {"true", "yes", "t", "y"})
    if (equals_in_any_case(text, word)) return value = true;
  for (const char* word : {"false", "no", "f", "n"})
    if (equals_in_any_case(text, word)) return value = false, true;
  if (text != "0" && text != "1") return false;
  value = text == "1";
  return true;
}

// ---- numbers ------------------------------------------------------------------------------------

template <class T>
bool to_integer(double real, T& value) {
  constexpr double limit = 9007199254740992.0;  // 2^53: larger values may have lost digits
  if (!(real >= -limit && real <= limit) || std::trunc(real) != real) return false;
  const auto integer = static_cast<std::int64_t>(real);
  value = static_cast<T>(integer);
  return value == integer;
}

template <class T>
T read_integer(const Cell& cell) {
  T value{};
  switch (cell.kind()) {
    case Cell::Kind::boolean:
      break;
    case Cell::Kind::integer:
      value = static_cast<T>(cell.integer());
      if (value == cell.integer()) return value;
      break;
    case Cell::Kind::real:
      if (to_integer(cell.real(), value)) return value;
      break;
    default:
      if (cell.is_empty() || parse(cell.text(), value)) return value;
      if constexpr (std::is_same_v<T, std::int64_t>)
        if (const auto seconds = parse_cell_time(cell.text())) return *seconds;
      if (double real; parse(cell.text(), real) && to_integer(real, value)) return value;
  }
  fail<T>(cell);
}

template <class T>
T read_float(const Cell& cell) {
  if (cell.is_empty()) return std::numeric_limits<T>::quiet_NaN();
  switch (cell.kind()) {
    case Cell::Kind::integer:
      return static_cast<T>(cell.integer());
    case Cell::Kind::real: {
      const T value = static_cast<T>(cell.real());
      if (std::isinf(value) == std::isinf(cell.real())) return value;
      break;
    }
    case Cell::Kind::boolean:
      break;
    default:
      if (T value; parse(cell.text(), value)) return value;
  }
  fail<T>(cell);
}

std::string_view read_text(const Cell& cell, std::string& buffer) {
  if (cell.is_empty()) return {};
  if (cell.has_text() || !cell.text().empty()) return cell.text();
  buffer.clear();
  if (cell.kind() == Cell::Kind::boolean)
    append_value(buffer, cell.integer() != 0);
  else if (cell.kind() == Cell::Kind::integer)
    append_value(buffer, cell.integer());
  else
    append_value(buffer, cell.real());
  return buffer;
}

bool read_boolean(const Cell& cell) {
  if (cell.is_empty()) return false;
  if (cell.kind() == Cell::Kind::boolean) return cell.integer() != 0;
  if (cell.kind() == Cell::Kind::integer && (cell.integer() == 0 || cell.integer() == 1))
    return cell.integer() == 1;
  if (bool value = false; cell.has_text() && parse(cell.text(), value)) return value;
  fail<bool>(cell);
}

Record_Id read_reference(const Cell& cell) {
  if (cell.is_empty()) return {};
  std::int64_t id = -2;
  if (cell.kind() == Cell::Kind::integer)
    id = cell.integer();
  else if (cell.has_text() && !parse(cell.text(), id))
    id = -2;
  if (id < -1 || id >= static_cast<std::int64_t>(max_compact)) fail<Record_Id>(cell);
  return id < 0 ? Record_Id() : Record_Id(id);
}

}  // namespace

std::string missing_value_text(Type_Code stored, const Logical_Type& logical) {
  if (logical.is_optional) return "";
  return visit_type(stored, [&]<class T>(std::type_identity<T>) {
    std::string text;
    if constexpr (std::is_same_v<T, std::string_view>)
      text = "\"\"";
    else if constexpr (std::is_integral_v<T>)
      append_value(text, logical, T());
    return text;
  });
}

std::optional<std::int64_t> parse_cell_time(std::string_view text) {
  return parse_time(text, Zone::utc);
}

std::string quoted_cell(const Cell& cell) {
  if (cell.kind() <= Cell::Kind::null) return "nothing";
  std::string buffer;
  const std::string_view text = read_text(cell, buffer);
  const std::string_view shown = beginning(text);
  std::string result = "`";
  for (std::size_t i = 0; i < shown.size();) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    const std::size_t size = byte < 0x80 ? 1 : utf8_sequence_size(shown.substr(i));
    if (size == 0 || byte < 0x20 || byte == 0x7f) {
      append_octal(result, shown[i++]);
    } else {
      result.append(shown, i, size);
      i += size;
    }
  }
  return result + (shown.size() < text.size() ? "…`" : "`");
}

template <Field_Value T>
T read_cell(const Cell& cell, std::string& buffer) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return read_text(cell, buffer);
  else if constexpr (std::is_same_v<T, bool>)
    return read_boolean(cell);
  else if constexpr (std::is_floating_point_v<T>)
    return read_float<T>(cell);
  else if constexpr (std::is_same_v<T, Record_Id>)
    return read_reference(cell);
  else
    return read_integer<T>(cell);
}

// ---- logical types ------------------------------------------------------------------------------

namespace {

using Kind = Logical_Type::Kind;

template <class T>
[[noreturn]] void fail(const Cell& cell, const Logical_Type& logical) {
  const std::string wanted = expected_text(logical);
  if (wanted.empty()) fail<T>(cell);
  throw Cell_Error(wanted + " expected, got " + quoted_cell(cell));
}

// Returns a number without an exponent.
std::string decimal_text(const Cell& cell) {
  if (cell.kind() != Cell::Kind::real) return std::to_string(cell.integer());
  constexpr std::size_t longest = 400;
  char text[longest];
  return {text, std::to_chars(text, text + longest, cell.real(), std::chars_format::fixed).ptr};
}

std::optional<std::int64_t> read_decimal(const Cell& cell, const Logical_Type& logical) {
  if (cell.kind() == Cell::Kind::boolean) return {};
  if (!cell.text().empty())
    if (const auto value = parse_logical_number(cell.text(), logical)) return value;
  return cell.has_text() ? std::nullopt : parse_logical_number(decimal_text(cell), logical);
}

// A text must be a value that the type has: 20260131 is no date, although it could be stored.
std::optional<std::int64_t> read_by_text(std::string_view text, const Logical_Type& logical) {
  const auto value = parse_logical_number(text, logical);
  std::string ignored;
  return value && append_logical_number(ignored, logical, *value) ? value : std::nullopt;
}

// Reads a value that has no text, as append_stored() has written it.
template <class T>
std::optional<std::int64_t> read_stored(std::string_view text, const Logical_Type& logical) {
  if (!text.starts_with(stored_mark)) return {};
  const auto number = parse_number<std::int64_t>(text.substr(1));
  std::string ignored;
  const bool is_it = number && static_cast<T>(*number) == *number &&
                     !append_logical_number(ignored, logical, *number);
  return is_it ? number : std::nullopt;
}

std::optional<std::string> read_stored_bytes(std::string_view text, const Logical_Type& logical) {
  if (!text.starts_with(stored_mark)) return {};
  auto bytes = parse_logical_bytes(text.substr(1), {.kind = Kind::bytes});
  std::string ignored;
  if (bytes && append_logical_bytes(ignored, logical, *bytes)) bytes.reset();
  return bytes;
}

// Returns the stored value of a field that is neither plain nor missing.
template <class T>
T read_logical_number(const Cell& cell, const Logical_Type& logical) {
  std::optional<std::int64_t> value;
  if (cell.has_text()) value = read_stored<T>(cell.text(), logical);
  if (value) return static_cast<T>(*value);
  if (logical.kind == Kind::boolean)
    value = read_boolean(cell);
  else if (logical.kind == Kind::decimal)
    value = read_decimal(cell, logical);
  else if (cell.has_text())
    value = read_by_text(cell.text(), logical);
  if (!value) fail<T>(cell, logical);
  return static_cast<T>(*value);
}

std::string_view read_logical_bytes(const Cell& cell, const Logical_Type& logical,
                                    std::string& buffer) {
  constexpr std::size_t uuid_size = 16;
  if (cell.kind() == Cell::Kind::bytes) {
    if (logical.kind == Kind::uuid && cell.text().size() != uuid_size)
      fail<std::string_view>(cell, logical);
    return cell.text();
  }
  const bool is_base64 = logical.kind == Kind::bytes && cell.kind() == Cell::Kind::word;
  if (is_base64) {
    if (!absl::Base64Unescape({cell.text().data(), cell.text().size()}, &buffer))
      throw Cell_Error("base64 of bytes expected, got " + quoted_cell(cell));
    return buffer;
  }
  auto value = cell.has_text() ? parse_logical_bytes(cell.text(), logical) : std::nullopt;
  if (!value && cell.has_text()) value = read_stored_bytes(cell.text(), logical);
  if (!value) fail<std::string_view>(cell, logical);
  buffer = std::move(*value);
  return buffer;
}

std::string_view read_json(const Cell& cell, std::string& buffer) {
  if (cell.kind() != Cell::Kind::text) return read_text(cell, buffer);
  buffer.clear();
  if (!append_json_string(buffer, cell.text())) fail<std::string_view>(cell);
  return buffer;
}

template <class T>
T read_value(const Cell& cell, const Logical_Type& logical, std::string& buffer) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (logical.kind == Kind::json) return read_json(cell, buffer);
    if (logical.kind != Kind::plain) return read_logical_bytes(cell, logical, buffer);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (logical.kind != Kind::plain) return read_logical_number<T>(cell, logical);
  }
  return read_cell<T>(cell, buffer);
}

}  // namespace

bool is_empty_for(const Cell& cell, Type_Code stored, const Logical_Type& logical) {
  const bool has_empty_texts = stored == Type_Code::string &&
                               (logical.kind == Kind::plain || logical.kind == Kind::bytes ||
                                (logical.kind == Kind::json && cell.kind() != Cell::Kind::word));
  return has_empty_texts ? cell.kind() <= Cell::Kind::null : cell.is_empty();
}

template <Field_Value T>
T read_cell(const Cell& cell, const Logical_Type& logical, std::string& buffer) {
  if (logical.has_plain_values()) return read_cell<T>(cell, buffer);
  if (is_empty_for(cell, code_of<T>, logical))
    return logical.is_optional ? missing_value<T>(logical) : T();
  const T value = read_value<T>(cell, logical, buffer);
  if constexpr (!std::is_floating_point_v<T>)
    if (is_missing<T>(logical, value))
      throw Cell_Error(quoted_cell(cell) + " is the value that means that there is none");
  return value;
}

template std::string_view read_cell(const Cell&, const Logical_Type&, std::string&);
template std::int8_t read_cell(const Cell&, const Logical_Type&, std::string&);
template std::int16_t read_cell(const Cell&, const Logical_Type&, std::string&);
template std::int32_t read_cell(const Cell&, const Logical_Type&, std::string&);
template std::int64_t read_cell(const Cell&, const Logical_Type&, std::string&);
template Record_Id read_cell(const Cell&, const Logical_Type&, std::string&);
template bool read_cell(const Cell&, const Logical_Type&, std::string&);
template float read_cell(const Cell&, const Logical_Type&, std::string&);
template double read_cell(const Cell&, const Logical_Type&, std::string&);
template std::string_view read_cell(const Cell&, std::string&);
template std::int8_t read_cell(const Cell&, std::string&);
template std::int16_t read_cell(const Cell&, std::string&);
template std::int32_t read_cell(const Cell&, std::string&);
template std::int64_t read_cell(const Cell&, std::string&);
template Record_Id read_cell(const Cell&, std::string&);
template bool read_cell(const Cell&, std::string&);
template float read_cell(const Cell&, std::string&);
template double read_cell(const Cell&, std::string&);

}  // namespace joedb
