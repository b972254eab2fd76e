#include "sql/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "sql/collation.h"
#include "text/sql.h"

namespace joedb {

Kind kind_of(Type_Code code) {
  switch (code) {
    case Type_Code::string:
      return Kind::text;
    case Type_Code::float32:
    case Type_Code::float64:
      return Kind::real;
    case Type_Code::blob:
      return Kind::blob;
    default:
      return Kind::integer;
  }
}

Kind kind_of(Type_Code code, const Logical_Type& logical) {
  switch (shown_as(logical)) {
    case Shown::number_text:
    case Shown::uuid:
      return Kind::text;
    case Shown::decimal:
      return Kind::real;
    case Shown::bytes:
      return Kind::blob;
    case Shown::stored:
      break;
  }
  return kind_of(code);
}

std::string_view text_of(sqlite3_value* value) {
  const void* const bytes = sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_blob(value)
                                                                     : sqlite3_value_text(value);
  const int size = sqlite3_value_bytes(value);
  if (bytes == nullptr) {
    if (size > 0 || sqlite3_value_type(value) == SQLITE_TEXT) throw std::bad_alloc();
    return {};
  }
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

// ---- results ------------------------------------------------------------------------------------

// Texts are not copied. SQLITE_STATIC promises that the bytes never change. In fact, SQLite needs
// them only until the statement is reset:
//
// * Rows stored for a sort, a group, a DISTINCT or a materialised subquery are records, which have
//   copies of the values. Registers, sqlite3_value and results of functions like max() may share
//   the pointer, but belong to the statement.
// * sqlite3_value_dup copies the text, and so does binding it to another statement. The result of
//   sqlite3_column_text is valid until the next step or reset.
// * A column changes only at the beginning of a statement (Shared_File). But a past state may be
//   released earlier, when a cursor moves to another state, so its texts are copied.
//
// A text in a column is followed by a zero byte, unless it is from a damaged snapshot. If the text
// itself has no zero byte, its size is passed as -1. If the size were passed, functions that need a
// terminating zero, like LIKE, would copy the text to add one.
static void result_text(sqlite3_context* context, std::string_view text, bool is_lasting) {
  if (!is_lasting)
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  else if (text.size() <= 0x7fff'ffff && text.data()[text.size()] == 0 &&
           std::memchr(text.data(), 0, text.size()) == nullptr)
    sqlite3_result_text(context, text.data(), -1, SQLITE_STATIC);
  else
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

static void result_blob(sqlite3_context* context, Blob blob, const Abstract_File& file) {
  if (blob.is_null()) return sqlite3_result_null(context);
  // Report the same error as SQLite, without reading the blob.
  sqlite3* const connection = sqlite3_context_db_handle(context);
  if (blob.get_size() > sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, -1))
    return sqlite3_result_error_toobig(context);
  const std::string bytes = file.read_blob(blob);
  sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

static void result_bytes(sqlite3_context* context, std::string_view bytes, bool is_lasting) {
  sqlite3_result_blob64(context, bytes.data() == nullptr ? "" : bytes.data(), bytes.size(),
                        is_lasting ? SQLITE_STATIC : SQLITE_TRANSIENT);
}

template <class T>
static void pass_logical(sqlite3_context* context, const Logical_Type& logical, T value,
                         bool is_lasting) {
  if (is_missing(logical, value)) return sqlite3_result_null(context);
  const Shown shown = shown_as(logical);
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (shown == Shown::stored) return result_text(context, value, is_lasting);
    std::string text;
    if (shown == Shown::bytes || !append_logical(text, logical, value))
      return result_bytes(context, value, is_lasting);
    result_text(context, text, false);
  } else if constexpr (std::is_floating_point_v<T>) {
    sqlite3_result_double(context, value + 0.0);
  } else if constexpr (std::is_integral_v<T>) {
    if (shown == Shown::number_text)
      result_text(context, shown_number(logical, value), false);
    else if (shown == Shown::decimal)
      sqlite3_result_double(context, shown_decimal(value, logical.scale));
    else
      sqlite3_result_int64(context, value);
  }
}

void pass_value(sqlite3_context* context, const Column_Source& source, index_t id,
                const Abstract_File& file, bool is_lasting) {
  if (source.column == nullptr) return sqlite3_result_null(context);
  const auto value_of = [&]<class T>(std::type_identity<T>) {
    return static_cast<const Column<T>&>(*source.column).get(id);
  };
  if (source.logical) [[unlikely]]
    return visit_type(source.code, [&]<class T>(std::type_identity<T> type) {
      pass_logical<T>(context, *source.logical, value_of(type), is_lasting);
    });
  switch (source.code) {
    case Type_Code::string:
      return result_text(context, value_of(std::type_identity<std::string_view>()), is_lasting);
    case Type_Code::int8:
      return sqlite3_result_int(context, value_of(std::type_identity<std::int8_t>()));
    case Type_Code::int16:
      return sqlite3_result_int(context, value_of(std::type_identity<std::int16_t>()));
    case Type_Code::int32:
      return sqlite3_result_int(context, value_of(std::type_identity<std::int32_t>()));
    case Type_Code::int64:
      return sqlite3_result_int64(context, value_of(std::type_identity<std::int64_t>()));
    case Type_Code::boolean:
      return sqlite3_result_int(context, value_of(std::type_identity<bool>()) ? 1 : 0);
    // SQLite converts nan to NULL. Its tables have no -0, so add 0.0, which turns -0 into 0.
    case Type_Code::float32:
      return sqlite3_result_double(context, value_of(std::type_identity<float>()) + 0.0);
    case Type_Code::float64:
      return sqlite3_result_double(context, value_of(std::type_identity<double>()) + 0.0);
    case Type_Code::reference: {
      const Record_Id value = value_of(std::type_identity<Record_Id>());
      return value.is_null() ? sqlite3_result_null(context)
                             : sqlite3_result_int64(context, value.value());
    }
    case Type_Code::blob:
      return result_blob(context, value_of(std::type_identity<Blob>()), file);
    case Type_Code::none:
      break;
  }
  sqlite3_result_null(context);
}

void fetch_values(const Column_Source& source, const index_t* ids, std::size_t count) {
  if (source.column == nullptr) return;
  visit_type(source.code, [&]<class T>(std::type_identity<T>) {
    const auto& column = static_cast<const Column<T>&>(*source.column);
    for (std::size_t i = 0; i < count; ++i)
      if constexpr (std::is_same_v<T, std::string_view>)
        __builtin_prefetch(column.get(ids[i]).data());
      else
        __builtin_prefetch(column.data() + ids[i]);
  });
}

template <class T>
static int compare_shown(const Logical_Type& logical, T a, T b) {
  const bool has_a = !is_missing(logical, a), has_b = !is_missing(logical, b);
  if (!has_a || !has_b) return int{has_a} - int{has_b};
  const Shown shown = shown_as(logical);
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (shown == Shown::uuid) {  // a value that is no UUID is a BLOB, greater than texts
      const auto is_blob = [&](T value) { return int{value.size() != 16}; };
      if (is_blob(a) != is_blob(b)) return is_blob(a) - is_blob(b);
    }
    return a.compare(b);
  } else if constexpr (std::is_integral_v<T>) {
    if (shown == Shown::number_text) {
      const Interval ordered = ordered_interval(logical);
      if (!ordered.has(a) || !ordered.has(b))
        return compare_texts(logical, shown_number(logical, a), shown_number(logical, b));
    }
    return int{b < a} - int{a < b};
  } else if constexpr (std::is_floating_point_v<T>) {
    return int{b < a} - int{a < b};
  } else {
    return 0;
  }
}

int compare_values(const Column_Source& source, index_t a, index_t b) {
  if (source.column == nullptr) return 0;
  if (source.logical) [[unlikely]]
    return visit_type(source.code, [&]<class T>(std::type_identity<T>) {
      const auto& column = static_cast<const Column<T>&>(*source.column);
      return compare_shown<T>(*source.logical, column.get(a), column.get(b));
    });
  return visit_type(source.code, [&]<class T>(std::type_identity<T>) -> int {
    const auto& column = static_cast<const Column<T>&>(*source.column);
    const T x = column.get(a), y = column.get(b);
    if constexpr (std::is_same_v<T, std::string_view>) {
      return x.compare(y);
    } else if constexpr (std::is_same_v<T, Blob>) {
      return 0;
    } else {
      if constexpr (std::is_same_v<T, Record_Id>) {
        if (x.is_null() || y.is_null()) return int{y.is_null()} - int{x.is_null()};
      } else if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x) || std::isnan(y)) return int{std::isnan(y)} - int{std::isnan(x)};
      }
      return int{y < x} - int{x < y};
    }
  });
}

