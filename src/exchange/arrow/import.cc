#include "joedb/arrow/arrow.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "exchange/arrow/logical_input.h"
#include "exchange/arrow/source.h"
#include "joedb/format/entry.h"
#include "joedb/format/header.h"
#include "kernel/base/interrupts.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/declaration.h"
#include "kernel/table/live_fields.h"

namespace joedb::inline v1 {
namespace {

// ---- structs of the producer --------------------------------------------------------------------

template <class T>
struct Released {
  T value{};
  Released() = default;
  Released(Released&& other) noexcept : value(std::exchange(other.value, {})) {}
  Released& operator=(Released&&) = delete;
  ~Released() {
    if (value.release != nullptr) value.release(&value);
  }
};

class Source_Stream {
 public:
  explicit Source_Stream(ArrowArrayStream* stream) : stream_(stream) {
    if (stream_->release == nullptr) throw Data_Error("Arrow: a stream that was released");
  }
  ~Source_Stream() { stream_->release(stream_); }
  Source_Stream(const Source_Stream&) = delete;
  Source_Stream& operator=(const Source_Stream&) = delete;

  Released<ArrowSchema> schema() { return get<ArrowSchema>(stream_->get_schema); }
  // Returns the next item. At the end, this is an array that is marked as released.
  Released<ArrowArray> next() { return get<ArrowArray>(stream_->get_next); }

 private:
  // If a function fails, its output must be ignored, and not be released.
  template <class T>
  Released<T> get(int (*function)(ArrowArrayStream*, T*)) {
    Released<T> result;
    const int code = function(stream_, &result.value);
    if (code != 0) {
      result.value = {};
      fail(code);
    }
    return result;
  }
  [[noreturn]] void fail(int code) {
    const char* const text =
        stream_->get_last_error == nullptr ? nullptr : stream_->get_last_error(stream_);
    throw Exception(text != nullptr ? std::string("Arrow: ") + text
                                    : "Arrow: the stream fails with error " + std::to_string(code));
  }
  ArrowArrayStream* const stream_;
};

// ---- numbers ------------------------------------------------------------------------------------

// Converts a number. Returns false if `To` cannot hold it. If `round`, floating-point results may
// be rounded.
template <class To, class From>
bool convert_number(From value, To& out, bool round) {
  if constexpr (std::is_same_v<To, From>) {
    out = value;
    return true;
  } else if constexpr (std::is_same_v<To, bool>) {
    out = value != 0;
    return value == From(0) || value == From(1);
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if (!std::in_range<To>(value)) return false;
    out = static_cast<To>(value);
    return true;
  } else if constexpr (std::is_integral_v<To>) {
    const From limit = std::ldexp(From(1), std::numeric_limits<To>::digits);
    if (!(value >= -limit && value < limit) || std::trunc(value) != value) return false;
    out = static_cast<To>(value);
    return true;
  } else if constexpr (std::is_integral_v<From>) {
    out = static_cast<To>(value);
    if (round) return true;
    const To limit = std::ldexp(To(1), std::numeric_limits<From>::digits);
    return out < limit && static_cast<From>(out) == value;
  } else {
    if constexpr (sizeof(To) < sizeof(From))
      if (std::isfinite(value) && std::abs(value) > From{std::numeric_limits<To>::max()})
        return false;
    out = static_cast<To>(value);
    return round || std::isnan(value) || static_cast<From>(out) == value;
  }
}

template <class T>
std::string text_of(T value) {
  std::string text = std::to_string(value);
  if constexpr (std::is_floating_point_v<T>) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.17g", static_cast<double>(value));
    text = buffer;
  }
  return text;
}

// ---- one column and its field -------------------------------------------------------------------

struct Target {
  const Arrow_Column_Type* source = nullptr;
  std::size_t child = 0;  // index of the column in the items
  Field_Id field;
  std::string name;
  Type_Code type = Type_Code::none;
  Shared_Logical_Type logical = {};
  // No column: all values are missing. `source` has the kind null.
  bool is_omitted = false;

