#include "kernel/schema/logical_type.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "kernel/base/parse_number.h"
#include "kernel/base/split.h"
#include "kernel/base/suggestion.h"
#include "kernel/base/time.h"

namespace joedb::inline v1 {

namespace {

using Kind = Logical_Type::Kind;

constexpr std::array<std::string_view, 10> kind_names{
    "", "boolean", "date", "timestamp", "duration", "decimal", "enum", "bytes", "uuid", "json"};
constexpr std::string_view large_enum = "enum16";  // stored as int16, however few its names are

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 4> units{
    {{"s", 0}, {"ms", 3}, {"us", 6}, {"ns", 9}}};
constexpr std::uint8_t default_unit = 6;
constexpr std::uint8_t max_digits = 18;

bool has_unit(Kind kind) { return kind == Kind::timestamp || kind == Kind::duration; }

// The most names of an enumeration that is stored with this type.
template <class T>
constexpr std::size_t max_names = std::size_t{1} + std::numeric_limits<T>::max();

// ---- parsing of types

// "NAME(ARGUMENT,ARGUMENT)", or "NAME".
struct Type_Words {
  std::string_view name;
  std::optional<std::string_view> arguments;
};

std::optional<Type_Words> split_type(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == text.npos) return Type_Words{text, {}};
  if (!text.ends_with(')')) return {};
  return Type_Words{text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
}

std::string parse_scale(const Type_Words& words, Logical_Type& type) {
  if (has_unit(type.kind)) {
    type.scale = default_unit;
    if (!words.arguments) return "";
    for (const auto& [name, scale] : units)
      if (name == *words.arguments) return type.scale = scale, "";
    return "the unit of a " + std::string(words.name) + " is s, ms, us or ns";
  }
  const auto digits = parse_number<std::uint8_t>(words.arguments.value_or(""));
  if (!digits || *digits > max_digits)
    return "decimal needs the number of digits behind the point, 0 to 18: decimal(2)";
  type.scale = *digits;
  return "";
}

std::string parse_names(const Type_Words& words, Logical_Type& type) {
  if (!words.arguments || words.arguments->empty())
    return "enum needs the names of its values: enum(open, paid)";
  for (const std::string_view name : split(*words.arguments, ",")) {
    if (!is_identifier(name) || name == "null")
      return "invalid name of a value: " + std::string(name) +
             " (letters, digits and single underscores expected)";
    type.names.emplace_back(name);
  }
  std::vector<std::string_view> sorted(type.names.begin(), type.names.end());
  std::sort(sorted.begin(), sorted.end());
  if (const auto same = std::adjacent_find(sorted.begin(), sorted.end()); same != sorted.end())
    return "enum has the name " + std::string(*same) + " twice";
  if (sorted.size() > max_names<std::int16_t>) return "enum can have at most 32768 names";
  return "";
}

Type_Code stored_type(const Logical_Type& type) {
  switch (type.kind) {
    case Kind::boolean:
      return Type_Code::int8;
    case Kind::date:
      return Type_Code::int32;
    case Kind::enumeration:
      return type.names.size() <= max_names<std::int8_t> ? Type_Code::int8 : Type_Code::int16;
    case Kind::bytes:
    case Kind::uuid:
    case Kind::json:
      return Type_Code::string;
    default:
      return Type_Code::int64;
  }
}

std::string unknown(std::string_view name) {
  std::vector<std::string> known(kind_names.begin() + 2, kind_names.end());
  for (int code = 1; code <= type_count; ++code)
    known.emplace_back(type_name(static_cast<Type_Code>(code)));
  return "unknown type: " + std::string(name) + did_you_mean(std::string(name), known);
}

// Parses a type without "optional". Returns the problem; if it is that the type is unknown, it has
// a suggestion only on request, because that takes much longer.
std::string parse_type(std::string_view text, Declared_Type& type, bool has_suggestion) {
  const auto words = split_type(text);
  if (!words) return "missing ) in " + std::string(text);
  type.stored = type_named(words->name);
  if (words->name == large_enum) {
    type = {Type_Code::int16, {.kind = Kind::enumeration}};
  } else if (type.stored == Type_Code::none) {
    const auto kind = std::find(kind_names.begin() + 2, kind_names.end(), words->name);
    if (kind == kind_names.end())
      return has_suggestion ? unknown(words->name) : std::string("unknown type");
    type.logical.kind = static_cast<Kind>(kind - kind_names.begin());
  }
  std::string problem;
  const bool has_scale = has_unit(type.logical.kind) || type.logical.kind == Kind::decimal;
  if (has_scale)
    problem = parse_scale(*words, type.logical);
  else if (type.logical.kind == Kind::enumeration)
    problem = parse_names(*words, type.logical);
  else if (words->arguments)
    problem = std::string(words->name) + " has no arguments";
  if (type.stored == Type_Code::none) type.stored = stored_type(type.logical);
  return problem;
}

std::string make_optional(Declared_Type& type) {
  if (type.stored == Type_Code::blob) return "a blob can always be null, without optional";
  type.logical.is_optional = true;
  if (type.stored == Type_Code::boolean)
    type = {Type_Code::int8, {.kind = Kind::boolean, .is_optional = true}};
  return "";
}

}  // namespace

static std::optional<Declared_Type> parse(std::string_view text, std::string& problem,
                                          bool has_suggestion) {
  constexpr std::string_view optional = " optional";
  const bool is_optional = text.ends_with(optional);
  if (is_optional) text.remove_suffix(optional.size());
  Declared_Type type;
  problem = parse_type(text, type, has_suggestion);
  if (problem.empty() && type.stored == Type_Code::reference)
    problem = "a reference can always be null, and has no other logical type";
  if (problem.empty() && is_optional) problem = make_optional(type);
  if (!problem.empty()) return {};
  return type;
}

std::optional<Declared_Type> parse_declared_type(std::string_view text, std::string& problem) {
  return parse(text, problem, true);
}
std::optional<Declared_Type> parse_declared_type(std::string_view text) {
  std::string problem;
  return parse(text, problem, false);
}

std::string declared_type_text(Type_Code stored, const Logical_Type& logical) {
  const bool is_enum = logical.kind == Kind::enumeration;
  std::string text(logical.kind == Kind::plain
                       ? type_name(stored)
                       : kind_names[static_cast<std::size_t>(logical.kind)]);
  if (is_enum && stored != stored_type(logical)) text = large_enum;
  if (logical.kind == Kind::decimal) text.append("(").append(std::to_string(logical.scale)) += ')';
  if (has_unit(logical.kind) && logical.scale != default_unit)
    for (const auto& [name, scale] : units)
      if (scale == logical.scale) text.append("(").append(name) += ')';
  for (std::size_t i = 0; i < logical.names.size(); ++i)
    text.append(i == 0 ? "(" : ",").append(logical.names[i]);
  if (is_enum) text += ')';
  if (logical.is_optional) text += " optional";
  for (const auto& [rule, name] : on_delete_rules)
    if (rule == logical.on_delete) text.append(" ").append(on_delete_word).append(" ").append(name);
  return text;
}

std::string declared_type_text(Type_Code stored, const Logical_Type& logical,
                               std::string_view referenced) {
  std::string text = declared_type_text(stored, logical);
  if (stored == Type_Code::reference)
    text.insert(type_name(stored).size(), " " + std::string(referenced));
  return text;
}

std::optional<Text_With_Rule> split_rule(std::string_view text) {
  const std::string middle = ' ' + std::string(on_delete_word) + ' ';
  const std::size_t end = text.find(middle);
  if (end == text.npos) return Text_With_Rule{text, Logical_Type::On_Delete::keep};
  const auto rule = parse_on_delete(text.substr(end + middle.size()));
  if (!rule) return {};
  return Text_With_Rule{text.substr(0, end), *rule};
}

std::optional<Reference_Text> parse_reference_text(std::string_view text) {
  const std::string start = std::string(type_name(Type_Code::reference)) + ' ';
  const auto parts = split_rule(text);
  if (!parts || !parts->type.starts_with(start)) return {};
  return Reference_Text{parts->type.substr(start.size()), parts->rule};
}

std::optional<Logical_Type::On_Delete> parse_on_delete(std::string_view name) {
  for (const auto& [rule, rule_name] : on_delete_rules)
    if (rule_name == name) return rule;
  return {};
}

std::span<const std::string_view> logical_type_names() { return std::span(kind_names).subspan(2); }

bool is_stored_as(const Logical_Type& logical, Type_Code stored) {
  switch (logical.kind) {
    case Kind::plain:
      if (logical.on_delete != Logical_Type::On_Delete::keep)
        return stored == Type_Code::reference && !logical.is_optional;
      return !logical.is_optional || (stored != Type_Code::boolean && stored != Type_Code::blob &&
                                      stored != Type_Code::reference);
    case Kind::enumeration:
      return (stored == Type_Code::int8 && logical.names.size() <= max_names<std::int8_t>) ||
             stored == Type_Code::int16;
    default:
      return stored == stored_type(logical);
  }
}

// ---- values as text -----------------------------------------------------------------------------

namespace {

constexpr std::int64_t seconds_of_day = 24 * 60 * 60;

// Splits a count of units of 10^-scale seconds. The fraction is not negative.
struct Seconds {
  std::int64_t seconds;
  std::int64_t fraction;
};
Seconds split_seconds(std::int64_t value, const Logical_Type& type) {
  const std::int64_t unit = units_of(type);
  const std::int64_t rest = value % unit;
  return {value / unit - (rest < 0), rest < 0 ? rest + unit : rest};
}

void append_digits(std::string& out, std::uint64_t value, std::size_t size) {
  const std::string digits = std::to_string(value);
  if (digits.size() < size) out.append(size - digits.size(), '0');
  out += digits;
}

// Appends the point and the digits of a fraction.
void append_fraction(std::string& out, std::uint64_t fraction, std::uint8_t scale) {
  if (scale == 0) return;
  out += '.';
  append_digits(out, fraction, scale);
}

bool append_time(std::string& out, std::int64_t seconds, bool is_date) {
  const std::string text = calendar_text(seconds);
  constexpr std::size_t clock_size = 9;  // T12:00:00
  if (text.empty()) return false;
  out.append(text, 0, is_date ? text.size() - clock_size : text.npos);
  return true;
}

bool append_timestamp(std::string& out, const Logical_Type& type, std::int64_t value) {
  const auto [seconds, fraction] = split_seconds(value, type);
  if (!append_time(out, seconds, false)) return false;
  append_fraction(out, static_cast<std::uint64_t>(fraction), type.scale);
  out += 'Z';
  return true;
}

std::uint64_t absolute(std::int64_t value) {
  return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

void append_duration(std::string& out, const Logical_Type& type, std::int64_t value) {
  const auto unit = static_cast<std::uint64_t>(units_of(type));
  const std::uint64_t size = absolute(value);
  const std::uint64_t seconds = size / unit;
  out.append(value < 0 ? "-PT" : "PT");
  if (seconds >= 3600) out.append(std::to_string(seconds / 3600)) += 'H';
  if (seconds / 60 % 60 != 0) out.append(std::to_string(seconds / 60 % 60)) += 'M';
  if (seconds % 60 == 0 && size % unit == 0 && seconds != 0) return;
  out.append(std::to_string(seconds % 60));
  if (size % unit != 0) {
    append_fraction(out, size % unit, type.scale);
    out.resize(out.find_last_not_of('0') + 1);
  }
  out += 'S';
}

void append_decimal(std::string& out, const Logical_Type& type, std::int64_t value) {
  const auto unit = static_cast<std::uint64_t>(units_of(type));
  if (value < 0) out += '-';
  out += std::to_string(absolute(value) / unit);
  append_fraction(out, absolute(value) % unit, type.scale);
}

constexpr std::array<std::size_t, 4> uuid_dashes{8, 13, 18, 23};
constexpr std::size_t uuid_size = 16, uuid_text_size = 36;

}  // namespace

bool append_logical_number(std::string& out, const Logical_Type& type, std::int64_t value) {
  switch (type.kind) {
    case Kind::boolean:
      if (value != 0 && value != 1) return false;
      out += value == 1 ? "true" : "false";
      return true;
    case Kind::date:
      return append_time(out, value * seconds_of_day, true);
    case Kind::timestamp:
      return append_timestamp(out, type, value);
    case Kind::duration:
      return append_duration(out, type, value), true;
    case Kind::decimal:
      return append_decimal(out, type, value), true;
    case Kind::enumeration: {
      const auto place = static_cast<std::size_t>(value);
      if (value < 0 || place >= type.names.size()) return false;
      out += type.names[place];
      return true;
    }
    default:
      return false;
  }
}

bool append_logical_bytes(std::string& out, const Logical_Type& type, std::string_view value) {
  const bool is_uuid = type.kind == Kind::uuid;
  if (is_uuid ? value.size() != uuid_size : type.kind != Kind::bytes) return false;
  constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t start = out.size();
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t size = out.size() - start;
    if (is_uuid && std::find(uuid_dashes.begin(), uuid_dashes.end(), size) != uuid_dashes.end())
      out += '-';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return true;
}

// ---- parsing of values --------------------------------------------------------------------------

namespace {

template <class T>
bool fits(std::int64_t value) {
  return value == static_cast<std::int64_t>(static_cast<T>(value));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns seconds + fraction in units of 10^-scale seconds; nullopt if it does not fit.
std::optional<std::int64_t> join(std::int64_t seconds, std::int64_t fraction,
                                 const Logical_Type& type) {
  const std::int64_t unit = units_of(type);
  std::int64_t value = 0;
  // Before 1970, the product alone may not fit.
  const bool is_before = seconds < 0 && fraction > 0;
  if (__builtin_mul_overflow(is_before ? seconds + 1 : seconds, unit, &value)) return {};
  if (__builtin_add_overflow(value, is_before ? fraction - unit : fraction, &value)) return {};
  return value;
}

// Parses the digits behind a point as units of 10^-scale. Digits that the scale does not have must
// be 0.
std::optional<std::int64_t> parse_fraction(std::string_view digits, std::uint8_t scale) {
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
  std::string padded(digits);
  if (padded.size() < scale) padded.append(scale - padded.size(), '0');
  if (padded.find_first_not_of('0', scale) != padded.npos) return {};
  padded.resize(scale);
  return padded.empty() ? 0 : parse_number<std::int64_t>(padded);
}

// Removes a fraction of seconds from the text of a time, which must follow HH:MM:SS.
std::optional<std::int64_t> take_fraction(std::string& text, std::uint8_t scale) {
  const std::size_t point = text.find('.');
  if (point == text.npos) return 0;
  if (point < 8 || text[point - 3] != ':' || text[point - 6] != ':') return {};
  const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  const auto fraction =
      parse_fraction(std::string_view(text).substr(point + 1, end - point - 1), scale);
  text.erase(point, end - point);
  return fraction;
}

std::optional<std::int64_t> parse_timestamp(std::string_view text, const Logical_Type& type) {
  std::string copy(text);
  const auto fraction = take_fraction(copy, type.scale);
  if (parse_number<std::int64_t>(copy)) return {};
  const auto seconds = fraction ? parse_time(copy, Zone::utc) : std::nullopt;
  return seconds ? join(*seconds, *fraction, type) : std::nullopt;
}

std::optional<std::int64_t> parse_date(std::string_view text) {
  const auto seconds = parse_timestamp(text, {.kind = Kind::timestamp});
  if (!seconds || *seconds % seconds_of_day != 0) return {};
  return *seconds / seconds_of_day;
}

// Reads "T1H30M0.5S" and "1DT2H", without sign and P.
std::optional<std::int64_t> parse_parts(std::string_view text, const Logical_Type& type,
                                        std::int64_t sign) {
  static constexpr std::pair<char, std::int64_t> parts[] = {
      {'D', seconds_of_day}, {'H', 3600}, {'M', 60}, {'S', 1}};
  std::optional<std::int64_t> sum;
  bool is_clock = false;
  const auto* next = std::begin(parts);
  while (!text.empty()) {
    if (text[0] == 'T') {
      if (is_clock) return {};
      is_clock = true;
      text.remove_prefix(1);
    }
    const std::size_t size = text.find_first_not_of("0123456789.");
    if (size == 0 || size == text.npos) return {};
    const std::string_view number = text.substr(0, size);
    while (next != std::end(parts) && next->first != text[size]) ++next;
    if (next == std::end(parts) || (next->first != 'D') != is_clock) return {};
    const std::size_t point = number.find('.');
    if (point != number.npos && next->first != 'S') return {};
    const auto whole = parse_number<std::int64_t>(number.substr(0, point));
    const auto fraction =
        point == number.npos ? 0 : parse_fraction(number.substr(point + 1), type.scale);
    std::int64_t seconds = 0;
    if (!whole || !fraction || __builtin_mul_overflow(*whole, sign * next->second, &seconds))
      return {};
    const auto part = join(seconds, sign * *fraction, type);
    std::int64_t total = sum.value_or(0);
    if (!part || __builtin_add_overflow(total, *part, &total)) return {};
    sum = total;
    ++next;
    text.remove_prefix(size + 1);
  }
  return sum;
}

std::optional<std::int64_t> parse_duration(std::string_view text, const Logical_Type& type) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (!text.starts_with('P') || text.ends_with('T')) return {};
  return parse_parts(text.substr(1), type, is_negative ? -1 : 1);
}

std::optional<std::int64_t> parse_decimal(std::string_view text, const Logical_Type& type) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  if (digits.empty() || !is_digit(digits[0])) return {};
  if (point < text.size() || type.scale > 0) {
    const std::string_view behind = point < text.size() ? text.substr(point + 1) : "0";
    const auto fraction = parse_fraction(behind, type.scale);
    if (!fraction) return {};
    if (type.scale > 0) append_digits(digits, static_cast<std::uint64_t>(*fraction), type.scale);
  }
  return parse_number<std::int64_t>(is_negative ? "-" + digits : digits);
}

std::optional<std::int64_t> parse_name(std::string_view text, const Logical_Type& type) {
  const auto name = std::find(type.names.begin(), type.names.end(), text);
  return name == type.names.end() ? std::nullopt : std::optional(name - type.names.begin());
}

std::optional<std::int64_t> parse_boolean(std::string_view text) {
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  return {};
}

std::optional<std::int64_t> parse_by_kind(std::string_view text, const Logical_Type& type) {
  switch (type.kind) {
    case Kind::boolean:
      return parse_boolean(text);
    case Kind::date:
      return parse_date(text);
    case Kind::timestamp:
      return parse_timestamp(text, type);
    case Kind::duration:
      return parse_duration(text, type);
    case Kind::decimal:
      return parse_decimal(text, type);
    case Kind::enumeration:
      return parse_name(text, type);
    default:
      return {};
  }
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const int letter = (c | 0x20) - 'a';
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}

}  // namespace

std::optional<std::int64_t> parse_logical_number(std::string_view text, const Logical_Type& type) {
  const auto value = parse_by_kind(text, type);
  if (!value || !type.is_optional) return value;
  const bool means_missing = stored_type(type) == Type_Code::int32
                                 ? *value == std::numeric_limits<std::int32_t>::min()
                                 : *value == std::numeric_limits<std::int64_t>::min();
  return means_missing ? std::nullopt : value;
}

std::optional<std::string> parse_logical_bytes(std::string_view text, const Logical_Type& type) {
  std::string digits(text);
  if (type.kind == Kind::uuid && text.size() == uuid_text_size)
    for (auto dash = uuid_dashes.rbegin(); dash != uuid_dashes.rend(); ++dash)
      if (digits[*dash] == '-') digits.erase(*dash, 1);
  if (digits.size() % 2 != 0 || (type.kind == Kind::uuid && digits.size() != 2 * uuid_size))
    return {};
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  if (is_missing(type, std::string_view(bytes))) return {};
  return bytes;
}

std::string expected_text(const Logical_Type& type) {
  switch (type.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::date:
      return "date like 2026-01-31";
    case Kind::timestamp:
      return "time like 2026-01-31T12:00:00Z";
    case Kind::duration:
      return "duration like PT1H30M";
    case Kind::decimal:
      return "number with at most " + std::to_string(type.scale) + " digits behind the point";
    case Kind::enumeration: {
      constexpr std::size_t most = 8;
      std::string text;
      for (std::size_t i = 0; i < std::min(most, type.names.size()); ++i)
        text.append(i == 0 ? "" : i + 1 == type.names.size() ? " or " : ", ").append(type.names[i]);
      return type.names.size() > most ? text + ", …" : text;
    }
    case Kind::bytes:
      return "pairs of hexadecimal digits";
    case Kind::uuid:
      return "UUID like 2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77";
    default:
      return "";
  }
}

}  // namespace joedb::inline v1
