#include "sql/row_change.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <limits>
#include <optional>
#include <variant>

#include "kernel/table/references.h"
#include "sql/cursor.h"
#include "text/sql.h"

namespace joedb {

namespace {

// ---- values -------------------------------------------------------------------------------------

// The new value of a field. For a blob that is not written yet, this is Blob_Bytes.
struct Blob_Bytes {
  std::string_view bytes;
};
using Bound_Value = std::variant<std::string_view, std::int8_t, std::int16_t, std::int32_t,
                                 std::int64_t, bool, float, double, Record_Id, Blob, Blob_Bytes>;

// The name of a column for error messages. It is only built if there is an error.
struct Column_Name {
  const std::string& table;
  std::string_view field;
  std::string text() const { return (table + '.').append(field); }
};

std::string_view type_name_of(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return "INTEGER";
    case SQLITE_FLOAT:
      return "REAL";
    case SQLITE_TEXT:
      return "TEXT";
    default:
      return "BLOB";
  }
}

// As in a STRICT table, this is not a constraint violation, so OR IGNORE has no effect.
[[noreturn]] void throw_bad_type(sqlite3_value* value, Type_Code code, const Column_Name& column) {
  throw Sql_Error(SQLITE_MISMATCH, "cannot store " + std::string(type_name_of(value)) +
                                       " value in " + std::string(type_name(code)) + " column " +
                                       column.text());
}
[[noreturn]] void throw_out_of_range(sqlite3_value* value, Type_Code code,
                                     const Column_Name& column) {
  throw Sql_Error(SQLITE_CONSTRAINT_CHECK, "cannot store " + std::string(text_of(value)) + " in " +
                                               std::string(type_name(code)) + " column " +
                                               column.text());
}

std::int64_t integer_of(sqlite3_value* value, Type_Code code, const Column_Name& column) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    case SQLITE_FLOAT: {
      const double real = sqlite3_value_double(value);
      constexpr double limit = 9223372036854775808.0;
      if (real == std::floor(real) && real >= -limit && real < limit)
        return static_cast<std::int64_t>(real);
      throw_bad_type(value, code, column);
    }
    default:
      throw_bad_type(value, code, column);
  }
}

template <class T>
T integer_of(sqlite3_value* value, Type_Code code, const Column_Name& column) {
  const std::int64_t integer = integer_of(value, code, column);
  if (integer < std::numeric_limits<T>::min() || integer > std::numeric_limits<T>::max())
    throw_out_of_range(value, code, column);
  return static_cast<T>(integer);
}

double real_of(sqlite3_value* value, Type_Code code, const Column_Name& column) {
  const int type = sqlite3_value_numeric_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) throw_bad_type(value, code, column);
  return sqlite3_value_double(value);
}