  std::string type_text() const {
    return logical ? declared_type_text(type, *logical) : std::string(type_name(type));
  }
};

bool is_number(Type_Code type) {
  switch (type) {
    case Type_Code::int8:
    case Type_Code::int16:
    case Type_Code::int32:
    case Type_Code::int64:
    case Type_Code::float32:
    case Type_Code::float64:
      return true;
    default:
      return false;
  }
}

// Throws Data_Error if the field cannot hold the type of the column, whatever the values are. Does
// not distinguish texts and bytes, because a string field can hold any bytes.
void require_compatible(const Target& target, const Arrow_Import_Options& options) {
  const Arrow_Kind kind = target.source->kind;
  const bool is_integer = is_arrow_integer(kind) || kind == Arrow_Kind::boolean;
  const bool is_floating = kind >= Arrow_Kind::float16 && kind <= Arrow_Kind::float64;
  bool fits = kind == Arrow_Kind::null;
  if (is_number(target.type)) fits = fits || is_integer || is_floating;
  if (target.type == Type_Code::boolean) fits = fits || is_integer;
  if (target.type == Type_Code::reference) fits = fits || is_arrow_integer(kind) || is_floating;
  const bool is_bytes = is_arrow_text(kind) || kind == Arrow_Kind::fixed_bytes;
  if (target.type == Type_Code::string) fits = fits || is_bytes;
  if (target.type == Type_Code::blob) {
    if (kind == Arrow_Kind::blob_place && !options.blob_positions)
      throw Data_Error("column " + target.name +
                       ": it has positions and sizes of blobs, which belong to the file that they "
                       "come from, and not their bytes");
    fits = fits || is_bytes || kind == Arrow_Kind::blob_place;
  }
  if (target.source->time_units != 0)
    fits = target.type == Type_Code::int64 && !target.source->is_duration;
  if (get(target.logical).kind != Logical_Type::Kind::plain)
    fits = fits_logical_type(*target.source, *target.logical);
  if (!fits)
    throw Data_Error("column " + target.name + ": its values do not fit a field of type " +
                     target.type_text());
}

// As many nulls as anyone asks for.
const ArrowArray& nulls() {
  static const ArrowArray array = [] {
    ArrowArray result{};
    result.length = result.null_count = max_arrow_length;
    return result;
  }();
  return array;
}

// True if the stored values of the field are those of the column.
bool has_same_units(const Arrow_Column_Type& column, const Logical_Type& logical) {
  if (logical.has_plain_values()) return column.time_units == 0;
  if (logical.is_optional || column.time_units == 0 || column.scale != 0) return false;
  const Logical_Type usual = usual_logical_type(column);
  const bool has_days = column.time_units < 0 || logical.kind != Logical_Type::Kind::date;
  return usual.kind == logical.kind && usual.scale == logical.scale && has_days;
}

// The rows of a column in a batch, converted to values of its field.
class Converter {
 public:
  // `first_row` is the number of the batch's first row in the stream.
  Converter(const Target& target, const Arrow_Import_Options& options, const ArrowArray& item,
            std::int64_t first_row)
      : target_(target),
        options_(options),
        first_row_(first_row),
        logical_(get(target.logical)),
        rows_(*target.source, target.is_omitted ? nulls() : *item.children[target.child],
              target.is_omitted ? 0 : item.offset, item.length) {
    if (logical_.kind != Logical_Type::Kind::plain)
      input_.emplace(*target.source, logical_, options.round);
  }

  // Returns a pointer to the values in the array if they need no conversion; otherwise null.
  template <class T>
  const T* find_in_place() const {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (rows_.has_dictionary() || rows_.may_have_nulls() ||
          target_.source->kind != kind_of<T>() || !has_same_units(*target_.source, logical_))
        return nullptr;
      const char* const data = rows_.values().template data<T>();
      return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0
                 ? reinterpret_cast<const T*>(data)
                 : nullptr;
    } else {
      return nullptr;
    }
  }

  // Returns true if the buffers prove that a string field can hold all texts.
  bool has_only_valid_texts() const {
    return is_arrow_text(target_.source->kind) && !rows_.may_have_nulls() &&
           !logical_.is_optional && logical_.kind != Logical_Type::Kind::uuid &&
           rows_.values().max_text_size() <=
               static_cast<std::int64_t>(Column<std::string_view>::max_size);
  }

  struct Range {
    std::int64_t begin;
    std::int64_t end;
  };
  Range all() const { return {0, rows_.size()}; }

  // Calls f(row, value) for each row in the range. T is the type of the field's values; for a blob,
  // it is std::string_view, whose data() is null if the blob is null. Throws Data_Error.
  template <class T, class F>
  void for_each(Range range, F f) const {
    const Arrow_Kind kind = target_.source->kind;
    if (kind == Arrow_Kind::null) {
      for (std::int64_t row = range.begin; row < range.end; ++row) f(row, null<T>(row));
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      texts(range, f);
    } else if constexpr (std::is_same_v<T, Blob>) {
      loop<T>(range, f, [&](std::int64_t row, std::int64_t place) { return blob(row, place); });
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      numbers<T>(range, f,
                 [&]<class S>(std::int64_t row, S value) { return reference(row, value); });
    } else {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        if (input_) return logical_numbers<T>(range, f);
      numbers<T>(range, f, [&]<class S>(std::int64_t row, S value) {
        if constexpr (std::is_same_v<T, std::int64_t> && std::is_integral_v<S>)
          if (target_.source->time_units != 0) return seconds(row, std::int64_t(value));
        T result{};
        if (!convert_number(value, result, options_.round)) fail(row, text_of(value));
        if constexpr (std::is_integral_v<T>)
          if (is_missing(logical_, result)) fail(row, text_of(value));
        return result;
      });
    }
  }

  // Returns the place of a value, for messages.
  std::string place(std::int64_t row) const {
    return "column " + target_.name + ", row " + std::to_string(first_row_ + row);
  }

