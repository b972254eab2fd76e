#include "sql/collation.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernel/base/time.h"
#include "kernel/schema/logical_type.h"

namespace joedb {

namespace {

using Logical_Kind = Logical_Type::Kind;

bool is_shown_digit(char c) { return c >= '0' && c <= '9'; }

// ---- times --------------------------------------------------------------------------------------

// Returns a text whose order by bytes is that of the times, and which is the same for all texts of
// a time: the day, if it is midnight; or else "YYYY-MM-DDTHH:MM:SS.123", without zeros at the end.
std::string ordered_time(std::string_view given) {
  constexpr std::size_t day_size = 10, clock_size = 8;
  std::string text(given), fraction;
  if (text.size() < day_size) return text;
  if (const std::size_t point = text.find('.'); point != text.npos) {
    if (point < clock_size || text[point - 3] != ':' || text[point - 6] != ':') return text;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
    if (end == point + 1) return text;
    fraction = text.substr(point, end - point);
    text.erase(point, end - point);
    fraction.resize(fraction.find_last_not_of(".0") + 1);
  }
  const auto seconds = parse_logical_number(text, {.kind = Logical_Kind::timestamp});
  if (!seconds) return std::string(given);
  std::string result = calendar_text(*seconds);
  if (result.empty()) return std::string(given);
  constexpr std::string_view midnight = "T00:00:00";
  if (fraction.empty() && result.ends_with(midnight))
    result.resize(result.size() - midnight.size());
  return result + fraction;
}

// True if both texts have one of the forms that SQL shows, and the same one, in which their order
// is that of the times.
bool have_shown_form(std::string_view a, std::string_view b) {
  constexpr std::size_t day_size = 10, min_time_size = 20;
  if (a.size() != b.size() || a.empty() || !is_shown_digit(a[0]) || !is_shown_digit(b[0]))
    return false;
  if (a.size() == day_size) return a[4] == '-' && b[4] == '-' && a[7] == '-' && b[7] == '-';
  return a.size() >= min_time_size && a[day_size] == 'T' && b[day_size] == 'T' && a.back() == 'Z' &&
         b.back() == 'Z';
}

int compare_times(std::string_view a, std::string_view b) {
  if (a == b || have_shown_form(a, b)) return a.compare(b);
  return ordered_time(a).compare(ordered_time(b));
}

// ---- others -------------------------------------------------------------------------------------

std::string shown_duration(std::string_view text) {
  for (const std::uint8_t scale : std::to_array<std::uint8_t>({0, 3, 6, 9})) {
    const Logical_Type type{.kind = Logical_Kind::duration, .scale = scale};
    std::string shown;
    if (const auto value = parse_logical_number(text, type))
      if (append_logical_number(shown, type, *value)) return shown;
  }
  return std::string(text);
}

int compare_durations(std::string_view a, std::string_view b) {
  return a == b ? 0 : shown_duration(a).compare(shown_duration(b));
}

std::string shown_uuid(std::string_view text) {
  const Logical_Type type{.kind = Logical_Kind::uuid};
  std::string shown;
  if (const auto bytes = parse_logical_bytes(text, type)) append_logical_bytes(shown, type, *bytes);
  return shown.empty() ? std::string(text) : shown;
}

int compare_uuids(std::string_view a, std::string_view b) {
  return a == b ? 0 : shown_uuid(a).compare(shown_uuid(b));
}

constexpr Collation time_texts{"joedb_time", compare_times};
constexpr Collation duration_texts{"joedb_duration", compare_durations};
constexpr Collation uuid_texts{"joedb_uuid", compare_uuids};
constexpr Collation byte_texts;

int call_collation(void* collation, int a_size, const void* a, int b_size, const void* b) noexcept {
  const std::string_view x(static_cast<const char*>(a), static_cast<std::size_t>(a_size));
  const std::string_view y(static_cast<const char*>(b), static_cast<std::size_t>(b_size));
  try {
    return static_cast<const Collation*>(collation)->compare(x, y);
  } catch (const std::bad_alloc&) {  // SQLite has no error here
    return x.compare(y);
  }
}

}  // namespace

const Collation& collation_of(const Logical_Type& logical) {
  switch (logical.kind) {
    case Logical_Kind::date:
    case Logical_Kind::timestamp:
      return time_texts;
    case Logical_Kind::duration:
      return duration_texts;
    case Logical_Kind::uuid:
      return uuid_texts;
    default:
      return byte_texts;
  }
}

int compare_texts(const Logical_Type& logical, std::string_view a, std::string_view b) {
  const Collation& collation = collation_of(logical);
  return collation.compare == nullptr ? a.compare(b) : collation.compare(a, b);
}

int register_collations(sqlite3* connection) {
  for (const Collation* const one : {&time_texts, &duration_texts, &uuid_texts}) {
    const int code = sqlite3_create_collation_v2(
        connection, one->name, SQLITE_UTF8, const_cast<Collation*>(one), call_collation, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace joedb