Bound_Value null_of(Type_Code code, const Column_Name& column, bool takes_default) {
  switch (code) {
    case Type_Code::float32:
      return std::numeric_limits<float>::quiet_NaN();
    case Type_Code::float64:
      return std::numeric_limits<double>::quiet_NaN();
    case Type_Code::reference:
      return Record_Id();
    case Type_Code::blob:
      return Blob();
    default:
      break;
  }
  if (!takes_default)
    throw Sql_Error(SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: " + column.text());
  return visit_type(code, [&]<class T>(std::type_identity<T>) -> Bound_Value { return T(); });
}

Bound_Value to_stored_value(sqlite3_value* value, Type_Code code, const Column_Name& column) {
  const int type = sqlite3_value_type(value);
  switch (code) {
    case Type_Code::string:
      if (type == SQLITE_BLOB) throw_bad_type(value, code, column);
      return text_of(value);
    case Type_Code::int8:
      return integer_of<std::int8_t>(value, code, column);
    case Type_Code::int16:
      return integer_of<std::int16_t>(value, code, column);
    case Type_Code::int32:
      return integer_of<std::int32_t>(value, code, column);
    case Type_Code::int64:
      return integer_of(value, code, column);
    case Type_Code::boolean: {
      const std::int64_t integer = integer_of(value, code, column);
      if (integer != 0 && integer != 1) throw_out_of_range(value, code, column);
      return integer == 1;
    }
    case Type_Code::float32: {
      const double real = real_of(value, code, column);
      const float rounded = static_cast<float>(real);
      if (std::isinf(rounded) && !std::isinf(real)) throw_out_of_range(value, code, column);
      return rounded;
    }
    case Type_Code::float64:
      return real_of(value, code, column);
    case Type_Code::reference: {
      const std::int64_t integer = integer_of(value, code, column);
      if (integer < 0) throw_out_of_range(value, code, column);
      return Record_Id(integer);
    }
    case Type_Code::blob:
      if (type != SQLITE_BLOB) throw_bad_type(value, code, column);
      return Blob_Bytes{text_of(value)};
    case Type_Code::none:
      break;
  }
  throw Exception(column.text() + " has no type");
}

// ---- logical types

// The type of a field, for values that are not plain.
struct Target {
  Type_Code code;
  const Logical_Type& logical;
  const Column_Name& column;
};

// True if a number would not say what it means: days, or seconds, or the place of a name.
bool needs_text(const Logical_Type& logical) {
  using Kind = Logical_Type::Kind;
  return logical.kind == Kind::date || logical.kind == Kind::timestamp ||
         logical.kind == Kind::duration || logical.kind == Kind::enumeration;
}

// A REAL has at least 15 exact digits.
constexpr double real_limit = 1e15;

double scaled(double real, const Logical_Type& logical) {
  return std::round(real * static_cast<double>(units_of(logical)));
}

[[noreturn]] void throw_unexpected(sqlite3_value* value, const Target& target) {
  if (sqlite3_value_type(value) == SQLITE_BLOB)
    throw Sql_Error(SQLITE_MISMATCH, "cannot store BLOB value in " + target.column.text() + ": " +
                                         expected_text(target.logical) + " expected");
  const bool is_decimal = sqlite3_value_type(value) == SQLITE_FLOAT &&
                          target.logical.kind == Logical_Type::Kind::decimal;
  std::string expected = expected_text(target.logical) + " expected";
  if (is_decimal && std::abs(scaled(sqlite3_value_double(value), target.logical)) < real_limit)
    expected += ", like round(x, " + std::to_string(target.logical.scale) + ")";
  else if (is_decimal)
    expected = "text expected for a number of more than 15 digits";
  throw Sql_Error(SQLITE_CONSTRAINT_CHECK, "cannot store " + sql_text(text_of(value)) + " in " +
                                               target.column.text() + ": " + expected);
}

// Returns the decimal that has the same 15 digits; nullopt if it would have more.
std::optional<std::int64_t> decimal_of(double real, const Logical_Type& logical) {
  const auto digits = [](double x) {
    char text[32];
    return std::string(text,
                       static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.15g", x)));
  };
  const double number = scaled(real, logical);
  if (!(std::abs(number) < real_limit)) return {};
  const auto decimal = static_cast<std::int64_t>(number);
  // Adding 0 makes 0 of -0.
  if (digits(shown_decimal(decimal, logical.scale)) != digits(real + 0.0)) return {};
  return decimal;
}

std::optional<std::int64_t> number_of(sqlite3_value* value, const Logical_Type& logical) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_BLOB) return {};
  if (type != SQLITE_TEXT && needs_text(logical)) return {};
  if (type == SQLITE_FLOAT && logical.kind == Logical_Type::Kind::decimal)
    return decimal_of(sqlite3_value_double(value), logical);
  // SQLite may have made an integer of a REAL, whose text is not that of the integer.
  if (type == SQLITE_INTEGER)
    return parse_logical_number(std::to_string(sqlite3_value_int64(value)), logical);
  return parse_logical_number(text_of(value), logical);
}

// Parsed bytes are in `texts`.
std::string_view bytes_of(sqlite3_value* value, const Target& target,
                          std::deque<std::string>& texts) {
  const bool is_uuid = target.logical.kind == Logical_Type::Kind::uuid;
  if (sqlite3_value_type(value) == SQLITE_BLOB) {
    const std::string_view bytes = text_of(value);
    constexpr std::size_t uuid_size = 16;
    if (!is_uuid || bytes.size() == uuid_size) return bytes;
    throw_unexpected(value, target);
  }
  if (!is_uuid) throw_bad_type(value, Type_Code::blob, target.column);
  auto bytes = parse_logical_bytes(text_of(value), target.logical);
  if (!bytes) throw_unexpected(value, target);
  return texts.emplace_back(*std::move(bytes));
}

Bound_Value to_logical_value(sqlite3_value* value, const Target& target,
                             std::deque<std::string>& texts) {
  using Kind = Logical_Type::Kind;
  const Kind kind = target.logical.kind;
  if (kind == Kind::bytes || kind == Kind::uuid) return bytes_of(value, target, texts);
  if (kind == Kind::plain || kind == Kind::json)
    return to_stored_value(value, target.code, target.column);
  const auto number = number_of(value, target.logical);
  if (!number) throw_unexpected(value, target);
  switch (target.code) {
    case Type_Code::int8:
      return static_cast<std::int8_t>(*number);
    case Type_Code::int16:
      return static_cast<std::int16_t>(*number);
    case Type_Code::int32:
      return static_cast<std::int32_t>(*number);
    default:
      return *number;
  }
}