 private:
  template <class T>
  static constexpr Arrow_Kind kind_of() {
    if constexpr (std::is_same_v<T, float>) return Arrow_Kind::float32;
    if constexpr (std::is_same_v<T, double>) return Arrow_Kind::float64;
    if constexpr (sizeof(T) == 1) return Arrow_Kind::int8;
    if constexpr (sizeof(T) == 2) return Arrow_Kind::int16;
    if constexpr (sizeof(T) == 4) return Arrow_Kind::int32;
    return Arrow_Kind::int64;
  }

  template <class T, class F, class Read>
  void loop(Range range, F f, Read read) const {
    if (!rows_.may_have_nulls() && !rows_.has_dictionary()) {
      for (std::int64_t row = range.begin; row < range.end; ++row) f(row, T(read(row, row)));
      return;
    }
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      const std::int64_t place = rows_.place(row);
      f(row, place < 0 ? null<T>(row) : T(read(row, place)));
    }
  }
  // Calls read(text), where text(place) returns a text or bytes of the array.
  template <class Read>
  void with_texts(Read read) const {
    const Arrow_Values& values = rows_.values();
    switch (target_.source->kind) {
      case Arrow_Kind::text:
        return read([&](std::int64_t place) { return values.text<std::int32_t>(place); });
      case Arrow_Kind::large_text:
        return read([&](std::int64_t place) { return values.text<std::int64_t>(place); });
      case Arrow_Kind::fixed_bytes:
        return read([&](std::int64_t place) { return values.fixed(place); });
      default:
        return read([&](std::int64_t place) { return values.view(place); });
    }
  }
  template <class F>
  void texts(Range range, F f) const {
    with_texts([&](auto text) {
      if (!logical_.is_optional && logical_.kind != Logical_Type::Kind::uuid)
        return loop<std::string_view>(
            range, f, [&](std::int64_t, std::int64_t place) { return text(place); });
      loop<std::string_view>(range, f, [&](std::int64_t row, std::int64_t place) {
        std::string_view value = text(place);
        if (logical_.kind == Logical_Type::Kind::uuid) value = uuid(row, value);
        if (is_missing(logical_, value)) fail(row, "a text that would mean null");
        return value;
      });
    });
  }
  // Returns the 16 bytes of a UUID that is given as such, or as text.
  std::string_view uuid(std::int64_t row, std::string_view value) const {
    if (value.size() == 16) return value;
    auto bytes = parse_logical_bytes(value, logical_);
    if (!bytes) fail(row, std::string(value));
    return uuids_.emplace_back(*std::move(bytes));
  }
  // Converts the values to stored values of a logical type.
  template <class T, class F>
  void logical_numbers(Range range, F f) const {
    const Arrow_Values& values = rows_.values();
    const auto stored = [&](std::int64_t row, std::optional<std::int64_t> value, auto text) {
      if (!value || !std::in_range<T>(*value) || is_missing(logical_, static_cast<T>(*value)))
        fail(row, text());
      return static_cast<T>(*value);
    };
    if (target_.source->kind == Arrow_Kind::decimal128)
      return loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
        const auto high = static_cast<std::int64_t>(values.half(place, true));
        return stored(row, input_->of_decimal(values.half(place, false), high),
                      [] { return "a decimal number"; });
      });
    if (is_arrow_text(target_.source->kind))
      return with_texts([&](auto text) {
        loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
          const std::string_view name = text(place);
          return stored(row, input_->of_name(name), [&] { return std::string(name); });
        });
      });
    numbers<T>(range, f, [&]<class S>(std::int64_t row, S value) {
      std::optional<std::int64_t> result;
      if constexpr (std::is_floating_point_v<S>)
        result = input_->of_float(value);
      else if (std::in_range<std::int64_t>(value))
        result = input_->of_integer(static_cast<std::int64_t>(value));
      return stored(row, result, [&] { return text_of(value); });
    });
  }
  // Calls read(row, value) for each value of the array.
  template <class T, class F, class Read>
  void numbers(Range range, F f, Read read) const {
    const Arrow_Values& values = rows_.values();
    switch (target_.source->kind) {
      case Arrow_Kind::boolean:
        return loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
          return read(row, static_cast<std::uint8_t>(values.boolean(place)));
        });
      case Arrow_Kind::float16:
        return loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
          return read(row, float_of_half(values.get<std::uint16_t>(place)));
        });
      case Arrow_Kind::float32:
        return loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
          return read(row, values.get<float>(place));
        });
      case Arrow_Kind::float64:
        return loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
          return read(row, values.get<double>(place));
        });
      default:
        return visit_arrow_integer(target_.source->kind, [&]<class S>(std::type_identity<S>) {
          loop<T>(range, f, [&](std::int64_t row, std::int64_t place) {
            return read(row, values.get<S>(place));
          });
        });
    }
  }

  template <class T>
  T null(std::int64_t row) const {
    if (logical_.is_optional) return missing_value<T>(logical_);
    const bool has_null = target_.type == Type_Code::reference || target_.type == Type_Code::blob;
    if (!has_null && !options_.null_is_default)
      throw Data_Error(place(row) + ": null, which a field of type " + target_.type_text() +
                       " cannot be");
    return T();
  }
  Blob blob(std::int64_t row, std::int64_t place) const {
    if (rows_.positions().is_null(place) || rows_.sizes().is_null(place))
      throw Data_Error(this->place(row) + ": a blob whose position or size is null");
    const Blob result(rows_.positions().get<std::int64_t>(place),
                      rows_.sizes().get<std::int64_t>(place));
    try {
      Database::require_valid(result);
    } catch (const Data_Error& e) {
      throw Data_Error(this->place(row) + ": " + e.what());
    }
    return result;
  }
  // Seconds since 1970 of a time; with `round`, the second that it is in.
  std::int64_t seconds(std::int64_t row, std::int64_t value) const {
    const std::int64_t units = target_.source->time_units;
    if (units < 0) return -units * value;  // from 32 bits
    const std::int64_t rest = (value % units + units) % units;
    if (rest != 0 && !options_.round)
      throw Data_Error(place(row) + ": a time with a fraction of a second, which a field of type " +
                       std::string(type_name(target_.type)) + " cannot hold, if it is not rounded");
    return value / units - (value % units < 0 ? 1 : 0);
  }
  // Where a data frame has no nulls for integers, references are floats, and NaN is null.
  template <class S>
  Record_Id reference(std::int64_t row, S value) const {
    if constexpr (std::is_floating_point_v<S>) {
      std::int64_t id = 0;
      if (std::isnan(value)) return {};
      if (convert_number(value, id, false)) return reference(row, id);
    } else if constexpr (std::is_integral_v<S>) {
      if (std::in_range<std::int64_t>(value)) {
        const auto id = static_cast<std::int64_t>(value);
        if (id >= -1 && id < static_cast<std::int64_t>(max_compact)) return Record_Id(id);
      }
    }
    fail(row, text_of(value));
  }

  [[noreturn]] void fail(std::int64_t row, const std::string& value) const {
    throw Data_Error(place(row) + ": " + value + " does not fit a field of type " +
                     target_.type_text());
  }

  const Target& target_;
  const Arrow_Import_Options& options_;
  std::int64_t first_row_;
  const Logical_Type& logical_;
  std::optional<Logical_Input> input_;
  mutable std::deque<std::string> uuids_;  // of texts
  Arrow_Rows rows_;
};