// ---- conditions ---------------------------------------------------------------------------------

namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double two_to_63 = 9223372036854775808.0;

// Converts a text to a number, if it looks like one. Uses a copy, because another condition may use
// the same value of SQLite.
class Number_Value {
 public:
  explicit Number_Value(sqlite3_value* value) : value_(value) {
    if (sqlite3_value_type(value) != SQLITE_TEXT) return;
    copy_ = sqlite3_value_dup(value);
    if (copy_ == nullptr) throw std::bad_alloc();
    value_ = copy_;
  }
  ~Number_Value() { sqlite3_value_free(copy_); }
  Number_Value(const Number_Value&) = delete;
  Number_Value& operator=(const Number_Value&) = delete;

  int type() { return sqlite3_value_numeric_type(value_); }
  std::int64_t integer() const { return sqlite3_value_int64(value_); }
  double real() const { return sqlite3_value_double(value_); }

 private:
  sqlite3_value* value_;
  sqlite3_value* copy_ = nullptr;
};

bool is_equality(unsigned char op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
}
bool is_less(unsigned char op) {
  return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

}  // namespace

bool Range::understands(unsigned char op, Kind kind) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
      return true;
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS:
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return kind != Kind::blob;
    case SQLITE_INDEX_CONSTRAINT_LIKE:
    case SQLITE_INDEX_CONSTRAINT_GLOB:
      return kind == Kind::text;
    default:
      return false;
  }
}

