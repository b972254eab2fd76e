#include "kernel/table/retype.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "joedb/format/codec.h"
#include "kernel/base/counted.h"
#include "kernel/base/parse_number.h"
#include "kernel/table/declaration.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {

namespace {

using Kind = Logical_Type::Kind;

struct Typed {
  Type_Code stored;
  const Logical_Type& logical;

  // True for values that are only numbers; a boolean is 0 or 1.
  bool is_number() const {
    return (logical.kind == Kind::plain || logical.kind == Kind::boolean) &&
           stored != Type_Code::string && stored != Type_Code::reference;
  }
  bool is_text() const { return stored == Type_Code::string; }
};

// ---- texts of values

// Without an exponent, which texts of decimals do not have.
template <class T>
std::string fixed_text(T value) {
  char digits[512];
  const auto end =
      std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::fixed).ptr;
  return {digits, end};
}

// Returns the text of a number without zeros at the end of its fraction.
std::string_view without_zeros(std::string_view text) {
  if (text.find('.') == text.npos) return text;
  text = text.substr(0, text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

// Appends the text of a value for the type `to`. Returns false if it has none.
template <Field_Value T>
bool append_text(std::string& out, const Logical_Type& logical, T value, const Typed& to) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (logical.kind == Kind::uuid && to.logical.kind == Kind::bytes)
      return append_logical_bytes(out, to.logical, value);
    if (logical.kind != Kind::plain && logical.kind != Kind::json)
      return append_logical<T>(out, logical, value);
    out += value;
  } else {
    if (logical.kind != Kind::plain) {
      if (!append_logical<T>(out, logical, value)) return false;
      if (logical.kind == Kind::decimal && !to.is_text()) out = without_zeros(out);
      return true;
    }
    if constexpr (std::is_floating_point_v<T>)
      if (!to.is_text()) {
        out += fixed_text(value);
        return true;
      }
    append_value(out, value);
  }
  return true;
}

// True if the text of a number has no sign or zero that the number does not keep.
bool is_plain_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.starts_with('+') && (text.size() < 2 || text[0] != '0' || text[1] == '.');
}

template <class T>
std::optional<T> in_range(std::int64_t value) {
  if (!std::in_range<T>(value)) return {};
  return static_cast<T>(value);
}

// Returns nullopt if the value has another text, so that something would be lost.
template <class T>
std::optional<T> parse_same_number(std::string_view text) {
  const auto value = parse_number<T>(text);
  if (!value) return {};
  std::string again;
  append_value(again, *value);
  if (again == text) return value;
  if constexpr (std::is_floating_point_v<T>)
    if (fixed_text(*value) == without_zeros(text)) return value;
  return {};
}

template <Field_Value T>
std::optional<T> parse_text(std::string_view text, const Logical_Type& logical) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") return {};
    return text == "true";
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    const auto id = parse_same_number<std::int64_t>(text);
    if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= max_compact) return {};
    return Record_Id(*id);
  } else if constexpr (std::is_integral_v<T>) {
    if (logical.kind == Kind::plain) return parse_same_number<T>(text);
    if (logical.kind == Kind::decimal && !is_plain_number(text)) return {};
    if (logical.kind == Kind::boolean && text.size() < 2) return {};  // 0 and 1 are no booleans
    const auto value = parse_logical_number(text, logical);
    return value ? in_range<T>(*value) : std::nullopt;
  } else {
    return parse_same_number<T>(text);
  }
}

// ---- numbers

struct Number {
  bool is_integer = true;
  std::int64_t integer = 0;
  double real = 0;
};

template <class T>
Number number_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return {false, 0, value};
  else
    return {true, value, 0};
}

std::optional<std::int64_t> exact_integer(double value) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (!(value >= -limit && value < limit) || value != std::trunc(value)) return {};
  return static_cast<std::int64_t>(value);
}