// ---- keys of unique indexes ---------------------------------------------------------------------

// The new keys of a unique index. Their texts point into the batches.
class New_Keys {
 public:
  New_Keys(const Table& table, const Index& index) : table_(table), index_(index) {
    for (const Field_Id field : index.definition().fields)
      add_default(*table.find_field(field)->column);
  }

  void add_default(const Column_Base& column) {
    default_.push_back(visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      return key_part<T>(column.logical().is_optional ? missing_value<T>(column.logical()) : T());
    }));
  }

  // Sets the value of one row for one field of the index. Rows without a value have the default
  // value.
  void add(std::size_t part, std::int64_t row, Key_Part value) {
    while (parts_.size() <= static_cast<std::size_t>(row) * default_.size())
      parts_.insert(parts_.end(), default_.begin(), default_.end());
    parts_[static_cast<std::size_t>(row) * default_.size() + part] = value;
  }

  // Throws Unique_Violation.
  void require_unique(index_t rows) {
    const std::size_t width = default_.size();
    std::vector<index_t> order(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<index_t>(i);
    const auto key = [&](index_t row) {
      return Key(&parts_[static_cast<std::size_t>(row) * width], width);
    };
    Interrupt_Counter look;
    const auto compare = [&](index_t a, index_t b) {
      look();
      const auto less = [](const Key_Part& x, const Key_Part& y) {
        return x.number != y.number ? x.number < y.number : x.text < y.text;
      };
      const Key x = key(a), y = key(b);
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), less);
    };
    std::stable_sort(order.begin(), order.end(), compare);
    for (std::size_t i = 0; i < order.size(); ++i) {
      look();
      if (!index_.counts(key(order[i]))) continue;
      if (const Record_Id old = index_.find(key(order[i])); !old.is_null())
        fail("row " + std::to_string(order[i]) + " has a key that record " +
                 std::to_string(old.value()) + " has",
             old);
      if (i > 0 && !compare(order[i - 1], order[i]))
        fail("rows " + std::to_string(order[i - 1]) + " and " + std::to_string(order[i]) +
                 " have the same key",
             {});
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what, Record_Id old) const {
    const std::string& name = index_.definition().name;
    throw Unique_Violation("table " + table_.name() + ", unique index " + name + ": " + what, name,
                           {}, old);
  }

  const Table& table_;
  const Index& index_;
  std::vector<Key_Part> default_;
  std::vector<Key_Part> parts_;
};

