#include "joedb_c.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <forward_list>
#include <limits>

#include "bindings/session.h"
#include "commands/commands.h"
#include "history/tags.h"
#include "joedb/arrow/arrow.h"
#include "joedb/base/version.h"
#include "kernel/table/declaration.h"

struct joedb_db {
  std::unique_ptr<joedb::Session> session;
  bool is_in_call = false;
  std::string text;  // that the last call has returned
};

namespace joedb {

namespace {

// A plain array, because it needs no destructor: functions may be called at the end of the program.
thread_local char error_text[1024];

class Misuse : public Exception {
 public:
  using Exception::Exception;
};

class Interrupted : public Exception {
 public:
  using Exception::Exception;
};

// Returns the code of an exception. Sets errno for an Io_Error.
joedb_code code_of(const Exception& error) {
  const auto is = [&]<class T>(std::type_identity<T>) {
    return dynamic_cast<const T*>(&error) != nullptr;
  };
  if (const auto* const io = dynamic_cast<const Io_Error*>(&error)) {
    errno = io->code;
    if (is(std::type_identity<Disk_Full>())) return JOEDB_DISK_FULL;
    if (io->code == ENOENT) return JOEDB_NO_FILE;
    if (io->code == EEXIST) return JOEDB_FILE_EXISTS;
    if (io->code == EAGAIN) return JOEDB_LOCKED;
    return JOEDB_IO;
  }
  if (is(std::type_identity<Misuse>())) return JOEDB_MISUSE;
  if (is(std::type_identity<Interrupted>())) return JOEDB_INTERRUPTED;
  if (is(std::type_identity<Write_Disabled>())) return JOEDB_WRITE_DISABLED;
  if (is(std::type_identity<Corruption_Error>())) return JOEDB_CORRUPT;
  if (is(std::type_identity<Unfinished_Transaction>())) return JOEDB_UNFINISHED;
  if (is(std::type_identity<Data_Error>())) return JOEDB_DATA;
  if (is(std::type_identity<Connection_Lost>())) return JOEDB_CONNECTION_LOST;
  if (is(std::type_identity<Content_Mismatch>())) return JOEDB_DIVERGED;
  if (is(std::type_identity<Disconnection>())) return JOEDB_REFUSED;
  return JOEDB_ERROR;
}

// Truncates a text that is too long, between two UTF-8 characters.
void set_error_text(const char* text) noexcept {
  std::size_t size = std::min(std::strlen(text), sizeof(error_text) - 1);
  if (text[size] != '\0')
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  std::memcpy(error_text, text, size);
  error_text[size] = '\0';
}

// Calls f(). If it throws, returns the code of the exception.
template <class F>
joedb_code guarded(F f) noexcept {
  try {
    f();
    return JOEDB_OK;
  } catch (const Exception& error) {
    set_error_text(error.what());
    return code_of(error);
  } catch (const std::bad_alloc&) {
    set_error_text("no memory");
    return JOEDB_NO_MEMORY;
  } catch (const std::exception& error) {
    set_error_text(error.what());
    return JOEDB_ERROR;
  } catch (...) {
    set_error_text("unknown error");
    return JOEDB_ERROR;
  }
}

template <class T>
void require(const T* pointer, const char* name) {
  if (pointer == nullptr) throw Misuse(std::string(name) + " is null");
}

// Calls f(session). Refuses calls from the interrupt function of the same database. Refuses all
// calls if the tables differ from the file (Session::require_intact).
template <class F>
joedb_code with(joedb_db* db, F f) noexcept {
  return guarded([&] {
    require(db, "the database");
    if (db->is_in_call) throw Misuse("the database is used by its own interrupt function");
    db->session->require_intact();
    struct Call {
      bool& flag;
      explicit Call(bool& f) : flag(f) { flag = true; }
      ~Call() { flag = false; }
    } const call(db->is_in_call);
    f(*db->session);
  });
}

template <class T, class U>
void assign(T* out, U value) {
  if (out != nullptr) *out = static_cast<T>(value);
}

std::string text(const char* s) { return s != nullptr ? s : ""; }

Open_Mode mode_of(std::int32_t mode) {
  switch (mode) {
    case JOEDB_WRITE_OR_NEW:
      return Open_Mode::write_existing_or_create_new;
    case JOEDB_WRITE:
      return Open_Mode::write_existing;
    case JOEDB_NEW:
      return Open_Mode::create_new;
    case JOEDB_SHARED:
      return Open_Mode::shared_write;
    case JOEDB_READ:
      return Open_Mode::read_existing;
  }
  throw Misuse("an unknown mode");
}

std::optional<Recovery> recovery_of(std::int32_t recovery) {
  switch (recovery) {
    case JOEDB_RECOVERY_DEFAULT:
      return {};
    case JOEDB_RECOVERY_NONE:
      return Recovery::none;
    case JOEDB_RECOVERY_KEEP:
      return Recovery::keep;
    case JOEDB_RECOVERY_OVERWRITE:
      return Recovery::overwrite;
  }
  throw Misuse("an unknown recovery");
}

Session_Options options_of(const joedb_options& from) {
  Session_Options options;
  options.recovery = recovery_of(from.recovery);
  options.is_hard = from.is_hard != 0;
  options.has_timestamps = from.has_no_timestamps == 0;
  options.checks_thread = false;
  if (from.timeout > 0 || from.timeout < 0) options.timeout = from.timeout;
  if (from.interrupt != nullptr)
    options.check_interrupt = [f = from.interrupt, argument = from.interrupt_argument] {
      if (f(argument) != 0) throw Interrupted("interrupted");
    };
  options.server = text(from.server);
  options.authority_file = text(from.authority_file);
  options.token_file = text(from.token_file);
  return options;
}

// Throws Data_Error if the field does not exist.
const Field& field_of(const Table& table, joedb_field field) {
  const Field* const found = table.find_field(Field_Id(field));
  if (found == nullptr)
    throw Data_Error(table.name() + " has no field number " + std::to_string(field));
  return *found;
}

template <class T>
T to_integer(const std::string& name, std::int64_t value) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
    throw Data_Error(name + ": " + std::to_string(value) + " does not fit its type");
  return static_cast<T>(value);
}

std::string_view view(const joedb_value& value) {
  if (value.is.bytes.size > 0) require(value.is.bytes.data, "a text or blob");
  return {value.is.bytes.data != nullptr ? value.is.bytes.data : "", value.is.bytes.size};
}

// ---- declared types -----------------------------------------------------------------------------

Field_Type to_type(const Database& database, const char* text) {
  require(text, "the type");
  Line_Reader in(text);
  Field_Type type = read_type(in, database);
  in.require_end();
  return type;
}

Value null_of(const std::string& name, const Column_Base& column) {
  const Type_Code type = column.type().code;
  const Logical_Type& logical = column.logical();
  if (!logical.is_optional && type != Type_Code::reference && type != Type_Code::blob)
    throw Data_Error(name + " is " + declared_type_text(type, logical) +
                     ", which cannot be null: it is not optional");
  return visit_type(type, [&]<class T>(std::type_identity<T>) -> Value {
    return Value(std::in_place_type<T>, missing_value<T>(logical));
  });
}

// Values for joedb_insert and joedb_update, with the texts that they refer to.
struct Inputs {
  std::vector<Field_Input> values;
  std::forward_list<std::string> texts;
};

// Converts JOEDB_AS_TEXT.
template <Field_Value T>
T parse(std::string_view text, const Logical_Type& logical, Inputs& inputs) {
  using Kind = Logical_Type::Kind;
  const auto fail = [&] {
    return Data_Error(expected_text(logical) + " expected, not " + std::string(text));
  };
  if constexpr (std::is_same_v<T, Blob>) {
    throw Data_Error("a blob has no text");
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    if (is_missing(logical, text)) throw Data_Error("this text would mean null");
    if (logical.kind != Kind::bytes && logical.kind != Kind::uuid) return text;
    auto value = parse_logical_bytes(text, logical);
    if (!value) throw fail();
    return inputs.texts.emplace_front(std::move(*value));
  } else {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (logical.kind != Kind::plain) {
        const auto value = parse_logical_number(text, logical);
        if (!value) throw fail();
        return static_cast<T>(*value);
      }
    Line_Reader in(text);
    const T value = read_field_value<T>(in, logical);
    in.require_end();
    return value;
  }
}

Value parse(const std::string& name, const Field& field, const joedb_value& value, Inputs& inputs) {
  const Column_Base& column = *field.column;
  try {
    return visit_type(column.type().code, [&]<class T>(std::type_identity<T>) -> Value {
      return Value(std::in_place_type<T>, parse<T>(view(value), column.logical(), inputs));
    });
  } catch (const Line_Error& error) {
    throw Data_Error(name + ": " + error.reason);
  } catch (const Data_Error& error) {
    throw Data_Error(name + ": " + error.what());
  }
}

// The text of a value that is not null.
std::string to_text(const Column_Base& column, const Value& value) {
  std::string result;
  std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::string_view>) {
          if (!append_logical(result, column.logical(), v)) result = v;
        } else {
          append_value(result, column.logical(), v);
        }
      },
      value);
  return result;
}

