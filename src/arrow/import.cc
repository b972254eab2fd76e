#include "joedb/arrow/import.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "arrow/source.h"
#include "joedb/format/compact.h"

namespace joedb::inline v1 {
namespace {

// ---- what belongs to others ---------------------------------------------------------------------

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

  Released<ArrowSchema> schema() {
    Released<ArrowSchema> result;
    require(stream_->get_schema(stream_, &result.value));
    return result;
  }
  // Released at the end.
  Released<ArrowArray> next() {
    Released<ArrowArray> result;
    require(stream_->get_next(stream_, &result.value));
    return result;
  }

 private:
  void require(int code) {
    if (code == 0) return;
    const char* const text =
        stream_->get_last_error == nullptr ? nullptr : stream_->get_last_error(stream_);
    throw Exception(text != nullptr ? std::string("Arrow: ") + text
                                    : "Arrow: the stream fails with error " + std::to_string(code));
  }
  ArrowArrayStream* const stream_;
};

// ---- numbers ------------------------------------------------------------------------------------

// False if the value is not one of To. Floating-point values are rounded if `round`.
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

// ---- one column, and the field that it goes to --------------------------------------------------

struct Target {
  const Arrow_Column_Type* source = nullptr;
  std::size_t child = 0;  // of the items
  Field_Id field;
  std::string name;
  Type_Code type = Type_Code::none;
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

// What no value can change. Texts are bytes for a field: it can have any.
void require_compatible(const Target& target, const Arrow_Import_Options& options) {
  const Arrow_Kind kind = target.source->kind;
  const bool is_integer = is_arrow_integer(kind) || kind == Arrow_Kind::boolean;
  const bool is_floating = kind >= Arrow_Kind::float16 && kind <= Arrow_Kind::float64;
  bool fits = kind == Arrow_Kind::null;
  if (is_number(target.type)) fits = fits || is_integer || is_floating;
  if (target.type == Type_Code::boolean) fits = fits || is_integer;
  if (target.type == Type_Code::reference) fits = fits || is_arrow_integer(kind);
  if (target.type == Type_Code::string) fits = fits || is_arrow_text(kind);
  if (target.type == Type_Code::blob) {
    if (kind == Arrow_Kind::blob_place && !options.blob_positions)
      throw Data_Error("column " + target.name +
                       ": it has positions and sizes of blobs, which belong to the file that they "
                       "come from, and not their bytes");
    fits = fits || is_arrow_text(kind) || kind == Arrow_Kind::blob_place;
  }
  if (!fits)
    throw Data_Error("column " + target.name + ": its values do not fit a field of type " +
                     std::string(type_name(target.type)));
}

// The rows of one column in one batch, as values of its field.
class Converter {
 public:
  // `first_row`: of the batch, in the stream.
  Converter(const Target& target, const Arrow_Import_Options& options, const ArrowArray& item,
            std::int64_t first_row)
      : target_(target),
        options_(options),
        first_row_(first_row),
        rows_(*target.source, *item.children[target.child], item.offset, item.length) {}

  // The values in the array, if they are those of the field.
  template <class T>
  const T* find_in_place() const {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (rows_.has_dictionary() || rows_.may_have_nulls() || target_.source->kind != kind_of<T>())
        return nullptr;
      const char* const data = rows_.values().template data<T>();
      return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0
                 ? reinterpret_cast<const T*>(data)
                 : nullptr;
    } else {
      return nullptr;
    }
  }