bool Range::understands(unsigned char op, Type_Code stored, const Logical_Type& logical) {
  const bool is_pattern = op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB;
  const bool is_null_test =
      op == SQLITE_INDEX_CONSTRAINT_ISNULL || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
  switch (shown_as(logical)) {
    case Shown::uuid:
      return is_null_test || is_equality(op);
    case Shown::bytes:
      return !is_pattern && understands(op, Kind::text);
    case Shown::number_text:
      return !is_pattern && understands(op, Kind::text);
    default:
      return understands(op, kind_of(stored, logical));
  }
}

Range::Range(Type_Code stored, Shared_Logical_Type logical)
    : kind_(kind_of(stored)), stored_(stored), logical_(std::move(logical)) {
  if (!logical_) return;
  shown_ = shown_as(*logical_);
  if (shown_ != Shown::number_text) return;
  ordered_ = ordered_interval(*logical_);
  low_ = ordered_.low;
  high_ = ordered_.high;
}

void Range::require_null() {
  if (nulls_ == Nulls::excluded) is_empty_ = true;
  nulls_ = Nulls::only;
}

void Range::exclude_null() {
  if (nulls_ == Nulls::only) is_empty_ = true;
  nulls_ = Nulls::excluded;
}

void Range::restrict(unsigned char op, sqlite3_value* value) {
  if (op == SQLITE_INDEX_CONSTRAINT_ISNULL) return require_null();
  if (op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return exclude_null();
  if (op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB) {
    if (sqlite3_value_type(value) == SQLITE_TEXT)
      restrict_to_pattern(text_of(value), op == SQLITE_INDEX_CONSTRAINT_GLOB);
    return;
  }
  if (sqlite3_value_type(value) == SQLITE_NULL) {
    if (op == SQLITE_INDEX_CONSTRAINT_IS) return require_null();
    is_empty_ = true;
    return;
  }
  exclude_null();
  switch (shown_) {
    case Shown::number_text:
      return restrict_shown(op, value);
    case Shown::decimal:
      return restrict_decimal(op, value);
    case Shown::uuid:
      return restrict_uuid(value);
    case Shown::bytes:
      return restrict_bytes(op, value);
    case Shown::stored:
      break;
  }
  switch (kind_) {
    case Kind::integer:
      return restrict_integer(op, value);
    case Kind::real:
      return restrict_real(op, value);
    case Kind::text:
      return restrict_text(op, value);
    case Kind::blob:
      break;
  }
}

void Range::restrict_to(std::int64_t low, std::int64_t high) {
  low_ = std::max(low_, low);
  high_ = std::min(high_, high);
  if (low_ > high_) is_empty_ = true;
}

void Range::restrict_to_reals(double low, double high) {
  real_low_ = std::max(real_low_, low);
  real_high_ = std::min(real_high_, high);
  if (!(real_low_ <= real_high_)) is_empty_ = true;
}

void Range::restrict_integer(unsigned char op, sqlite3_value* given) {
  Number_Value value(given);
  const auto nothing = [this] { is_empty_ = true; };
  switch (value.type()) {
    case SQLITE_INTEGER: {
      const std::int64_t n = value.integer();
      if (is_equality(op)) return restrict_to(n, n);
      if (op == SQLITE_INDEX_CONSTRAINT_LE) return restrict_to(least, n);
      if (op == SQLITE_INDEX_CONSTRAINT_GE) return restrict_to(n, largest);
      if (op == SQLITE_INDEX_CONSTRAINT_LT)
        return n == least ? nothing() : restrict_to(least, n - 1);
      return n == largest ? nothing() : restrict_to(n + 1, largest);
    }
    case SQLITE_FLOAT: {
      const double x = value.real();
      const auto integer = [](double number) { return static_cast<std::int64_t>(number); };
      if (is_equality(op)) {
        if (!(x >= -two_to_63 && x < two_to_63) || std::floor(x) != x) return nothing();
        return restrict_to(integer(x), integer(x));
      }
      if (is_less(op)) {
        if (x >= two_to_63) return;
        if (x < -two_to_63 || (x == -two_to_63 && op == SQLITE_INDEX_CONSTRAINT_LT))
          return nothing();
        const bool is_strict = op == SQLITE_INDEX_CONSTRAINT_LT && std::floor(x) == x;
        return restrict_to(least, integer(std::floor(x)) - int{is_strict});
      }
      if (x < -two_to_63) return;
      if (x >= two_to_63) return nothing();
      const bool is_strict = op == SQLITE_INDEX_CONSTRAINT_GT && std::ceil(x) == x;
      if (std::ceil(x) >= two_to_63) return nothing();
      return restrict_to(integer(std::ceil(x)) + int{is_strict}, largest);
    }
    default:  // a text or a blob is greater than all numbers
      if (!is_less(op)) nothing();
  }
}

// The value may be an integer between two adjacent doubles.
void Range::restrict_real(unsigned char op, sqlite3_value* given) {
  Number_Value value(given);
  const int type = value.type();
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
    if (!is_less(op)) is_empty_ = true;
    return;
  }
  double x = 0;
  int side = 0;  // sign of (value - x)
  if (type == SQLITE_INTEGER) {
    const std::int64_t n = value.integer();
    x = static_cast<double>(n);
    if (x >= two_to_63)
      side = -1;
    else
      side = int{n > static_cast<std::int64_t>(x)} - int{n < static_cast<std::int64_t>(x)};
  } else {
    x = value.real();
  }
  if (is_equality(op)) {
    if (side != 0) is_empty_ = true;
    return restrict_to_reals(x, x);
  }
  const bool is_strict = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_GT;
  if (is_less(op)) {
    const bool has_x = side > 0 || (side == 0 && !is_strict);
    if (!has_x && x == -infinity) is_empty_ = true;
    return restrict_to_reals(-infinity, has_x ? x : std::nextafter(x, -infinity));
  }
  const bool has_x = side < 0 || (side == 0 && !is_strict);
  if (!has_x && x == infinity) is_empty_ = true;
  restrict_to_reals(has_x ? x : std::nextafter(x, infinity), infinity);
}