bool is_missing_value(const Logical_Type& logical, const Bound_Value& value) {
  return std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, Blob_Bytes> || std::is_floating_point_v<T>)
          return false;
        else
          return is_missing<T>(logical, v);
      },
      value);
}

Bound_Value to_value(sqlite3_value* value, const Target& target, bool takes_default,
                     std::deque<std::string>& texts) {
  const Type_Code code = target.code;
  const Logical_Type& logical = target.logical;
  const Column_Name& column = target.column;
  if (sqlite3_value_type(value) == SQLITE_NULL) {
    if (!logical.is_optional) return null_of(code, column, takes_default);
    return visit_type(code, [&]<class T>(std::type_identity<T>) -> Bound_Value {
      return missing_value<T>(logical);
    });
  }
  if (logical.has_plain_values()) return to_stored_value(value, code, column);
  const Bound_Value result = to_logical_value(value, target, texts);
  if (is_missing_value(logical, result))
    throw Sql_Error(SQLITE_CONSTRAINT_CHECK,
                    "cannot store this value in " + column.text() + ", where it means NULL");
  return result;
}

// True if values that were read as `shown` may be stored as `stored`. The names of an enumeration
// are always those of the present state.
bool means_the_same(const Logical_Type& shown, const Logical_Type& stored) {
  return shown.kind == stored.kind && shown.scale == stored.scale &&
         shown.is_optional == stored.is_optional;
}

// ---- rows ---------------------------------------------------------------------------------------

class Row_Change {
 public:
  explicit Row_Change(Virtual_Table& table)
      : virtual_table_(table),
        writer_(*table.file().writer()),
        table_(*writer_.database().find_table(table.present_source().table->id())),
        name_(table.name()),
        conflict_(sqlite3_vtab_on_conflict(table.connection())) {}

  void erase(sqlite3_value* id) {
    require_present();
    const Record_Id record(sqlite3_value_int64(id));
    if (!table_.is_used(record)) return;  // a trigger has deleted the record
    remove(record);
  }

  sqlite3_int64 insert(sqlite3_value* rowid, sqlite3_value** columns) {
    require_no_moment(columns[virtual_table_.moment_column()]);
    sqlite3_value* const id = columns[virtual_table_.id_column()];
    const bool has_rowid = sqlite3_value_type(rowid) != SQLITE_NULL;
    const bool has_id = sqlite3_value_type(id) != SQLITE_NULL;
    read(columns, true);
    if (!has_rowid && !has_id) return insert(writer_.next_free(table_));
    const std::int64_t wanted =
        integer_of(has_rowid ? rowid : id, Type_Code::int64, {name_, "__id"});
    if (has_rowid && has_id && integer_of(id, Type_Code::int64, {name_, "__id"}) != wanted)
      throw Sql_Error(SQLITE_MISMATCH, "rowid and __id differ");
    const Record_Id record(wanted);
    if (table_.is_used(record)) {
      if (conflict_ != SQLITE_REPLACE)
        throw Sql_Error(SQLITE_CONSTRAINT_ROWID, "UNIQUE constraint failed: " + name_ + ".__id");
      all_or_nothing([&] {
        remove(record);
        insert(record);
      });
      return wanted;
    }
    return insert(record);
  }

  void update(sqlite3_value* id, sqlite3_value* new_id, sqlite3_value** columns) {
    require_present();
    require_no_moment(columns[virtual_table_.moment_column()]);
    const Record_Id record(sqlite3_value_int64(id));
    sqlite3_value* const id_column = columns[virtual_table_.id_column()];
    const auto is_same = [&](sqlite3_value* other) {
      return sqlite3_value_type(other) == SQLITE_INTEGER &&
             sqlite3_value_int64(other) == record.value();
    };
    if (!is_same(new_id) || (sqlite3_value_nochange(id_column) == 0 && !is_same(id_column)))
      throw Sql_Error(SQLITE_CONSTRAINT_ROWID, "the id of a record cannot change: " + name_);
    if (!table_.is_used(record)) return;
    read(columns, false);
    all_or_nothing([&] {
      retry([&] {
        if (table_.is_used(record)) update(record);  // REPLACE may have deleted it by a rule
      });
    });
  }