  // Calls f(row, value) for each row; T is the type of values of the field, or std::string_view for
  // the bytes of a blob. Null blobs have no data. Throws Data_Error.
  template <class T, class F>
  void for_each(F f) const {
    const Arrow_Kind kind = target_.source->kind;
    if (kind == Arrow_Kind::null) {
      for (std::int64_t row = 0; row < rows_.size(); ++row) f(row, null<T>(row));
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      loop<T>(f, [&](std::int64_t, std::int64_t place) { return text(place); });
    } else if constexpr (std::is_same_v<T, Blob>) {
      loop<T>(f, [&](std::int64_t row, std::int64_t place) { return blob(row, place); });
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      numbers<T>(f, [&]<class S>(std::int64_t row, S value) { return reference(row, value); });
    } else {
      numbers<T>(f, [&]<class S>(std::int64_t row, S value) {
        T result{};
        if (!convert_number(value, result, options_.round)) fail(row, text_of(value));
        return result;
      });
    }
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
  void loop(F f, Read read) const {
    const std::int64_t size = rows_.size();
    if (!rows_.may_have_nulls() && !rows_.has_dictionary()) {
      for (std::int64_t row = 0; row < size; ++row) f(row, T(read(row, row)));
      return;
    }
    for (std::int64_t row = 0; row < size; ++row) {
      const std::int64_t place = rows_.place(row);
      f(row, place < 0 ? null<T>(row) : T(read(row, place)));
    }
  }
  // read(row, value), with the value of the array.
  template <class T, class F, class Read>
  void numbers(F f, Read read) const {
    const Arrow_Values& values = rows_.values();
    switch (target_.source->kind) {
      case Arrow_Kind::boolean:
        return loop<T>(f, [&](std::int64_t row, std::int64_t place) {
          return read(row, static_cast<std::uint8_t>(values.boolean(place)));
        });
      case Arrow_Kind::float16:
        return loop<T>(f, [&](std::int64_t row, std::int64_t place) {
          return read(row, float_of_half(values.get<std::uint16_t>(place)));
        });
      case Arrow_Kind::float32:
        return loop<T>(f, [&](std::int64_t row, std::int64_t place) {
          return read(row, values.get<float>(place));
        });
      case Arrow_Kind::float64:
        return loop<T>(f, [&](std::int64_t row, std::int64_t place) {
          return read(row, values.get<double>(place));
        });
      default:
        return visit_arrow_integer(target_.source->kind, [&]<class S>(std::type_identity<S>) {
          loop<T>(f, [&](std::int64_t row, std::int64_t place) {
            return read(row, values.get<S>(place));
          });
        });
    }
  }

  template <class T>
  T null(std::int64_t row) const {
    const bool has_null = target_.type == Type_Code::reference || target_.type == Type_Code::blob;
    if (!has_null && !options_.null_is_default)
      throw Data_Error(place(row) + ": null, which a field of type " +
                       std::string(type_name(target_.type)) + " cannot be");
    return T();
  }
  // Never without data.
  std::string_view text(std::int64_t place) const {
    const std::string_view text = rows_.values().text(place);
    return text.data() == nullptr ? std::string_view("") : text;
  }
  Blob blob(std::int64_t row, std::int64_t place) const {
    const Blob result(rows_.positions().get<std::int64_t>(place),
                      rows_.sizes().get<std::int64_t>(place));
    try {
      Database::require_valid(result);
    } catch (const Data_Error& e) {
      throw Data_Error(this->place(row) + ": " + e.what());
    }
    return result;
  }
  template <class S>
  Record_Id reference(std::int64_t row, S value) const {
    if constexpr (std::is_integral_v<S>) {
      if (std::in_range<std::int64_t>(value)) {
        const auto id = static_cast<std::int64_t>(value);
        if (id >= -1 && id < static_cast<std::int64_t>(max_compact)) return Record_Id(id);
      }
    }
    fail(row, text_of(value));
  }

  std::string place(std::int64_t row) const {
    return "column " + target_.name + ", row " + std::to_string(first_row_ + row);
  }
  [[noreturn]] void fail(std::int64_t row, const std::string& value) const {
    throw Data_Error(place(row) + ": " + value + " does not fit a field of type " +
                     std::string(type_name(target_.type)));
  }

  const Target& target_;
  const Arrow_Import_Options& options_;
  const std::int64_t first_row_;
  const Arrow_Rows rows_;
};

// ---- keys of unique indexes ---------------------------------------------------------------------

// Texts are those of the batches.
class New_Keys {
 public:
  New_Keys(const Table& table, const Index& index) : table_(table), index_(index) {
    for (const Field_Id field : index.definition().fields)
      default_.push_back(
          visit_type(table.find_field(field)->column->type().code,
                     []<class T>(std::type_identity<T>) { return key_part<T>(T()); }));
  }