void Range::restrict_text(unsigned char op, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_BLOB:  // greater than all texts
      if (!is_less(op)) is_empty_ = true;
      return;
    case SQLITE_TEXT:
      break;
    default:  // a number, which is compared as a text or as a number
      return;
  }
  restrict_to_text(op, text_of(value), true);
}

// `may_be_number`: `text` may be from a number column of another table.
void Range::restrict_to_text(unsigned char op, std::string_view text, bool may_be_number) {
  if (!is_less(op)) {
    const bool is_open = op == SQLITE_INDEX_CONSTRAINT_GT;
    const int order = text_low_ ? text.compare(text_low_->text) : 1;
    if (order > 0) text_low_ = {std::string(text), is_open};
    if (order == 0) text_low_->is_open |= is_open;
  }
  if (is_less(op) || is_equality(op)) {
    // If `text` is from a number column of another table, SQLite compares texts of this column that
    // look like numbers as numbers, which are less than `text`. Include them: they are all less
    // than ":" (see Virtual_Table::Planner).
    const bool has_numbers = may_be_number && is_less(op) && text < beyond_numbers;
    const bool is_open = op == SQLITE_INDEX_CONSTRAINT_LT || has_numbers;
    const std::string_view bound = has_numbers ? beyond_numbers : text;
    const int order = text_high_ ? bound.compare(text_high_->text) : -1;
    if (order < 0) text_high_ = {std::string(bound), is_open};
    if (order == 0) text_high_->is_open |= is_open;
  }
  if (text_low_ && text_high_) {
    const int order = text_low_->text.compare(text_high_->text);
    if (order > 0 || (order == 0 && (text_low_->is_open || text_high_->is_open))) is_empty_ = true;
  }
}