 private:
  struct Assignment {
    Field_Id field;
    Type_Code code;
    Bound_Value value;
  };

  void require_present() const {
    const auto& cursors = virtual_table_.file().present().cursors();
    for (const Cursor* const cursor : cursors)
      if (cursor->has_given_past_rowid_of(virtual_table_))
        throw Sql_Error(SQLITE_READONLY, "the past of " + name_ + " cannot be changed");
  }
  void require_no_moment(sqlite3_value* moment) const {
    if (sqlite3_value_type(moment) != SQLITE_NULL)
      throw Sql_Error(SQLITE_READONLY, "the past of " + name_ + " cannot be changed");
  }

  // Converts the new values. If an INSERT does not name a column, its value is NULL.
  void read(sqlite3_value** columns, bool is_insertion) {
    const bool takes_default = is_insertion || conflict_ == SQLITE_REPLACE;
    std::optional<Sql_Error> violation;
    for (int i = 0; i < virtual_table_.column_count(); ++i) {
      if (sqlite3_value_nochange(columns[i]) != 0) continue;
      const Field_Id field = virtual_table_.field(i);
      const Field* const found = table_.find_field(field);
      if (found == nullptr)
        throw Exception(virtual_table_.file().name() +
                        ": a field was dropped, and the file must be opened again");
      if (!means_the_same(virtual_table_.logical(i), found->column->logical()))
        throw Exception(virtual_table_.file().name() + ": the type of field " + name_ + '.' +
                        virtual_table_.name(i) + " was changed, and the file must be opened again");
      const Type_Code code = found->column->type().code;
      const Column_Name name{name_, virtual_table_.name(i)};
      try {
        values_.push_back(
            {field, code,
             to_value(columns[i], {code, found->column->logical(), name}, takes_default, texts_)});
      } catch (const Sql_Error& error) {
        if (error.code == SQLITE_MISMATCH) throw;  // SQLite checks types before constraints
        if (!violation) violation.emplace(error);
      }
    }
    if (violation) throw Sql_Error(*violation);
  }

  // Calls f with the value, converted to the type of the field.
  template <class F>
  void with_value(const Bound_Value& value, F f) {
    std::visit(
        [&]<class T>(const T& v) {
          if constexpr (std::is_same_v<T, Blob_Bytes>)
            f(writer_.write_blob(v.bytes));
          else
            f(v);
        },
        value);
  }

  sqlite3_int64 insert(Record_Id record) {
    all_or_nothing([&] { retry([&] { insert(record, values_); }); });
    return record.value();
  }
  void insert(Record_Id record, const std::vector<Assignment>& values) {
    writer_.changes().insert(table_, record, [&] {
      for (const Assignment& assignment : values)
        with_value(assignment.value, [&]<class T>(T value) {
          writer_.changes().set_new_value<T>(table_, assignment.field, record, value);
        });
      set_missing(record, values);
    });
  }

