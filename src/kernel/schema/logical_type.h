#ifndef JOEDB_SRC_KERNEL_SCHEMA_LOGICAL_TYPE_H
#define JOEDB_SRC_KERNEL_SCHEMA_LOGICAL_TYPE_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "joedb/schema/type.h"
#include "kernel/schema/value_text.h"

// Logical types and their values as text. The texts of dates, times and durations are those of
// ISO 8601.

namespace joedb::inline v1 {

// ---- types --------------------------------------------------------------------------------------

// The type of a field as it is declared: how its values are stored, and what they mean.
struct Declared_Type {
  Type_Code stored = Type_Code::none;
  Logical_Type logical;
};

// Parses "date", "timestamp(ms)", "decimal(2)", "enum(open,paid)", or the name of a stored type but
// `references`; "optional" may follow after a blank. Returns nullopt if the text is not such a
// type; `problem` then says why, for example "unknown type: dat".
std::optional<Declared_Type> parse_declared_type(std::string_view text, std::string& problem);

// The same, but faster, without the reason.
std::optional<Declared_Type> parse_declared_type(std::string_view text);

// Returns the text from which parse_declared_type() makes this type. For a reference, the text is
// "references", and " on_delete clear" may follow. Requires is_stored_as(logical, stored).
std::string declared_type_text(Type_Code stored, const Logical_Type& logical);

// The same with the name of the table behind "references": "references city on_delete clear".
std::string declared_type_text(Type_Code stored, const Logical_Type& logical,
                               std::string_view referenced);

// The text of a type, and the rule that follows it: "references city", and the rule of " on_delete
// clear". Returns nullopt if another word follows on_delete.
struct Text_With_Rule {
  std::string_view type;
  Logical_Type::On_Delete rule;
};
std::optional<Text_With_Rule> split_rule(std::string_view text);

// The parts of such a text of a reference. Returns nullopt for any other text.
struct Reference_Text {
  std::string_view table;
  Logical_Type::On_Delete rule;
};
std::optional<Reference_Text> parse_reference_text(std::string_view text);

// The word before the rule of a reference, and the rules but `keep` with their names.
inline constexpr std::string_view on_delete_word = "on_delete";
inline constexpr std::array<std::pair<Logical_Type::On_Delete, std::string_view>, 3>
    on_delete_rules{{{Logical_Type::On_Delete::clear, "clear"},
                     {Logical_Type::On_Delete::cascade, "cascade"},
                     {Logical_Type::On_Delete::refuse, "refuse"}}};
// Returns nullopt if there is no such rule.
std::optional<Logical_Type::On_Delete> parse_on_delete(std::string_view name);

// The names of logical types: "date", "timestamp", "duration", "decimal", "enum", "bytes", "uuid"
// and "json".
std::span<const std::string_view> logical_type_names();

// True if values that are stored with this type can have this logical type.
bool is_stored_as(const Logical_Type& logical, Type_Code stored);

// 10^0 to 10^18. A conversion to double is exact.
inline constexpr auto powers_of_10 = [] {
  std::array<std::int64_t, 19> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();
// The stored units in a second, or in the number 1.
inline std::int64_t units_of(const Logical_Type& logical) { return powers_of_10[logical.scale]; }

// ---- missing values -----------------------------------------------------------------------------

template <Field_Value T>
T missing_value(const Logical_Type& logical) {
  return missing_value<T>(logical.kind == Logical_Type::Kind::boolean);
}

// True if the field is optional, and the value means that there is none.
template <Field_Value T>
bool is_missing(const Logical_Type& logical, T value) {
  return logical.is_optional &&
         is_missing_value<T>(value, logical.kind == Logical_Type::Kind::boolean);
}

// ---- values -------------------------------------------------------------------------------------

bool append_logical_number(std::string& out, const Logical_Type& logical, std::int64_t value);
bool append_logical_bytes(std::string& out, const Logical_Type& logical, std::string_view value);

// Appends the text of a value that is not missing:
//
//   boolean      true
//   date         2026-01-31
//   timestamp    2026-01-31T12:00:00.000000Z, with `scale` digits behind the point
//   duration     PT1H30M0.5S
//   decimal      12.50
//   enumeration  paid
//   bytes        00ff10
//   uuid         2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77
//
// Returns false, and appends nothing, if values of this type have no text of their own (plain and
// json), and for a value that the type does not have: the place of no name, a time outside of the
// years -9999 to 9999, a UUID without 16 bytes.
template <Field_Value T>
bool append_logical(std::string& out, const Logical_Type& logical, T value) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return append_logical_bytes(out, logical, value);
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return append_logical_number(out, logical, value);
  else
    return false;
}

template <Field_Value T>
void append_without_text(std::string& out, const Logical_Type& logical, T value) {
  if constexpr (std::is_same_v<T, std::string_view>)
    if (logical.kind == Logical_Type::Kind::uuid) {
      out += "0x";
      append_logical_bytes(out, {.kind = Logical_Type::Kind::bytes}, value);
      return;
    }
  append_value(out, value);
}

// Appends a value in the format of joedbi: "null" if it is missing, the text above if there is one,
// or else what append_value(out, value) does (kernel/schema/value_text.h); but "0x" and hexadecimal
// digits for the bytes of a UUID that has not 16.
template <Field_Value T>
void append_value(std::string& out, const Logical_Type& logical, T value) {
  if (logical.has_plain_values()) return append_value(out, value);
  if (is_missing(logical, value))
    out += "null";
  else if (const std::size_t start = out.size(); !append_logical(out, logical, value))
    append_without_text(out, logical, value);
  else if (out.size() == start)
    out += "\"\"";
}

// Parses such a text; also a time in any form of parse_time (kernel/base/time.h) but a number, in
// UTC, with digits of seconds; and hexadecimal digits in any case. Returns nullopt if the text is
// no such value, or if the value means that there is none. The logical type must not be plain or
// json.
std::optional<std::int64_t> parse_logical_number(std::string_view text,
                                                 const Logical_Type& logical);
std::optional<std::string> parse_logical_bytes(std::string_view text, const Logical_Type& logical);

// Returns what a text should have been: "date like 2026-01-31", or "open, paid or late".
std::string expected_text(const Logical_Type& logical);

}  // namespace joedb::inline v1

#endif