bool is_null(const Column_Base& column, const Value& value) {
  return std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, Blob> || std::is_same_v<T, Record_Id>)
          return v.is_null();
        else
          return is_missing(column.logical(), v);
      },
      value);
}

// Throws Data_Error if the field does not exist, or if it cannot hold the value.
Field_Input to_input(const Table& table, joedb_field field, const joedb_value& value,
                     Inputs& inputs) {
  const Field& found = field_of(table, field);
  const std::string name = table.name() + '.' + found.name;
  const Type_Code type = found.column->type().code;
  if (value.type == JOEDB_NULL) return {Field_Id(field), null_of(name, *found.column)};
  if (value.type == JOEDB_AS_TEXT) return {Field_Id(field), parse(name, found, value, inputs)};
  const bool is_bytes = type == Type_Code::blob && value.type == JOEDB_BYTES;
  if (!is_bytes && value.type != static_cast<joedb_type>(type))
    throw Data_Error(name + " is " + std::string(type_name(type)) +
                     ", and the value has another type");
  Field_Input input{Field_Id(field), {}};
  visit_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      input.value = view(value);
    } else if constexpr (std::is_same_v<T, Blob>) {
      input.value = Blob();
      if (is_bytes)
        input.bytes = view(value);
      else
        input.value = Blob(value.is.blob.position, value.is.blob.size);
      Database::require_valid(std::get<Blob>(input.value));
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      if (value.is.integer < -1 || value.is.integer >= static_cast<std::int64_t>(max_compact))
        throw Data_Error(name + ": " + std::to_string(value.is.integer) + " is no record");
      input.value = Record_Id(value.is.integer);
    } else if constexpr (std::is_same_v<T, bool>) {
      input.value = to_integer<bool>(name, value.is.integer);
    } else if constexpr (std::is_floating_point_v<T>) {
      const T number = static_cast<T>(value.is.number);
      if (std::isinf(number) && !std::isinf(value.is.number))
        throw Data_Error(name + ": the number does not fit its type");
      input.value = number;
    } else {
      input.value = to_integer<T>(name, value.is.integer);
    }
  });
  return input;
}