  // The values of one batch for one field of the index.
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
    const auto compare = [&](index_t a, index_t b) {
      const auto less = [](const Key_Part& x, const Key_Part& y) {
        return x.number != y.number ? x.number < y.number : x.text < y.text;
      };
      const Key x = key(a), y = key(b);
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), less);
    };
    std::stable_sort(order.begin(), order.end(), compare);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::string row = "row " + std::to_string(order[i]);
      if (const Record_Id old = index_.find(key(order[i])); !old.is_null())
        fail(row + " has a key that record " + std::to_string(old.value()) + " has", old);
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
    {
      const Released<ArrowSchema> schema = stream.schema();
      columns_ = arrow_columns(schema.value);
    }
    find_targets();
    read(stream);
    require_unique();
    Arrow_Imported result{rows_, {}};
    if (rows_ == 0) return result;
    if (ids_column_ != nullptr) require_ids();
    result.first = ids_column_ != nullptr ? Record_Id(ids_[0]) : Record_Id(table_.records().size());
    write(result.first);
    return result;
  }

 private:
  void find_targets() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Arrow_Column_Type& column = columns_[i];
      if (column.name == "__id") {
        if (!options_.use_ids) continue;
        if (ids_column_ != nullptr) throw Data_Error("column __id: it comes twice");
        if (!is_arrow_integer(column.kind)) throw Data_Error("column __id: ids are integers");
        ids_column_ = &column;
        ids_target_ = {&column, i, {}, "__id", Type_Code::int64};
        continue;
      }
      const Field_Id field = table_.find_field(column.name);
      if (field.is_null()) {
        if (options_.ignore_unknown) continue;
        throw Data_Error("table " + table_.name() + " has no field " + column.name);
      }
      const Type_Code type = table_.find_field(field)->column->type().code;
      targets_.push_back({&column, i, field, column.name, type});
      require_compatible(targets_.back(), options_);
    }
    if (options_.use_ids && ids_column_ == nullptr) throw Data_Error("there is no column __id");
    // In a unique index only its last field inserts a record.
    const auto id = [](const Target& target) { return target.field; };
    std::ranges::stable_sort(targets_, {}, id);
    for (std::size_t i = 1; i < targets_.size(); ++i)
      if (targets_[i].field == targets_[i - 1].field)
        throw Data_Error("column " + targets_[i].name + ": it comes twice");
  }

  // All batches, checked.
  void read(Source_Stream& stream) {
    while (true) {
      Released<ArrowArray> item = stream.next();
      if (item.value.release == nullptr) return;
      require_item(item.value);
      items_.push_back(std::move(item));
      const ArrowArray& array = items_.back().value;
      for (const Target& target : targets_) check(target, array);
      if (ids_column_ != nullptr)
        Converter(ids_target_, options_, array, rows_)
            .for_each<std::int64_t>([&](std::int64_t, std::int64_t id) { ids_.push_back(id); });
      first_rows_.push_back(rows_);
      rows_ += array.length;
    }
  }

  void require_item(const ArrowArray& item) const {
    const auto fail = [](const std::string& what) { throw Data_Error("Arrow: " + what); };
    constexpr std::int64_t most = std::int64_t{1} << 48;
    if (item.length < 0 || item.offset < 0 || item.length > most || item.offset > most)
      fail("an item with an impossible length or offset");
    if (item.n_children != static_cast<std::int64_t>(columns_.size()))
      fail("an item with " + std::to_string(item.n_children) + " children; the schema has " +
           std::to_string(columns_.size()));
    if (item.n_children > 0 && item.children == nullptr) fail("an item without its children");
    for (std::int64_t i = 0; i < item.n_children; ++i)
      if (item.children[i] == nullptr || item.children[i]->release == nullptr)
        fail("an item with a child that was released");
    const auto* const validity = item.n_buffers > 0 && item.buffers != nullptr
                                     ? static_cast<const unsigned char*>(item.buffers[0])
                                     : nullptr;
    if (item.null_count == 0 || validity == nullptr) return;
    for (std::int64_t row = 0; row < item.length; ++row) {
      const std::int64_t i = item.offset + row;
      if ((validity[i / 8] >> (i % 8) & 1) == 0)
        fail("row " + std::to_string(rows_ + row) + " is null");
    }
  }

  void check(const Target& target, const ArrowArray& item) {
    const Converter converter(target, options_, item, rows_);
    visit_type(target.type, [&]<class T>(std::type_identity<T>) {
      const bool has_keys = has_unique_index(target.field);
      if (!has_keys && converter.find_in_place<T>() != nullptr) return;
      if constexpr (std::is_same_v<T, Blob>) {
        if (target.source->kind != Arrow_Kind::blob_place)
          return converter.for_each<std::string_view>([](std::int64_t, std::string_view) {});
      }
      converter.for_each<T>([&](std::int64_t row, T value) {
        if constexpr (std::is_same_v<T, std::string_view>) Database::require_size(value);
        if (has_keys) [[unlikely]]
          add_key(target.field, rows_ + row, key_part<T>(value));
      });
    });
  }

  // ---- unique indexes

  // A record is inserted by the last field of the index.
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

  // Throws Data_Error if the insertions would.
  void require_ids() {
    std::vector<index_t> sorted(ids_.begin(), ids_.end());
    std::sort(sorted.begin(), sorted.end());
    const auto fail = [](index_t id, const char* what) {
      throw Data_Error("column __id: record " + std::to_string(id) + what);
    };
    if (sorted.front() < 0) fail(sorted.front(), " cannot exist");
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      fail(*twice, " comes twice");
    const Table::Budget budget = database_.get_database().budget();
    const index_t size = table_.records().size();
    index_t skipped = 0;
    index_t next = size;
    for (const index_t id : sorted) {
      if (table_.records().is_used(id)) fail(id, " exists already");
      if (id < size) continue;
      skipped += id - next;
      next = id + 1;
      if (skipped > budget.skip) fail(id, ": too many ids are skipped");
    }
  }

  // ---- writing

  void write(Record_Id first) {
    if (ids_column_ == nullptr)
      database_.write(Insert_Vector{table_.id(), first, rows_});
    else
      insert_ids();
    for (std::size_t i = 0; i < items_.size(); ++i)
      for (const Target& target : targets_) write(target, i, first);
  }

  // f(row, size) for each run of rows whose ids are consecutive.
  template <class F>
  static void for_each_run(std::span<const index_t> ids, F f) {
    for (std::size_t begin = 0; begin < ids.size();) {
      std::size_t end = begin + 1;
      while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
      f(begin, end - begin);
      begin = end;
    }
  }

  // In ascending order, so that no id is skipped that comes later.
  void insert_ids() {
    std::vector<index_t> sorted(ids_.begin(), ids_.end());
    std::sort(sorted.begin(), sorted.end());
    for_each_run(sorted, [&](std::size_t begin, std::size_t size) {
      if (size == 1)
        database_.write(Insert{table_.id(), Record_Id(sorted[begin])});
      else
        database_.write(
            Insert_Vector{table_.id(), Record_Id(sorted[begin]), static_cast<index_t>(size)});
    });
  }

  void write(const Target& target, std::size_t item, Record_Id first) {
    const Converter converter(target, options_, items_[item].value, first_rows_[item]);
    const auto rows = static_cast<std::size_t>(items_[item].value.length);
    visit_type(target.type, [&]<class T>(std::type_identity<T>) {
      if (const T* const values = converter.find_in_place<T>(); values != nullptr)
        return write(target, item, first, std::span<const T>(values, rows));
      const auto values = std::make_unique<T[]>(rows);
      const auto set = [&](std::int64_t row, T value) {
        values[static_cast<std::size_t>(row)] = value;
      };
      if constexpr (std::is_same_v<T, Blob>) {
        if (target.source->kind != Arrow_Kind::blob_place)
          converter.for_each<std::string_view>([&](std::int64_t row, std::string_view bytes) {
            if (bytes.data() != nullptr) set(row, database_.write_blob(bytes));
          });
        else
          converter.for_each<T>(set);
      } else {
        converter.for_each<T>(set);
      }
      write(target, item, first, std::span<const T>(values.get(), rows));
    });
  }

  template <class T>
  void write(const Target& target, std::size_t item, Record_Id first, std::span<const T> values) {
    if (values.empty()) return;
    const index_t first_row = first_rows_[item];
    if (ids_column_ == nullptr)
      return database_.write_vector(table_.id(), first + first_row, target.field, values);
    const std::span<const index_t> ids =
        std::span<const index_t>(ids_).subspan(static_cast<std::size_t>(first_row), values.size());
    for_each_run(ids, [&](std::size_t begin, std::size_t size) {
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
  std::vector<Arrow_Column_Type> columns_;
  std::vector<Target> targets_;  // in the order of their fields
  const Arrow_Column_Type* ids_column_ = nullptr;
  Target ids_target_;
  std::vector<Released<ArrowArray>> items_;
  std::vector<index_t> first_rows_;  // of the items
  index_t rows_ = 0;
  std::vector<index_t> ids_;  // of the rows, if they are given
  std::map<const Index*, New_Keys> keys_;
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
      return Type_Code::blob;
    case Arrow_Kind::null:
      break;
  }
  return Type_Code::none;
}

// `table`: the id that the new table will have.
Type type_for(const Database& database, const std::string& name, Table_Id table,
              const Arrow_Column_Type& column) {
  constexpr std::string_view references = "references ";
  const Type_Code usual = usual_type(column);
  const bool is_text = is_arrow_text(column.kind);
  if (column.joedb_type.starts_with(references) && is_arrow_integer(column.kind)) {
    const std::string referenced = column.joedb_type.substr(references.size());
    if (referenced == name) return {Type_Code::reference, table};
    const Table* const found = database.find_table(referenced);
    if (found == nullptr)
      throw Data_Error("column " + column.name + ": it refers to a table " + referenced +
                       ", which does not exist");
    return {Type_Code::reference, found->id()};
  }
  if (column.joedb_type == "string" && is_text) return {Type_Code::string, {}};
  if (column.joedb_type == "blob" && is_text) return {Type_Code::blob, {}};
  if (usual == Type_Code::none)
    throw Data_Error("column " + column.name + ": all its values are null, which have no type");
  return {usual, {}};
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
                          const ArrowSchema& schema) {
  const Database& content = database.get_database();
  const Create_Table create{name};
  content.prepare(create);
  const Table_Id id(static_cast<std::uint16_t>(content.tables().size() + 1));
  std::vector<std::pair<std::string, Type>> fields;
  std::set<std::string, std::less<>> names;
  for (const Arrow_Column_Type& column : arrow_columns(schema)) {
    if (column.name == "__id") continue;
    if (!is_identifier(column.name))
      throw Data_Error("column \"" + column.name +
                       "\": the name of a field has ASCII letters, digits and single underscores, "
                       "and begins with no digit");
    if (!names.insert(column.name).second)
      throw Data_Error("column " + column.name + ": it comes twice");
    fields.emplace_back(column.name, type_for(content, name, id, column));
  }
  if (fields.size() > 65535) throw Data_Error("a table can have at most 65535 fields");
  database.write(create);
  for (const auto& [field, type] : fields) database.write(Add_Field{id, field, type});
  return id;
}

}  // namespace joedb::inline v1