// ---- logical types

// As restrict_text, for a text that is shown for a number.
void Range::restrict_shown(unsigned char op, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_BLOB:
      if (!is_less(op)) is_empty_ = true;
      return;
    case SQLITE_TEXT:
      break;
    default:
      return;
  }
  const std::string_view text = text_of(value);
  if (is_equality(op)) {
    const auto number = number_shown_as(*logical_, stored_, text);
    if (!number || (only_ && *only_ != *number)) is_empty_ = true;
    only_ = number;
  } else {
    texts_compared_.push_back({op, std::string(text)});
    const bool is_strict = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_GT;
    const bool is_greater = is_less(op) != is_strict;
    if (!ordered_.is_empty()) {
      const std::int64_t first = first_beyond(*logical_, ordered_, text, is_greater);
      if (is_less(op))
        high_ = std::min(high_, first - 1);
      else
        low_ = std::max(low_, first);
    }
  }
  if (only_ && !accepts(*only_)) is_empty_ = true;
}

// Returns true if the shown text of a number meets the conditions.
bool Range::accepts(std::int64_t value) const {
  const std::string text = shown_number(*logical_, value);
  return std::ranges::all_of(texts_compared_, [&](const Text_Condition& condition) {
    const int order = compare_texts(*logical_, text, condition.text);
    switch (condition.op) {
      case SQLITE_INDEX_CONSTRAINT_LT:
        // As in restrict_to_text, include texts that look like numbers.
        return order < 0 || (condition.text < beyond_numbers && text < beyond_numbers);
      case SQLITE_INDEX_CONSTRAINT_LE:
        return order <= 0 || (condition.text < beyond_numbers && text < beyond_numbers);
      case SQLITE_INDEX_CONSTRAINT_GT:
        return order > 0;
      default:
        return order >= 0;
    }
  });
}

// The shown numbers have the order of the stored ones.
void Range::restrict_decimal(unsigned char op, sqlite3_value* value) {
  Range shown(Kind::real);
  shown.restrict_real(op, value);
  if (shown.is_empty_) {
    is_empty_ = true;
    return;
  }
  const Interval found = decimals_between(logical_->scale, shown.real_low_, shown.real_high_);
  restrict_to(found.low, found.high);
}

void Range::restrict_uuid(sqlite3_value* value) {
  std::string text;
  if (sqlite3_value_type(value) == SQLITE_TEXT) {
    if (const auto bytes = parse_logical_bytes(text_of(value), *logical_))
      return restrict_to_text(SQLITE_INDEX_CONSTRAINT_EQ, *bytes, false);
  } else if (sqlite3_value_type(value) == SQLITE_BLOB) {
    if (!append_logical_bytes(text, *logical_, text_of(value)))
      return restrict_to_text(SQLITE_INDEX_CONSTRAINT_EQ, text_of(value), false);
  }
  is_empty_ = true;
}

void Range::restrict_bytes(unsigned char op, sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_BLOB) return restrict_to_text(op, text_of(value), false);
  // Numbers and texts are less than all BLOBs.
  if (is_less(op) || is_equality(op)) is_empty_ = true;
}

// ---- patterns

static unsigned char lower(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte | 0x20) : byte;
}

// Adds the longest part of the pattern between wildcards, if there is one, as a condition. A part
// has only ASCII characters, because SQLite treats different invalid UTF-8 as the same character.
// It ends at a zero byte, because SQLite ends a text there. Ignores a GLOB pattern from the first
// "[" on.
void Range::restrict_to_pattern(std::string_view pattern, bool is_glob) {
  // Much less than the limit of SQLite, beyond which a pattern is an error.
  constexpr std::size_t max_pattern_size = 10'000;
  if (pattern.size() > max_pattern_size) return;
  const std::string_view wildcards = is_glob ? "*?" : "%_";
  Part best, part{"", !is_glob, true};
  const auto end_part = [&] {
    if (part.bytes.size() > best.bytes.size()) best = part;
    part.bytes.clear();
    part.is_at_start = false;
  };
  for (const char c : pattern) {
    if (c == 0 || (is_glob && c == '[')) break;
    if (wildcards.find(c) != wildcards.npos || static_cast<unsigned char>(c) >= 0x80)
      end_part();
    else
      part.bytes += is_glob ? c : static_cast<char>(lower(c));
  }
  end_part();
  if (!best.bytes.empty()) parts_.push_back(std::move(best));
}