Inputs to_inputs(const Table& table, std::size_t count, const joedb_field* fields,
                 const joedb_value* values) {
  Inputs inputs;
  if (count == 0) return inputs;
  require(fields, "fields");
  require(values, "values");
  inputs.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    inputs.values.push_back(to_input(table, fields[i], values[i], inputs));
  return inputs;
}

Value get_value(const Column_Base& column, index_t record) {
  return visit_type(column.type().code, [&]<class T>(std::type_identity<T>) -> Value {
    return Value(std::in_place_type<T>, T(static_cast<const Column<T>&>(column).get(record)));
  });
}

joedb_value to_value(const Table& table, Field_Id field, const Type& type, index_t record) {
  joedb_value result{};
  result.type = static_cast<joedb_type>(type.code);
  visit_type(type.code, [&]<class T>(std::type_identity<T>) {
    const auto value = table.column<T>(field).get(record);
    if constexpr (std::is_same_v<T, std::string_view>)
      result.is.bytes = {value.data() != nullptr ? value.data() : "", value.size()};
    else if constexpr (std::is_same_v<T, Blob>)
      result.is.blob = {value.get_position(), value.get_size()};
    else if constexpr (std::is_same_v<T, Record_Id>)
      result.is.integer = value.value();
    else if constexpr (std::is_floating_point_v<T>)
      result.is.number = double{value};
    else
      result.is.integer = value;
  });
  return result;
}