// ---- the import ---------------------------------------------------------------------------------

class Importer {
 public:
  Importer(Writable_Database& database, Table_Id table, const Arrow_Import_Options& options)
      : database_(database), table_(database.get_database().table(table)), options_(options) {}

  Arrow_Imported run(ArrowArrayStream* in) {
    Source_Stream stream(in);
    find_targets(stream.schema().value);
    read(stream);
    require_unique();
    Arrow_Imported result{rows_, {}};
    if (rows_ == 0) return result;
    if (options_.use_ids) require_ids();
    result.first = options_.use_ids ? Record_Id(ids_[0]) : Record_Id(table_.records().size());
    write(result.first);
    return result;
  }

 private:
  struct Item {
    Item(Released<ArrowArray> item, index_t row) : array(std::move(item)), first_row(row) {}
    Released<ArrowArray> array;
    index_t first_row;
    std::vector<Converter> columns = {};  // one for each target
  };

  // Finds the field for each column. A column to skip may have any type.
  void find_targets(const ArrowSchema& schema) {
    require_struct(schema);
    columns_ = static_cast<std::size_t>(schema.n_children);
    for (std::size_t i = 0; i < columns_; ++i) {
      const ArrowSchema& column = *schema.children[i];
      std::string name = arrow_name(column);
      if (const auto renamed = options_.rename.find(name); renamed != options_.rename.end())
        name = renamed->second;
      if (name == "__id") {
        if (options_.use_ids) set_ids_target(column, i);
        continue;
      }
      const Field_Id field = table_.find_field(name);
      if (field.is_null()) {
        if (options_.ignore_unknown) continue;
        throw Data_Error("table " + table_.name() + " has no field " + name);
      }
      const Column_Base& target = *table_.find_field(field)->column;
      targets_.push_back({&types_.emplace_back(column), i, field, name, target.type().code,
                          target.shared_logical()});
      require_compatible(targets_.back(), options_);
    }
    add_omitted();
    if (options_.use_ids && ids_target_.source == nullptr)
      throw Data_Error("there is no column __id");
    // Write the fields in this order, because a record enters a unique index with the last field of
    // the index.
    const auto id = [](const Target& target) { return target.field; };
    std::ranges::stable_sort(targets_, {}, id);
    for (std::size_t i = 1; i < targets_.size(); ++i)
      if (targets_[i].field == targets_[i - 1].field)
        throw Data_Error("column " + targets_[i].name + ": it comes twice");
  }

  // Optional fields without a column have no value in the new records.
  void add_omitted() {
    ArrowSchema null{};
    null.format = "n";
    for_each_field(table_, [&](Field_Id id, const Field& field) {
      const auto is_target = [&](const Target& target) { return target.field == id; };
      if (!field.column->logical().is_optional || std::ranges::any_of(targets_, is_target)) return;
      targets_.push_back({&types_.emplace_back(null), 0, id, field.name, field.column->type().code,
                          field.column->shared_logical(), true});
    });
  }

  void set_ids_target(const ArrowSchema& column, std::size_t i) {
    if (ids_target_.source != nullptr) throw Data_Error("column __id: it comes twice");
    ids_target_ = {&types_.emplace_back(column), i, {}, "__id", Type_Code::int64};
    if (!is_arrow_integer(ids_target_.source->kind))
      throw Data_Error("column __id: ids are integers");
  }

  // Reads all batches, and checks them.
  void read(Source_Stream& stream) {
    while (true) {
      Released<ArrowArray> array = stream.next();
      if (array.value.release == nullptr) return;
      require_item(array.value);
      Item& item = items_.emplace_back(std::move(array), rows_);
      item.columns.reserve(targets_.size());
      for (const Target& target : targets_) {
        options_.check();
        check(target,
              item.columns.emplace_back(target, options_, item.array.value, item.first_row));
      }
      if (options_.use_ids) read_ids(item);
      rows_ += item.array.value.length;
    }
  }

  // Use default options, with which a null id is an error.
  void read_ids(const Item& item) {
    const Arrow_Import_Options options;
    const Converter converter(ids_target_, options, item.array.value, item.first_row);
    converter.for_each<std::int64_t>(converter.all(),
                                     [&](std::int64_t, std::int64_t id) { ids_.push_back(id); });
  }