template <class T>
std::optional<T> exact_number(const Number& number, const Logical_Type& logical) {
  if constexpr (std::is_floating_point_v<T>) {
    if (number.is_integer) {
      const auto value = static_cast<T>(number.integer);
      if (exact_integer(value) != number.integer) return {};
      return value;
    }
    if (std::isnan(number.real)) return std::numeric_limits<T>::quiet_NaN();
    if (std::isfinite(number.real) && std::abs(number.real) > std::numeric_limits<T>::max())
      return {};
    const auto value = static_cast<T>(number.real);
    if (static_cast<double>(value) != number.real) return {};
    return value;
  } else {
    const auto value = number.is_integer ? number.integer : exact_integer(number.real);
    if (!value) return {};
    const bool is_boolean = std::is_same_v<T, bool> || logical.kind == Kind::boolean;
    if (is_boolean && *value != 0 && *value != 1) return {};
    if constexpr (std::is_same_v<T, bool>)
      return *value == 1;
    else
      return in_range<T>(*value);
  }
}

// ---- conversion

// A value of any type: missing, a number or a text, as the new type needs it.
struct Read_Value {
  enum class State { missing, number, text, invalid } state;
  Number number;
  std::string_view text;
};

// Reads the values of a column, for a column of another type.
class Source {
 public:
  Source(const Column_Base& column, const Logical_Type& meaning, const Typed& to)
      : column_(column),
        meaning_(meaning),
        to_(to),
        is_number_(Typed{column.type().code, meaning}.is_number() && to.is_number()),
        read_(visit_type(column.type().code,
                         []<class T>(std::type_identity<T>) { return &Source::read<T>; })) {}

  // The text is valid until the next call.
  Read_Value read(index_t id) { return (this->*read_)(id); }

 private:
  using State = Read_Value::State;

  template <Field_Value T>
  Read_Value read(index_t id) {
    const T value = static_cast<const Column<T>&>(column_).get(id);
    if constexpr (std::is_same_v<T, Record_Id>)
      if (value.is_null()) return {State::missing, {}, {}};
    if (is_missing<T>(meaning_, value)) return {State::missing, {}, {}};
    if constexpr (std::is_arithmetic_v<T>)
      if (is_number_) {
        const bool is_valid = meaning_.kind != Kind::boolean || value == T(0) || value == T(1);
        return {is_valid ? State::number : State::invalid, number_of(value), {}};
      }
    if constexpr (!std::is_same_v<T, Blob>) {
      text_.clear();
      if (append_text<T>(text_, meaning_, value, to_)) return {State::text, {}, text_};
    }
    return {State::invalid, {}, {}};
  }

  const Column_Base& column_;
  const Logical_Type& meaning_;
  const Typed to_;
  const bool is_number_;
  Read_Value (Source::*const read_)(index_t);
  std::string text_;
};

// Converts values to a type that is stored as T. The result may be a text of the source.
template <Field_Value T>
std::optional<T> convert_present(const Read_Value& value, const Logical_Type& logical,
                                 std::string& bytes) {
  using State = Read_Value::State;
  if constexpr (std::is_same_v<T, Blob>) {
    return {};
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    if (value.state != State::text) return {};
    if (logical.kind == Kind::plain || logical.kind == Kind::json) return value.text;
    auto parsed = parse_logical_bytes(value.text, logical);
    if (!parsed) return {};
    bytes = std::move(*parsed);
    return bytes;
  } else {
    if constexpr (std::is_arithmetic_v<T>)
      if (value.state == State::number) return exact_number<T>(value.number, logical);
    return value.state == State::text ? parse_text<T>(value.text, logical) : std::nullopt;
  }
}

template <Field_Value T>
std::optional<T> convert(const Read_Value& value, const Logical_Type& logical, std::string& bytes) {
  if (value.state == Read_Value::State::missing) {
    if (!logical.is_optional && !std::is_same_v<T, Record_Id>) return {};
    return missing_value<T>(logical);
  }
  const auto result = convert_present<T>(value, logical, bytes);
  return result && is_missing<T>(logical, *result) ? std::nullopt : result;
}