// Returns the first number after `number` and below `end` for which is_there() is true; 0 if there
// is none.
template <class F>
std::size_t next_number(std::size_t number, std::size_t end, F is_there) {
  while (++number < end)
    if (is_there(static_cast<std::uint16_t>(number))) return number;
  return 0;
}

// Calls write(session, store) in a transaction, and assigns the result to `out`.
template <class Out, class Write>
joedb_code change_schema(joedb_db* db, Out* out, Write write) {
  return with(db, [&](Session& session) {
    assign(out, session.change([&] { return write(session, session.store()); }));
  });
}
template <class Write>
joedb_code change_schema(joedb_db* db, Write write) {
  return with(db, [&](Session& session) { session.change([&] { write(session.store()); }); });
}

// Calls f(column, value) with a value of a record.
template <class F>
joedb_code with_value(joedb_db* db, joedb_table table, int64_t record, joedb_field field, F f) {
  return with(db, [&](Session& session) {
    const Table& found = session.table(Table_Id(table));
    found.require_used(Record_Id(record));
    const Column_Base& column = *field_of(found, field).column;
    f(column, get_value(column, record));
  });
}

}  // namespace

}  // namespace joedb

using namespace joedb;  // NOLINT

const char* joedb_version(void) { return version; }
int joedb_c_version(void) { return 256 * JOEDB_C_VERSION_MAJOR + JOEDB_C_VERSION_MINOR; }
const char* joedb_error_text(void) { return error_text; }

// ---- opening ------------------------------------------------------------------------------------

joedb_code joedb_open(const char* path, const joedb_options* options, joedb_db** out) {
  return guarded([&] {
    require(path, "the path");
    require(out, "out");
    joedb_options given{};
    if (options != nullptr) {
      if (options->size != sizeof(given))
        throw Misuse("joedb_options.size is not the size of the struct");
      given = *options;
    }
    auto db = std::make_unique<joedb_db>();
    db->session = std::make_unique<Session>(path, mode_of(given.mode), options_of(given));
    *out = db.release();
  });
}

void joedb_close(joedb_db* db) { delete db; }

joedb_code joedb_at(joedb_db* db, const char* when, joedb_db** out) {
  return with(db, [&](Session& session) {
    require(when, "when");
    require(out, "out");
    const auto parsed = parse_when(when, std::time(nullptr));
    if (!parsed)
      throw Misuse(std::string(when) +
                   " is no position, no time like 2026-01-31 or \"2 hours ago\", and no name of a "
                   "tag");
    auto past = std::make_unique<joedb_db>();
    past->session = session.past(resolve(*session.open_reader(), *parsed));
    *out = past.release();
  });
}

joedb_code joedb_checkpoint(joedb_db* db, int64_t* out) {
  return with(db, [&](Session& session) { assign(out, session.checkpoint()); });
}

joedb_code joedb_pull(joedb_db* db, double wait, int64_t* out) {
  return with(db, [&](Session& session) { assign(out, session.pull(wait)); });
}

// ---- transactions -------------------------------------------------------------------------------