  void require_item(const ArrowArray& item) const {
    const auto fail = [](const std::string& what) { throw Data_Error("Arrow: " + what); };
    if (item.length < 0 || item.offset < 0 || item.length > max_arrow_length ||
        item.offset > max_arrow_length)
      fail("an item with an impossible length or offset");
    if (item.n_children != static_cast<std::int64_t>(columns_))
      fail("an item with " + std::to_string(item.n_children) + " children; the schema has " +
           std::to_string(columns_));
    if (item.n_children > 0 && item.children == nullptr) fail("an item without its children");
    for (std::int64_t i = 0; i < item.n_children; ++i)
      if (item.children[i] == nullptr || item.children[i]->release == nullptr)
        fail("an item with a child that was released");
    const auto* const validity = item.n_buffers > 0 && item.buffers != nullptr
                                     ? static_cast<const unsigned char*>(item.buffers[0])
                                     : nullptr;
    if (item.null_count > 0 && validity == nullptr)
      fail("an item with nulls, and without a bitmap of them");
    if (item.null_count == 0 || validity == nullptr) return;
    for (std::int64_t row = 0; row < item.length; ++row) {
      const std::int64_t i = item.offset + row;
      if ((validity[i / 8] >> (i % 8) & 1) == 0)
        fail("row " + std::to_string(rows_ + row) + " is null");
    }
  }

  // Throws Data_Error if a value cannot be written. Collects the new keys of unique indexes.
  void check(const Target& target, const Converter& converter) {
    const bool has_keys = has_unique_index(target.field);
    visit_type(target.type, [&]<class T>(std::type_identity<T>) {
      if (!has_keys && converter.find_in_place<T>() != nullptr) return;
      if constexpr (std::is_same_v<T, std::string_view>)
        if (!has_keys && converter.has_only_valid_texts()) return;
      if constexpr (std::is_same_v<T, Blob>)
        if (target.source->kind != Arrow_Kind::blob_place) return check_blobs(target, converter);
      converter.for_each<T>(converter.all(), [&](std::int64_t row, T value) {
        if constexpr (std::is_same_v<T, std::string_view>) Database::require_size(value);
        if (has_keys) [[unlikely]]
          add_key(target.field, rows_ + row, key_part<T>(value));
      });
    });
  }
  // Checks new blobs. As keys, they get unique numbers instead of their positions, which are not
  // known yet.
  void check_blobs(const Target& target, const Converter& converter) {
    const bool has_keys = has_unique_index(target.field);
    converter.for_each<std::string_view>(converter.all(), [&](std::int64_t row,
                                                              std::string_view bytes) {
      if (bytes.size() == std::size_t{integrity_payload_size} && decode_integrity_payload(bytes))
        throw Data_Error(converter.place(row) + ": a blob must not look like an integrity entry");
      if (!has_keys) return;
      const Key_Part new_place{~static_cast<std::uint64_t>(rows_ + row)};
      add_key(target.field, rows_ + row,
              bytes.data() == nullptr ? key_part<Blob>(Blob()) : new_place);
    });
  }

  // ---- unique indexes

  // Returns true if the import writes the last field of a unique index, so that records enter the
  // index.
  bool is_filled(const Index& index) const {
    const std::vector<Field_Id>& fields = index.definition().fields;
    if (!index.definition().is_unique || !index.is_complete()) return false;
    const Field_Id last = *std::max_element(fields.begin(), fields.end());
    return std::ranges::any_of(targets_, [&](const Target& t) { return t.field == last; });
  }
  bool has_unique_index(Field_Id field) const {
    return std::ranges::any_of(table_.indexes(), [&](const auto& index) {
      return index->has_field(field) && is_filled(*index);
    });
  }
  void add_key(Field_Id field, std::int64_t row, Key_Part value) {
    look_();
    for (const auto& index : table_.indexes()) {
      if (!index->has_field(field) || !is_filled(*index)) continue;
      New_Keys& keys = keys_.try_emplace(index.get(), table_, *index).first->second;
      const std::vector<Field_Id>& fields = index->definition().fields;
      for (std::size_t part = 0; part < fields.size(); ++part)
        if (fields[part] == field) keys.add(part, row, value);
    }
  }
  void require_unique() {
    for (auto& [index, keys] : keys_) keys.require_unique(rows_);
  }

  // ---- ids

  // Throws Data_Error if the ids cannot be inserted.
  void require_ids() {
    std::vector<index_t> sorted(ids_.begin(), ids_.end());
    std::sort(sorted.begin(), sorted.end());
    const auto fail = [](index_t id, const char* what) {
      throw Data_Error("column __id: record " + std::to_string(id) + what);
    };
    if (sorted.front() < 0) fail(sorted.front(), " cannot exist");
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      fail(*twice, " comes twice");
    // Like Database::apply, count the rows of a vector against the limit on skipped ids.
    index_t left = database_.get_database().budget().skip;
    index_t next = table_.records().size();
    for_each_run(sorted, [&](std::size_t begin, std::size_t size) {
      const index_t id = sorted[begin];
      const index_t skipped = std::max<index_t>(id - next, 0);
      if (skipped > left && skipped > 0) fail(id, ": too many ids are skipped");
      left -= skipped;
      if (size > 1) left -= static_cast<index_t>(size);
      next = std::max(next, id + static_cast<index_t>(size));
    });
    for (const index_t id : sorted)
      if (table_.records().is_used(id)) fail(id, " exists already");
  }

  // ---- writing