// Calls f(first, size) for each run of used records.
void for_each_used(const Table& table, const std::function<void(index_t, index_t)>& f) {
  for_each_run(table, f);
}

std::string shown_value(const Column_Base& column, const Logical_Type& meaning, index_t id) {
  constexpr std::size_t max_size = 60;
  std::string text;
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    T value = static_cast<const Column<T>&>(column).get(id);
    bool is_cut = false;
    if constexpr (std::is_same_v<T, std::string_view>)
      if (value.size() > max_size && meaning.kind != Kind::uuid) {
        is_cut = true;
        value = value.substr(0, max_size);
      }
    if (std::is_same_v<T, Record_Id> && value == T())
      text = "null";
    else
      append_value<T>(text, meaning, value);
    if (is_cut) text += "…";
  });
  return text;
}

std::string new_type_text(const Database& database, const Type& type, const Logical_Type& logical) {
  const Table* const referenced = database.find_table(type.referenced);
  return declared_type_text(type.code, logical, referenced ? referenced->name() : "");
}

}  // namespace

void require_convertible(const Database& database, const Table& table, const Field& field,
                         const Logical_Type& meaning, const Type& type,
                         const Logical_Type& logical) {
  constexpr index_t most = 3;
  const Column_Base& column = *field.column;
  const std::string name = table.name() + "." + field.name;
  if (column.type().code == Type_Code::blob || type.code == Type_Code::blob)
    throw Data_Error(name +
                     ": a blob has no text, so it cannot become another type, nor another "
                     "type a blob");
  index_t count = 0;
  std::string first;
  Source source(column, meaning, {type.code, logical});
  visit_type(type.code, [&]<class T>(std::type_identity<T>) {
    std::string bytes;
    for_each_used(table, [&](index_t begin, index_t size) {
      for (index_t id = begin; id < begin + size; ++id) {
        if (convert<T>(source.read(id), logical, bytes) || ++count > most) continue;
        first += (count == 1 ? "; the first is record " : ", then record ") + std::to_string(id) +
                 ", with " + shown_value(column, meaning, id);
      }
    });
  });
  if (count > 0)
    throw Data_Error(name + ": " + counted(count, "record") + (count == 1 ? " does" : " do") +
                     " not fit " + new_type_text(database, type, logical) + first);
}

// Calls write(column, first, size, value) for runs of records: value(id) returns the value for a
// record.
template <class Write>
static void convert_into(const Table& table, Field_Id from, const Logical_Type& meaning,
                         Field_Id to, Write write) {
  Column_Base& target = *table.find_field(to)->column;
  Source source(*table.find_field(from)->column, meaning, {target.type().code, target.logical()});
  visit_type(target.type().code, [&]<class T>(std::type_identity<T>) {
    auto& column = static_cast<Column<T>&>(target);
    std::string bytes;
    for_each_used(table, [&](index_t first, index_t size) {
      write(column, first, size, [&](index_t id) {
        return convert<T>(source.read(id), column.logical(), bytes).value();
      });
    });
  });
}

void convert_values(Writable_Database& database, const Table& table, Field_Id from,
                    const Logical_Type& meaning, Field_Id to) {
  Table& changed = database.get_database().table(table.id());
  convert_into(table, from, meaning, to,
               [&]<class T>(Column<T>& column, index_t first, index_t size, auto value) {
                 database.update_vector(changed, column, to, Record_Id(first), size, [&] {
                   for (index_t id = first; id < first + size; ++id) column.set(id, value(id));
                 });
               });
}

void convert_values(Database& database, const Table& table, Field_Id from,
                    const Logical_Type& meaning, Field_Id to) {
  convert_into(table, from, meaning, to,
               [&]<class T>(Column<T>&, index_t first, index_t size, auto value) {
                 for (index_t id = first; id < first + size; ++id)
                   database(Update<T>{table.id(), Record_Id(id), to, value(id)});
               });
}