joedb_code joedb_begin(joedb_db* db, const char* why, const char* author) {
  return with(db,
              [&](Session& session) { session.begin(text(why), text(author), session.is_hard()); });
}

joedb_code joedb_commit(joedb_db* db) {
  return with(db, [](Session& session) { session.commit(); });
}

joedb_code joedb_rollback(joedb_db* db) {
  return with(db, [](Session& session) { session.rollback(); });
}

joedb_code joedb_hard_checkpoint(joedb_db* db) {
  return with(db, [](Session& session) { session.hard_checkpoint(); });
}

// ---- the schema ---------------------------------------------------------------------------------

joedb_code joedb_find_table(joedb_db* db, const char* name, joedb_table* out) {
  return with(db, [&](Session& session) {
    require(name, "the name");
    const Table* const table = session.database().find_table(std::string_view(name));
    assign(out, table != nullptr ? table->id().value() : 0);
  });
}

joedb_code joedb_find_field(joedb_db* db, joedb_table table, const char* name, joedb_field* out) {
  return with(db, [&](Session& session) {
    require(name, "the name");
    assign(out, session.table(Table_Id(table)).find_field(std::string_view(name)).value());
  });
}

joedb_code joedb_next_table(joedb_db* db, joedb_table table, joedb_table* out) {
  return with(db, [&](Session& session) {
    const Database& database = session.database();
    assign(out, next_number(table, database.tables().size() + 1, [&](std::uint16_t id) {
             return database.find_table(Table_Id(id)) != nullptr;
           }));
  });
}

joedb_code joedb_next_field(joedb_db* db, joedb_table table, joedb_field field, joedb_field* out) {
  return with(db, [&](Session& session) {
    const Table& found = session.table(Table_Id(table));
    assign(out, next_number(field, found.fields().size() + 1, [&](std::uint16_t id) {
             return found.find_field(Field_Id(id)) != nullptr;
           }));
  });
}

joedb_code joedb_table_name(joedb_db* db, joedb_table table, const char** out) {
  return with(
      db, [&](Session& session) { assign(out, session.table(Table_Id(table)).name().c_str()); });
}

joedb_code joedb_describe_field(joedb_db* db, joedb_table table, joedb_field field,
                                const char** name, joedb_type* type, joedb_table* referenced) {
  return with(db, [&](Session& session) {
    const Field& found = field_of(session.table(Table_Id(table)), field);
    assign(name, found.name.c_str());
    assign(type, static_cast<joedb_type>(found.column->type().code));
    assign(referenced, found.column->type().referenced.value());
  });
}

joedb_code joedb_field_type(joedb_db* db, joedb_table table, joedb_field field, const char** out) {
  return with(db, [&](Session& session) {
    const Field& found = field_of(session.table(Table_Id(table)), field);
    db->text = type_text(session.database(), *found.column, "?");
    assign(out, db->text.c_str());
  });
}

joedb_code joedb_create_table(joedb_db* db, const char* name, joedb_table* out) {
  return change_schema(db, out, [&](Session& session, Writable_Database& store) {
    require(name, "the name");
    store.write(Create_Table{name});
    return session.database().find_table(std::string_view(name))->id().value();
  });
}

joedb_code joedb_rename_table(joedb_db* db, joedb_table table, const char* name) {
  return change_schema(db, [&](Writable_Database& store) {
    require(name, "the name");
    store.write(Rename_Table{Table_Id(table), name});
  });
}

joedb_code joedb_drop_table(joedb_db* db, joedb_table table) {
  return change_schema(db,
                       [&](Writable_Database& store) { store.write(Drop_Table{Table_Id(table)}); });
}

joedb_code joedb_add_field(joedb_db* db, joedb_table table, const char* name, joedb_type type,
                           joedb_table referenced, joedb_field* out) {
  return change_schema(db, out, [&](Session& session, Writable_Database& store) {
    require(name, "the name");
    if (type < JOEDB_STRING || type > JOEDB_BLOB) throw Misuse("an unknown type");
    const auto code = static_cast<Type_Code>(type);
    const bool is_reference = code == Type_Code::reference;
    if (is_reference) session.table(Table_Id(referenced));
    store.write(Add_Field{Table_Id(table), name, {code, Table_Id(is_reference ? referenced : 0)}});
    return session.table(Table_Id(table)).find_field(std::string_view(name)).value();
  });
}