bool Range::Part::is_in(std::string_view text) const {
  const std::size_t size = bytes.size();
  if (text.size() < size) return false;
  if (!folds_case) return is_at_start ? text.starts_with(bytes) : text.find(bytes) != text.npos;
  const auto is_at = [&](const char* place) {
    for (std::size_t i = 1; i < size; ++i)
      if (lower(place[i]) != static_cast<unsigned char>(bytes[i])) return false;
    return true;
  };
  const char* const last = text.data() + (is_at_start ? 0 : text.size() - size);
  const auto first = static_cast<unsigned char>(bytes[0]);
  for (const char* place = text.data(); place <= last; ++place)
    if (lower(*place) == first && is_at(place)) return true;
  return false;
}

template <class T>
static void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void Range::restrict_to_list(const std::vector<sqlite3_value*>& values) {
  // Leave a second list to SQLite, and also a list for texts that contains a number.
  if (has_list_) return;
  if (kind_ == Kind::text || shown_ == Shown::number_text)
    for (sqlite3_value* const value : values)
      if (sqlite3_value_type(value) == SQLITE_INTEGER || sqlite3_value_type(value) == SQLITE_FLOAT)
        return;
  exclude_null();
  has_list_ = true;
  for (sqlite3_value* const value : values) {
    Range one = logical_ ? Range(stored_, logical_) : Range(kind_);
    one.restrict(SQLITE_INDEX_CONSTRAINT_EQ, value);
    if (one.is_empty()) continue;
    if (one.only_)
      integers_.push_back(*one.only_);
    else if (kind_ == Kind::integer && one.low_ < one.high_) {  // decimals shown as one number
      integers_.clear();
      has_list_ = false;
      return;
    } else if (kind_ == Kind::integer)
      integers_.push_back(one.low_);
    if (kind_ == Kind::real) reals_.push_back(one.real_low_);
    if (kind_ == Kind::text) texts_.push_back(one.text_low_->text);
  }
  sort_unique(integers_);
  sort_unique(reals_);
  sort_unique(texts_);
}

bool Range::is_empty() const {
  if (has_list_ && integers_.empty() && reals_.empty() && texts_.empty()) return true;
  return is_empty_;
}

bool Range::is_point() const {
  if (is_empty() || has_list_) return false;
  if (nulls_ == Nulls::only) return true;
  if (nulls_ == Nulls::any) return false;
  if (shown_ == Shown::number_text) return only_.has_value();
  switch (kind_) {
    case Kind::integer:
      return low_ == high_;
    case Kind::real:
      return real_low_ == real_high_;
    case Kind::text:
      return text_low_ && text_high_ && text_low_->text == text_high_->text;
    case Kind::blob:
      break;
  }
  return false;
}

// An index has nan as the largest number, and a null reference as -1.
Range::Bound Range::missing_key() const {
  if (stored_ == Type_Code::none || !logical_ || !logical_->is_optional)
    return {key_part(Record_Id())};
  return visit_type(stored_, [&]<class T>(std::type_identity<T>) {
    return Bound{key_part(missing_value<T>(*logical_))};
  });
}

std::optional<std::int64_t> Range::missing() const {
  if (!may_have_missing()) return {};
  return visit_type(stored_, [&]<class T>(std::type_identity<T>) -> std::optional<std::int64_t> {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (const T value = missing_value<T>(*logical_); value == std::numeric_limits<T>::min())
        return value;
    return {};
  });
}

std::optional<Range::Bound> Range::lower_key() const {
  if (only_) return Bound{key_part(*only_)};
  switch (kind_) {
    case Kind::integer:
      if (nulls_ == Nulls::only) return missing_key();
      if (low_ == least) return std::nullopt;
      return Bound{key_part(low_)};
    case Kind::real:
      if (nulls_ == Nulls::only) return Bound{key_part(std::numeric_limits<double>::quiet_NaN())};
      if (real_low_ == -infinity) return std::nullopt;
      return Bound{key_part(real_low_)};
    case Kind::text:
      if (nulls_ == Nulls::only) return missing_key();
      if (!text_low_) return std::nullopt;
      return Bound{key_part(std::string_view(text_low_->text)), text_low_->is_open};
    case Kind::blob:
      break;
  }
  return std::nullopt;
}