  // Optional fields that were added after the table was opened have no value.
  void set_missing(Record_Id record, const std::vector<Assignment>& values) {
    const auto& fields = table_.fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i].column || !fields[i].column->logical().is_optional) continue;
      const Field_Id field(static_cast<std::uint16_t>(i + 1));
      const auto is_it = [&](const Assignment& value) { return value.field == field; };
      if (std::any_of(values.begin(), values.end(), is_it)) continue;
      const Column_Base& column = *fields[i].column;
      visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
        writer_.changes().set_new_value<T>(table_, field, record,
                                           missing_value<T>(column.logical()));
      });
    }
  }

  // Updates the fields of a record, one after the other. In between, when only some fields of a key
  // are new, the key may be that of another record. The record is then deleted, and inserted again
  // with its new values.
  void update(Record_Id record) {
    const Undo_Log::Savepoint before = writer_.changes().savepoint();
    try {
      for (const Assignment& assignment : values_) update(record, assignment);
      return;
    } catch (const Unique_Violation&) {
      writer_.changes().rollback_to(before);
      if (values_.size() == 1) throw;
    } catch (...) {
      writer_.changes().rollback_to(before);
      throw;
    }
    std::vector<std::string> texts;
    const std::vector<Assignment> all = with_old_values(record, texts);
    try {
      writer_.changes().erase_alone(table_, record);
      insert(record, all);
    } catch (...) {
      writer_.changes().rollback_to(before);
      throw;
    }
  }
  // Returns the assignments, with the old values of all other fields, in the order of the fields.
  // Copies old texts to `texts`.
  std::vector<Assignment> with_old_values(Record_Id record, std::vector<std::string>& texts) const {
    std::vector<Assignment> all;
    const auto& fields = table_.fields();
    texts.reserve(fields.size());  // the texts must not move
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i].column) continue;
      const Field_Id field(static_cast<std::uint16_t>(i + 1));
      const auto given = std::find_if(values_.begin(), values_.end(), [&](const Assignment& value) {
        return value.field == field;
      });
      if (given != values_.end()) {
        all.push_back(*given);
        continue;
      }
      const Type_Code code = fields[i].column->type().code;
      visit_type(code, [&]<class T>(std::type_identity<T>) {
        const T old = table_.column<T>(field).get(record.value());
        if constexpr (std::is_same_v<T, std::string_view>)
          all.push_back({field, code, std::string_view(texts.emplace_back(old))});
        else
          all.push_back({field, code, old});
      });
    }
    return all;
  }

  // Calls f(). With REPLACE, if f() throws after deleting records, restores them.
  template <class F>
  void all_or_nothing(F f) {
    if (conflict_ != SQLITE_REPLACE) return f();
    const Undo_Log::Savepoint before = writer_.changes().savepoint();
    try {
      f();
    } catch (...) {
      if (!writer_.is_broken()) writer_.changes().rollback_to(before);
      throw;
    }
  }

  void update(Record_Id record, const Assignment& assignment) {
    if (is_stored(record, assignment)) return;
    with_value(assignment.value, [&]<class T>(T value) {
      writer_.changes().update<T>(table_, assignment.field, record, value);
    });
  }
  // Returns true if the record already has this value, so that it need not be written.
  bool is_stored(Record_Id record, const Assignment& assignment) {
    return std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_same_v<T, Blob_Bytes>) {
            const Blob old = table_.column<Blob>(assignment.field).get(record.value());
            if (old.is_null() || old.get_size() != static_cast<std::int64_t>(value.bytes.size()))
              return false;
            writer_.flush();
            return virtual_table_.file().file().read_blob(old) == value.bytes;
          } else {
            const T old = table_.column<T>(assignment.field).get(record.value());
            if constexpr (std::is_floating_point_v<T>)
              if (std::isnan(old) && std::isnan(value)) return true;
            return old == value;
          }
        },
        assignment.value);
  }

  // Also does what the rules of references to the record say, which may change other tables.
  void remove(Record_Id record) {
    try {
      writer_.changes().erase(table_, record);
    } catch (const Deletion_Refused& error) {
      throw Sql_Error(SQLITE_CONSTRAINT_FOREIGNKEY, error.what());
    } catch (const Unique_Violation& error) {  // by a reference that would become null
      throw Sql_Error(SQLITE_CONSTRAINT_UNIQUE, error.what());
    }
    virtual_table_.file().note_deleted_records();
  }

  // Calls f(). If another record already has a unique key: with REPLACE, deletes that record, and
  // calls f() again; otherwise, throws Sql_Error.
  template <class F>
  void retry(F f) {
    while (true) {
      Record_Id other;
      try {
        return f();
      } catch (const Unique_Violation& error) {
        if (conflict_ != SQLITE_REPLACE)
          throw Sql_Error(SQLITE_CONSTRAINT_UNIQUE,
                          "UNIQUE constraint failed: " + key(error.index));
        other = error.other;
      }
      remove(other);
    }
  }
  // Returns the columns of an index, like "person.name, person.first_name".
  std::string key(const std::string& index_name) const {
    std::string result;
    for (const auto& index : table_.indexes())
      if (index->definition().name == index_name)
        for (const Field_Id field : index->definition().fields)
          result +=
              (result.empty() ? "" : ", ") + name_ + '.' + virtual_table_.name_of(field, table_);
    return result;
  }

  Virtual_Table& virtual_table_;
  Writer& writer_;
  Table& table_;
  const std::string& name_;
  const int conflict_;
  std::vector<Assignment> values_;
  std::deque<std::string> texts_;  // of values_
};

}  // namespace

sqlite3_int64 change_row(Virtual_Table& table, int count, sqlite3_value** values) {
  // SQLite does not report a transaction to a table that was created in this transaction.
  if (table.file().writer() == nullptr)
    throw Exception(table.file().name() +
                    " was opened in this transaction: COMMIT before it is written");
  table.file().note_change();
  Row_Change change(table);
  if (count == 1) {
    change.erase(values[0]);
    return 0;
  }
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return change.insert(values[1], values + 2);
  change.update(values[0], values[1], values + 2);
  return 0;
}

}  // namespace joedb