  void write(Record_Id first) {
    if (!options_.use_ids)
      database_.write(Insert_Vector{table_.id(), first, rows_});
    else
      insert_ids();
    for (Item& item : items_) {
      for (std::size_t i = 0; i < targets_.size(); ++i)
        write(targets_[i], item.columns[i], item.first_row, first);
      item.columns.clear();
      Released<ArrowArray>(std::move(item.array));  // frees memory before the next item
    }
  }

  // Calls f(row, size) for each run of rows whose ids are consecutive.
  template <class F>
  static void for_each_run(std::span<const index_t> ids, F f) {
    for (std::size_t begin = 0; begin < ids.size();) {
      std::size_t end = begin + 1;
      while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
      f(begin, end - begin);
      begin = end;
    }
  }

  // Inserts in ascending order, so that no insertion skips an id that is inserted later.
  void insert_ids() {
    std::vector<index_t> sorted(ids_.begin(), ids_.end());
    std::sort(sorted.begin(), sorted.end());
    for_each_run(sorted, [&](std::size_t begin, std::size_t size) {
      look_();
      if (size == 1)
        database_.write(Insert{table_.id(), Record_Id(sorted[begin])});
      else
        database_.write(
            Insert_Vector{table_.id(), Record_Id(sorted[begin]), static_cast<index_t>(size)});
    });
  }

  // Number of rows per piece. Values to be converted are written in pieces, which fit in the cache.
  static constexpr std::int64_t piece = std::int64_t{1} << 14;

  // `first_row` is the number of the item's first row; `first` is the id of the first row of the
  // import.
  void write(const Target& target, const Converter& converter, index_t first_row, Record_Id first) {
    const std::int64_t rows = converter.all().end;
    look_for_interrupt();
    visit_type(target.type, [&]<class T>(std::type_identity<T>) {
      if (const T* const values = converter.find_in_place<T>(); values != nullptr)
        return write(target, first_row, first,
                     std::span<const T>(values, static_cast<std::size_t>(rows)));
      const auto values = std::make_unique<T[]>(static_cast<std::size_t>(std::min(rows, piece)));
      for (std::int64_t begin = 0; begin < rows; begin += piece) {
        look_for_interrupt();
        const std::int64_t end = std::min(begin + piece, rows);
        convert<T>(target, converter, {begin, end}, values.get());
        write(target, first_row + begin, first,
              std::span<const T>(values.get(), static_cast<std::size_t>(end - begin)));
      }
    });
  }
  template <class T>
  void convert(const Target& target, const Converter& converter, Converter::Range range, T* out) {
    if constexpr (std::is_same_v<T, Blob>)
      if (target.source->kind != Arrow_Kind::blob_place)
        return converter.for_each<std::string_view>(range, [&](std::int64_t row,
                                                               std::string_view bytes) {
          out[row - range.begin] = bytes.data() == nullptr ? Blob() : database_.write_blob(bytes);
        });
    converter.for_each<T>(range,
                          [&](std::int64_t row, T value) { out[row - range.begin] = value; });
  }

  template <class T>
  void write(const Target& target, index_t first_row, Record_Id first, std::span<const T> values) {
    if (!options_.use_ids)
      return database_.write_vector(table_.id(), first + first_row, target.field, values);
    const std::span<const index_t> ids =
        std::span<const index_t>(ids_).subspan(static_cast<std::size_t>(first_row), values.size());
    for_each_run(ids, [&](std::size_t begin, std::size_t size) {
      look_();
      const Record_Id record(ids[begin]);
      if (size == 1)
        database_.write(Update<T>{table_.id(), record, target.field, values[begin]});
      else
        database_.write_vector(table_.id(), record, target.field, values.subspan(begin, size));
    });
  }

  Writable_Database& database_;
  Table& table_;
  const Arrow_Import_Options options_;
  std::size_t columns_ = 0;  // number of columns in the schema
  std::deque<Arrow_Column_Type> types_;
  std::vector<Target> targets_;  // sorted by field
  Target ids_target_;            // the column `__id`, if use_ids
  std::vector<Item> items_;
  index_t rows_ = 0;
  std::vector<index_t> ids_;  // ids of the rows, if use_ids
  std::map<const Index*, New_Keys> keys_;
  Interrupt_Counter look_;
};

// ---- tables for a schema ------------------------------------------------------------------------

Type_Code usual_type(const Arrow_Column_Type& column) {
  switch (column.kind) {
    case Arrow_Kind::boolean:
      return Type_Code::boolean;
    case Arrow_Kind::int8:
      return Type_Code::int8;
    case Arrow_Kind::uint8:
    case Arrow_Kind::int16:
      return Type_Code::int16;
    case Arrow_Kind::uint16:
    case Arrow_Kind::int32:
      return Type_Code::int32;
    case Arrow_Kind::uint32:
    case Arrow_Kind::int64:
    case Arrow_Kind::uint64:
      return Type_Code::int64;
    case Arrow_Kind::float16:
    case Arrow_Kind::float32:
      return Type_Code::float32;
    case Arrow_Kind::float64:
      return Type_Code::float64;
    case Arrow_Kind::text:
    case Arrow_Kind::large_text:
    case Arrow_Kind::text_view:
      return column.is_bytes ? Type_Code::blob : Type_Code::string;
    case Arrow_Kind::blob_place:
    case Arrow_Kind::fixed_bytes:
      return Type_Code::blob;
    case Arrow_Kind::decimal128:
    case Arrow_Kind::null:
      break;
  }
  return Type_Code::none;
}