std::optional<Range::Bound> Range::upper_key() const {
  if (nulls_ == Nulls::only || only_) return lower_key();
  switch (kind_) {
    case Kind::integer:
      if (high_ == largest) return std::nullopt;
      return Bound{key_part(high_)};
    case Kind::real:
      if (nulls_ == Nulls::any) return std::nullopt;
      return Bound{key_part(real_high_)};
    case Kind::text:
      if (!text_high_) return std::nullopt;
      return Bound{key_part(std::string_view(text_high_->text)), text_high_->is_open};
    case Kind::blob:
      break;
  }
  return std::nullopt;
}

std::vector<Range> Range::points() const {
  std::vector<Range> result;
  const auto add = [&]() -> Range& {
    result.emplace_back(kind_);
    result.back().exclude_null();
    return result.back();
  };
  for (const std::int64_t n : integers_)
    if (shown_ == Shown::number_text || (low_ <= n && n <= high_)) add().restrict_to(n, n);
  for (const double x : reals_)
    if (real_low_ <= x && x <= real_high_) add().restrict_to_reals(x, x);
  for (const std::string& text : texts_)
    if (is_in_text_bounds(text)) {
      Range& one = add();
      one.text_low_ = one.text_high_ = Text_Bound{text, false};
    }
  return result;
}

std::vector<std::int64_t> Range::list_of_integers() const {
  std::vector<std::int64_t> result;
  for (const std::int64_t n : integers_)
    if (low_ <= n && n <= high_) result.push_back(n);
  return result;
}

// ---- filters ------------------------------------------------------------------------------------

template <class Test>
static std::size_t keep_if(index_t* ids, std::size_t count, Test test) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const index_t id = ids[i];
    ids[kept] = id;
    kept += static_cast<std::size_t>(static_cast<bool>(test(id)));
  }
  return kept;
}

// A function of its own, so that the filters of plain numbers stay small.
template <class T>
std::size_t Range::keep_shown(const Column<T>& column, index_t* ids, std::size_t count) const {
  const T* const values = column.data();
  if (only_) {
    const auto only = static_cast<T>(*only_);
    count = keep_if(ids, count, [=](index_t id) { return values[id] == only; });
  } else if (logical_->kind == Logical_Type::Kind::enumeration && !texts_compared_.empty()) {
    std::vector<char> accepted;
    for (std::size_t i = 0; i < logical_->names.size(); ++i)
      accepted.push_back(accepts(static_cast<std::int64_t>(i)) ? 1 : 0);
    count = keep_if(ids, count, [&](index_t id) {
      const auto place = static_cast<std::size_t>(values[id]);
      return place < accepted.size() ? accepted[place] != 0 : accepts(values[id]);
    });
  } else if (!texts_compared_.empty()) {
    count = keep_if(ids, count, [&](index_t id) {
      const std::int64_t value = values[id];
      return ordered_.has(value) ? low_ <= value && value <= high_ : accepts(value);
    });
  }
  if (has_list_)
    count = keep_if(ids, count, [&](index_t id) {
      return std::binary_search(integers_.begin(), integers_.end(), std::int64_t{values[id]});
    });
  return count;
}

template <class T>
std::size_t Range::keep_integers(const Column<T>& column, index_t* ids, std::size_t count) const {
  if constexpr (std::is_same_v<T, Record_Id> || std::is_same_v<T, bool>) {
    constexpr bool has_nulls = std::is_same_v<T, Record_Id>;
    const auto number = [&](index_t id) {
      if constexpr (has_nulls)
        return std::int64_t{column.get(id).value()};
      else
        return std::int64_t{column.get(id)};
    };
    if (nulls_ == Nulls::only)
      return has_nulls ? keep_if(ids, count, [&](index_t id) { return number(id) == -1; }) : 0;
    if (has_nulls && nulls_ == Nulls::excluded)
      count = keep_if(ids, count, [&](index_t id) { return number(id) != -1; });
    if (low_ != least || high_ != largest)
      count = keep_if(ids, count, [&](index_t id) {
        const std::int64_t n = number(id);
        return (n >= low_) & (n <= high_);
      });
    if (has_list_)
      count = keep_if(ids, count, [&](index_t id) {
        return std::binary_search(integers_.begin(), integers_.end(), number(id));
      });
    return count;
  } else {
    if (logical_) {
      const T* const values = column.data();
      const Logical_Type& logical = *logical_;
      if (nulls_ == Nulls::only)
        return keep_if(ids, count, [&](index_t id) { return is_missing(logical, values[id]); });
      if (nulls_ == Nulls::excluded && logical.is_optional)
        count = keep_if(ids, count, [&](index_t id) { return !is_missing(logical, values[id]); });
      if (shown_ == Shown::number_text) return keep_shown(column, ids, count);
    }
    if (nulls_ == Nulls::only) return 0;
    using Limits = std::numeric_limits<T>;
    if (low_ > Limits::max() || high_ < Limits::min()) return 0;
    const T low = static_cast<T>(std::max<std::int64_t>(low_, Limits::min()));
    const T high = static_cast<T>(std::min<std::int64_t>(high_, Limits::max()));
    const T* const values = column.data();
    if (low != Limits::min() && high != Limits::max())
      count = keep_if(ids, count,
                      [=](index_t id) { return (values[id] >= low) & (values[id] <= high); });
    else if (low != Limits::min())
      count = keep_if(ids, count, [=](index_t id) { return values[id] >= low; });
    else if (high != Limits::max())
      count = keep_if(ids, count, [=](index_t id) { return values[id] <= high; });
    if (has_list_)
      count = keep_if(ids, count, [&](index_t id) {
        return std::binary_search(integers_.begin(), integers_.end(), std::int64_t{values[id]});
      });
    return count;
  }
}