joedb_code joedb_add_typed_field(joedb_db* db, joedb_table table, const char* name,
                                 const char* type, joedb_field* out) {
  return change_schema(db, out, [&](Session& session, Writable_Database& store) {
    require(name, "the name");
    const Field_Type field = to_type(session.database(), type);
    session.table(Table_Id(table));
    add_field(store, Add_Field{Table_Id(table), name, field.type}, field.logical);
    return session.table(Table_Id(table)).find_field(std::string_view(name)).value();
  });
}

joedb_code joedb_set_type(joedb_db* db, joedb_table table, joedb_field field, const char* type) {
  return change_schema(db, [&](Writable_Database& store) {
    const Database& database = std::as_const(store).get_database();
    const Field_Type wanted = to_type(database, type);
    const Type stored = field_of(database.table(Table_Id(table)), field).column->type();
    if (stored != wanted.type && wanted.logical.kind == Logical_Type::Kind::plain)
      throw Data_Error("set_type: the field is stored as " + std::string(type_name(stored.code)));
    declare_type(store, Table_Id(table), Field_Id(field), wanted.logical);
  });
}

joedb_code joedb_rename_field(joedb_db* db, joedb_table table, joedb_field field,
                              const char* name) {
  return change_schema(db, [&](Writable_Database& store) {
    require(name, "the name");
    store.write(Rename_Field{Table_Id(table), Field_Id(field), name});
  });
}

joedb_code joedb_drop_field(joedb_db* db, joedb_table table, joedb_field field) {
  return change_schema(db, [&](Writable_Database& store) {
    store.write(Drop_Field{Table_Id(table), Field_Id(field)});
  });
}

// ---- records ------------------------------------------------------------------------------------

joedb_code joedb_insert(joedb_db* db, joedb_table table, size_t count, const joedb_field* fields,
                        const joedb_value* values, int64_t* record) {
  return with(db, [&](Session& session) {
    const Table_Id id(table);
    const Record_Id inserted = session.change([&] {
      return session.insert(id, to_inputs(session.table(id), count, fields, values).values);
    });
    assign(record, inserted.value());
  });
}

joedb_code joedb_update(joedb_db* db, joedb_table table, int64_t record, size_t count,
                        const joedb_field* fields, const joedb_value* values) {
  return with(db, [&](Session& session) {
    const Table_Id id(table);
    session.change([&] {
      session.update(id, Record_Id(record),
                     to_inputs(session.table(id), count, fields, values).values);
    });
  });
}

joedb_code joedb_delete(joedb_db* db, joedb_table table, int64_t record) {
  return with(db, [&](Session& session) {
    session.change([&] { session.erase(Table_Id(table), Record_Id(record)); });
  });
}

joedb_code joedb_count(joedb_db* db, joedb_table table, int64_t* out) {
  return with(db, [&](Session& session) {
    assign(out, session.table(Table_Id(table)).records().used_count());
  });
}

joedb_code joedb_next(joedb_db* db, joedb_table table, int64_t record, int64_t* out) {
  return with(db, [&](Session& session) {
    const Record_Ids& records = session.table(Table_Id(table)).records();
    if (record < -1) throw Misuse("a record is not negative");
    index_t next = record;
    while (next < records.size() && !records.is_used(++next)) {
    }
    assign(out, next < records.size() ? next : -1);
  });
}

joedb_code joedb_get(joedb_db* db, joedb_table table, int64_t record, joedb_field field,
                     joedb_value* out) {
  return with(db, [&](Session& session) {
    require(out, "out");
    const Table& found = session.table(Table_Id(table));
    found.require_used(Record_Id(record));
    *out = to_value(found, Field_Id(field), field_of(found, field).column->type(), record);
  });
}