// The type of a new field.
struct Field_Type {
  Type type;
  Logical_Type logical = {};
};

// The type that `joedb.type` has, if it is not plain, and its values are those of the column.
std::optional<Field_Type> declared_type(const Arrow_Column_Type& column) {
  std::string problem;
  const auto declared = parse_declared_type(column.joedb_type, problem);
  if (!declared || declared->logical.is_plain()) return {};
  const Target target{&column,
                      0,
                      {},
                      column.name,
                      declared->stored,
                      std::make_shared<Logical_Type>(declared->logical)};
  try {
    require_compatible(target, {});
  } catch (const Data_Error&) {
    return {};
  }
  return Field_Type{{declared->stored, {}}, declared->logical};
}

void make_optional(Field_Type& field) {
  const Type_Code code = field.type.code;
  if (code == Type_Code::reference || code == Type_Code::blob) return;
  field.logical.is_optional = true;
  if (code != Type_Code::boolean) return;
  field.type.code = Type_Code::int8;
  field.logical.kind = Logical_Type::Kind::boolean;
}

// `table` is the id that the new table will get.
Field_Type type_for(const Database& database, const std::string& name, Table_Id table,
                    const Arrow_Column_Type& column) {
  const Type_Code usual = usual_type(column);
  const bool is_text = is_arrow_text(column.kind);
  if (const auto reference = parse_reference_text(column.joedb_type);
      reference && is_arrow_integer(column.kind)) {
    const Logical_Type rule{.on_delete = reference->rule};
    if (reference->table == name) return {{Type_Code::reference, table}, rule};
    const Table* const found = database.find_table(reference->table);
    if (found == nullptr)
      throw Data_Error("column " + column.name + ": it refers to a table " +
                       std::string(reference->table) + ", which does not exist");
    return {{Type_Code::reference, found->id()}, rule};
  }
  if (column.joedb_type == "string" && is_text) return {{Type_Code::string, {}}};
  if (column.joedb_type == "blob" && is_text) return {{Type_Code::blob, {}}};
  if (const auto declared = declared_type(column)) return *declared;
  if (const Logical_Type logical = usual_logical_type(column); !logical.is_plain()) {
    std::string problem;
    const auto made = parse_declared_type(declared_type_text(Type_Code::none, logical), problem);
    return {{made->stored, {}}, made->logical};
  }
  if (column.kind == Arrow_Kind::decimal128)
    throw Data_Error("column " + column.name +
                     ": a decimal has 0 to 18 digits behind the point, not " +
                     std::to_string(column.scale));
  if (usual == Type_Code::none)
    throw Data_Error("column " + column.name + ": all its values are null, which have no type");
  return {{usual, {}}};
}

}  // namespace

Arrow_Imported import_stream(Writable_Database& database, Table_Id table, ArrowArrayStream* in,
                             const Arrow_Import_Options& options) {
  std::optional<Importer> importer;
  try {
    importer.emplace(database, table, options);
  } catch (...) {
    if (in->release != nullptr) in->release(in);
    throw;
  }
  return importer->run(in);
}

Table_Id create_table_for(Writable_Database& database, const std::string& name,
                          const ArrowSchema& schema, std::span<const std::string> optional) {
  const Database& content = database.get_database();
  const Create_Table create{name};
  content.prepare(create);
  const Table_Id id(static_cast<std::uint16_t>(content.tables().size() + 1));
  std::vector<std::pair<std::string, Field_Type>> fields;
  std::set<std::string, std::less<>> names;
  require_struct(schema);
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (arrow_name(*schema.children[i]) == "__id") continue;
    const Arrow_Column_Type column(*schema.children[i]);
    if (!is_identifier(column.name))
      throw Data_Error("column \"" + column.name +
                       "\": the name of a field has ASCII letters, digits and single underscores, "
                       "and begins with no digit");
    if (!names.insert(column.name).second)
      throw Data_Error("column " + column.name + ": it comes twice");
    fields.emplace_back(column.name, type_for(content, name, id, column));
    if (std::ranges::find(optional, column.name) != optional.end())
      make_optional(fields.back().second);
  }
  if (fields.size() > 65535) throw Data_Error("a table can have at most 65535 fields");
  database.write(create);
  for (const auto& [field, type] : fields) {
    database.write(Add_Field{id, field, type.type});
    const Table& table = database.get_database().table(id);
    if (!type.logical.is_plain()) declare_type(database, id, table.find_field(field), type.logical);
  }
  return id;
}

}  // namespace joedb::inline v1