template <class T>
std::size_t Range::keep_reals(const Column<T>& column, index_t* ids, std::size_t count) const {
  const T* const values = column.data();
  if (nulls_ == Nulls::only)
    return keep_if(ids, count, [=](index_t id) { return std::isnan(values[id]); });
  if (nulls_ == Nulls::any) return count;
  const double low = real_low_, high = real_high_;
  count = keep_if(ids, count, [=](index_t id) {  // false for nan
    return (double{values[id]} >= low) & (double{values[id]} <= high);
  });
  if (has_list_)
    count = keep_if(ids, count, [&](index_t id) {
      return std::binary_search(reals_.begin(), reals_.end(), double{values[id]});
    });
  return count;
}

bool Range::is_in_text_bounds(std::string_view text) const {
  if (text_low_) {
    const int order = text.compare(text_low_->text);
    if (order < 0 || (order == 0 && text_low_->is_open)) return false;
  }
  if (text_high_) {
    const int order = text.compare(text_high_->text);
    if (order > 0 || (order == 0 && text_high_->is_open)) return false;
  }
  return true;
}

std::size_t Range::keep_texts(const Column<std::string_view>& column, index_t* ids,
                              std::size_t count) const {
  if (logical_ && logical_->is_optional && nulls_ != Nulls::any)
    count = keep_if(ids, count, [&](index_t id) {
      const std::string_view value = column.get(id);
      return is_missing(*logical_, value) == (nulls_ == Nulls::only);
    });
  else if (nulls_ == Nulls::only)
    return 0;
  if (nulls_ == Nulls::only) return count;
  if (is_point()) {
    const std::string_view text = text_low_->text;
    count = keep_if(ids, count, [&](index_t id) {
      const std::string_view value = column.get(id);
      return value.size() == text.size() &&
             std::memcmp(value.data(), text.data(), text.size()) == 0;
    });
  } else if (text_low_ || text_high_) {
    count = keep_if(ids, count, [&](index_t id) { return is_in_text_bounds(column.get(id)); });
  }
  for (const Part& part : parts_)
    count = keep_if(ids, count, [&](index_t id) { return part.is_in(column.get(id)); });
  if (has_list_)
    count = keep_if(ids, count, [&](index_t id) {
      return std::binary_search(texts_.begin(), texts_.end(), column.get(id), std::less<>());
    });
  return count;
}

std::size_t Range::keep(const Column_Source& source, index_t* ids, std::size_t count) const {
  if (is_empty()) return 0;
  if (source.column == nullptr) return has_null() ? count : 0;
  return visit_type(source.code, [&]<class T>(std::type_identity<T>) -> std::size_t {
    const auto& column = static_cast<const Column<T>&>(*source.column);
    if constexpr (std::is_same_v<T, std::string_view>) {
      return keep_texts(column, ids, count);
    } else if constexpr (std::is_floating_point_v<T>) {
      return keep_reals(column, ids, count);
    } else if constexpr (std::is_same_v<T, Blob>) {
      if (nulls_ == Nulls::any) return count;
      return keep_if(ids, count, [&](index_t id) {
        return column.get(id).is_null() == (nulls_ == Nulls::only);
      });
    } else {
      return keep_integers(column, ids, count);
    }
  });
}

}  // namespace joedb