joedb_code joedb_is_null(joedb_db* db, joedb_table table, int64_t record, joedb_field field,
                         int* out) {
  return with_value(db, table, record, field, [&](const Column_Base& column, const Value& value) {
    assign(out, is_null(column, value));
  });
}

joedb_code joedb_get_text(joedb_db* db, joedb_table table, int64_t record, joedb_field field,
                          const char** out, size_t* size) {
  return with_value(db, table, record, field, [&](const Column_Base& column, const Value& value) {
    if (std::holds_alternative<Blob>(value)) throw Data_Error("a blob has no text");
    const bool has_value = !is_null(column, value);
    db->text = has_value ? to_text(column, value) : "";
    if (out != nullptr) *out = has_value ? db->text.c_str() : nullptr;
    assign(size, db->text.size());
  });
}

joedb_code joedb_read_blob(joedb_db* db, const joedb_value* blob, char* out) {
  return with(db, [&](Session& session) {
    require(blob, "the blob");
    if (blob->type != JOEDB_BLOB) throw Misuse("the value is no blob");
    const std::string bytes = session.read_blob(Blob(blob->is.blob.position, blob->is.blob.size));
    if (bytes.empty()) return;
    require(out, "out");
    std::memcpy(out, bytes.data(), bytes.size());
  });
}

// ---- Arrow --------------------------------------------------------------------------------------

joedb_code joedb_export_arrow(joedb_db* db, joedb_table table, size_t count,
                              const joedb_field* fields, unsigned flags, ArrowArrayStream* out) {
  return with(db, [&](Session& session) {
    require(out, "out");
    if ((flags & ~unsigned{JOEDB_ARROW_IDS | JOEDB_ARROW_VIEWS}) != 0)
      throw Misuse("unknown flags");
    Arrow_Options options;
    options.with_ids = (flags & JOEDB_ARROW_IDS) != 0;
    if ((flags & JOEDB_ARROW_VIEWS) != 0) options.text = Arrow_Text::utf8_view;
    const Table& content = session.table(Table_Id(table));
    const auto is_blob = [](const Field& field) {
      return field.column != nullptr && field.column->type().code == Type_Code::blob;
    };
    bool has_blobs = false;
    if (fields != nullptr) {
      options.fields.emplace();
      for (std::size_t i = 0; i < count; ++i) {
        has_blobs = has_blobs || is_blob(field_of(content, fields[i]));
        options.fields->push_back(Field_Id(fields[i]));
      }
    } else {
      has_blobs = std::any_of(content.fields().begin(), content.fields().end(), is_blob);
    }
    if (has_blobs) options.blob_file = session.open_blob_reader();
    export_table(session.pins(), Table_Id(table), options, out);
  });
}

joedb_code joedb_import_arrow(joedb_db* db, joedb_table table, ArrowArrayStream* in, unsigned flags,
                              int64_t* first, int64_t* count) {
  const joedb_code code = with(db, [&](Session& session) {
    require(in, "in");
    if (in->release == nullptr) throw Misuse("the stream was released already");
    constexpr unsigned known =
        JOEDB_ARROW_NULL_IS_DEFAULT | JOEDB_ARROW_IGNORE_UNKNOWN | JOEDB_ARROW_ROUND;
    if ((flags & ~known) != 0) throw Misuse("unknown flags");
    Arrow_Import_Options options;
    options.null_is_default = (flags & JOEDB_ARROW_NULL_IS_DEFAULT) != 0;
    options.ignore_unknown = (flags & JOEDB_ARROW_IGNORE_UNKNOWN) != 0;
    options.round = (flags & JOEDB_ARROW_ROUND) != 0;
    const Arrow_Imported imported = session.import(Table_Id(table), in, options);
    assign(first, imported.first.value());
    assign(count, imported.rows);
  });
  // Preserve the errno of an Io_Error, because release() may change it.
  const int error = errno;
  if (in != nullptr && in->release != nullptr) in->release(in);
  errno = error;
  return code;
}