std::string retyped_name(std::string_view field) {
  return std::string(field) + (field.ends_with('_') ? "retyped" : "_retyped");
}

// Throws Data_Error if only the declaration has to change.
static void require_other_type(const Database& database, const Table& table, const Field& field,
                               const Type& type, const Logical_Type& logical) {
  const Column_Base& column = *field.column;
  Logical_Type before = column.logical();
  const bool is_same = before == logical;
  before.is_optional = logical.is_optional;
  before.on_delete = logical.on_delete;
  if (column.type() != type || before != logical) return;
  const std::string text = new_type_text(database, type, logical);
  throw Data_Error(table.name() + "." + field.name +
                   (is_same ? " is " + text + " already"
                            : " is stored in the same way: set_type " + table.name() + " " +
                                  field.name + " " + text + " declares it"));
}

void retype_field(Writable_Database& writable, Table_Id table_id, Field_Id field_id,
                  const Type& type, const Logical_Type& logical) {
  Database& database = writable.get_database();
  const Table& table = database.table(table_id);
  const Field* const field = table.find_field(field_id);
  if (field == nullptr) throw Data_Error("retype_field: invalid field_id");
  const std::string name = field->name, new_name = retyped_name(name);
  if (const Index* const index = table.find_index(field_id); index != nullptr)
    throw Data_Error(table.name() + "." + name + ": index " + index->definition().name +
                     " needs the field, so it cannot be retyped: " +
                     (database.is_declared(*index) ? "drop_index " + index->definition().name +
                                                         " first, and create it again afterwards"
                                                   : "open the file without this index"));
  if (!table.find_field(new_name).is_null())
    throw Data_Error(table.name() + "." + new_name + ": rename this field first, because " + name +
                     " needs its name for a moment");
  require_other_type(database, table, *field, type, logical);
  const Logical_Type meaning = field->column->logical();
  require_convertible(database, table, *field, meaning, type, logical);
  writable.write(Add_Field{table_id, new_name, type});
  const Field_Id to = table.find_field(new_name);
  if (!logical.is_plain())
    writable.write(Comment{type_declaration(table.name(), new_name, type.code, logical)});
  convert_values(writable, table, field_id, meaning, to);
  writable.write(Drop_Field{table_id, field_id});
  writable.write(Rename_Field{table_id, to, name});
}

// ---- journals

Field_Id retyped_field(const Database& schema, const Drop_Field& entry) {
  const Table* const table = schema.find_table(entry.table);
  const Field* const from = table == nullptr ? nullptr : table->find_field(entry.field);
  if (from == nullptr || table->fields().back().name != retyped_name(from->name)) return {};
  return Field_Id(static_cast<std::uint16_t>(table->fields().size()));
}

namespace {

struct Retyping_Finder {
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (std::is_same_v<Entry, Drop_Field>) note(entry);
    if constexpr (is_schema_entry<Entry> || std::is_same_v<Entry, Comment>) schema(entry);
  }
  void note(const Drop_Field& entry) {
    const Field_Id to = retyped_field(schema, entry);
    if (to.is_null()) return;
    const Table& table = schema.table(entry.table);
    found.push_back({entry.table, entry.field, to, text_of(*table.find_field(entry.field)->column),
                     text_of(*table.find_field(to)->column)});
  }
  static std::string text_of(const Column_Base& column) {
    const Logical_Type& logical = column.logical();
    return logical.is_plain() ? "" : declared_type_text(column.type().code, logical);
  }

  Database schema;  // without records
  std::vector<Retyping> found;
};

}  // namespace

std::vector<Retyping> find_retypings(Abstract_File& file) {
  Readonly_Journal journal(file);
  Retyping_Finder finder;
  journal.replay(finder);
  return finder.found;
}

}  // namespace joedb::inline v1
