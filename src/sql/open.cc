#include "sql/open.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "joedb/io/posix_file.h"
#include "kernel/base/plain_text.h"
#include "kernel/table/declaration.h"
#include "sql/statement.h"
#include "sql/values.h"
#include "sql/virtual_table.h"
#include "text/dump.h"
#include "text/sql.h"

namespace joedb {

System::Duration patience_of(sqlite3* connection) {
  std::int64_t milliseconds = 0;
  try {
    Statement timeout(connection, "PRAGMA busy_timeout");
    if (timeout.step()) milliseconds = std::atoll(timeout.text(0).c_str());
  } catch (const Exception&) {
  }
  if (milliseconds <= 0) return default_busy_timeout;
  return std::chrono::milliseconds(milliseconds);
}

namespace {

// Returns an argument of the module in single quotes. SQLite does not evaluate it as an expression.
std::string argument_text(std::string_view text) {
  std::string result;
  append_doubled(result, text, '\'');
  return result;
}

void run(sqlite3* connection, const std::string& sql) { Statement(connection, sql).step(); }

// A table or view to be created.
struct Definition {
  std::string name;
  std::string create;
  std::string drop;
  Table_Id table;  // null for a view
};

bool is_shown(const Table& table) { return hidden_in_sql(table).empty(); }

// Returns the name of the first text of a table or, without one, of the record id.
std::string label_of(const Table& table) {
  for (const auto& [name, id, field] : Sql_Names::fields(table))
    if (field.column->type().code == Type_Code::string &&
        field.column->logical().kind == Logical_Type::Kind::plain)
      return name;
  return "__id";
}

// Returns the statement that makes a view of all fields of a table, with the first text of the
// record in place of each reference. A reference to a table that SQL does not show stays.
std::string joined_view(const Sql_Names& names, const Table& table, const std::string& schema,
                        const std::string& name) {
  std::string fields = "t.\"__id\" AS \"__id\"", joins;
  int number = 0;
  for (const auto& [own_name, id, field] : Sql_Names::fields(table)) {
    std::string value = "t." + sql_name(own_name);
    const Table* const referenced = names.database().find_table(field.column->type().referenced);
    if (field.column->type().code == Type_Code::reference && referenced != nullptr &&
        is_shown(*referenced)) {
      const std::string join = "r" + std::to_string(++number);
      joins += " LEFT JOIN " + schema + sql_name(names.table(*referenced)) + " AS " + join +
               " ON " + join + ".\"__id\" = " + value;
      value = join + "." + sql_name(label_of(*referenced));
    }
    fields += ", " + value + " AS " + sql_name(own_name);
  }
  return "CREATE VIEW " + schema + sql_name(name) + " AS SELECT " + fields + " FROM " + schema +
         sql_name(names.table(table)) + " AS t" + joins;
}

std::vector<Definition> definitions(const Database& database, const std::string& file,
                                    const std::string& options, const std::string& schema) {
  std::vector<Definition> result;
  const auto add = [&](const char* kind, const std::string& name, std::string create,
                       Table_Id table) {
    result.push_back({name, std::move(create),
                      std::string("DROP ") + kind + " IF EXISTS " + schema + sql_name(name),
                      table});
  };
  const Sql_Names names(database);
  std::vector<const Table*> shown = live_tables(database);
  std::erase_if(shown, [](const Table* table) { return !is_shown(*table); });
  for (const Table* table : shown) {
    const std::string& name = names.table(*table);
    add("TABLE", name,
        "CREATE VIRTUAL TABLE " + schema + sql_name(name) + " USING joedb(" + argument_text(file) +
            ", " + argument_text(table->name()) +
            (options.empty() ? "" : ", " + argument_text(options)) + ")",
        table->id());
  }
  for (const Table* table : shown) {
    bool has_references = false;
    for_each_field(*table, [&](Field_Id, const Field& field) {
      has_references |= field.column->type().code == Type_Code::reference;
    });
    const std::string name = names.table(*table) + "__joined";
    if (has_references) add("VIEW", name, joined_view(names, *table, schema, name), {});
  }
  return result;
}

// Throws Exception if a name is in use. For schema temp, checks all schemas, because a name in temp
// hides the same name in other schemas.
void require_unused_names(sqlite3* connection, const std::vector<Definition>& wanted,
                          const std::string& own_schema) {
  std::vector<std::string> schemas{own_schema};
  if (own_schema == "temp") {
    schemas.clear();
    Statement list(connection, "PRAGMA database_list");
    while (list.step()) schemas.push_back(list.text(1));
  }
  for (const std::string& schema : schemas) {
    Statement names(connection, "SELECT name FROM " + sql_name(schema) +
                                    ".sqlite_master WHERE type IN ('table', 'view')");
    while (names.step()) {
      const std::string name = names.text(0);
      for (const Definition& definition : wanted)
        if (sqlite3_stricmp(name.c_str(), definition.name.c_str()) == 0)
          throw Exception("there is already a table or view " + schema + "." + name +
                          "; see joedb_open(FILE, OPTIONS, SCHEMA)");
    }
  }
}

// Returns the tables that SQL does not show, with the reason, one line for each.
std::vector<std::string> hidden_tables(const Database& database, const std::string& file) {
  std::vector<std::string> result;
  for (const Table* table : live_tables(database))
    if (const std::string reason = hidden_in_sql(*table); !reason.empty())
      result.push_back(plain(file + ": " + reason));
  return result;
}

int joedb_open(Shared_Files& files, const std::string& name, const std::string& options,
               const std::string& schema) {
  files.require_unsealed();
  sqlite3* const connection = files.connection();
  const std::shared_ptr<Shared_File> file = files.open(name, options);
  const Database& database = file->present().database();
  const std::vector<Definition> wanted =
      definitions(database, name, options, sql_name(schema) + ".");
  require_unused_names(connection, wanted, schema);
  Shared_Files::Opened opened{name, options, file, schema, {}, hidden_tables(database, name)};
  try {
    for (const Definition& definition : wanted) {
      run(connection, definition.create);
      opened.objects.push_back({definition.name, definition.drop, definition.table});
    }
    files.opened().push_back(opened);
  } catch (...) {
    for (auto made = opened.objects.rbegin(); made != opened.objects.rend(); ++made) try {
        run(connection, made->drop);
      } catch (const Exception&) {  // the first exception is rethrown
      }
    throw;
  }
  return static_cast<int>(live_tables(database).size() - opened.hidden.size());
}

// Nobody would look for the reason why a table is not there.
void say_what_is_hidden(const Shared_Files::Opened& opened) {
  for (const std::string& line : opened.hidden) std::fprintf(stderr, "%s\n", line.c_str());
}

// Returns true if joedb_open has created this table or view. Another object may have its name now.
bool is_joedb_object(sqlite3* connection, const std::string& schema, const std::string& name) {
  try {
    return Statement(connection, "SELECT 1 FROM " + sql_name(schema) +
                                     ".sqlite_master WHERE name = " + sql_text(name) +
                                     " AND (sql LIKE 'CREATE VIRTUAL TABLE % USING joedb(%' OR"
                                     " type = 'view' AND name LIKE '%\\_\\_joined' ESCAPE '\\')")
        .step();
  } catch (const Exception&) {  // there is no such schema
    return false;
  }
}

// Returns how many times the file had been opened.
int joedb_close(Shared_Files& files, const std::string& name) {
  files.require_unsealed();
  int count = 0;
  auto& all = files.opened();
  for (const Shared_Files::Opened& opened : all)
    if (opened.name == name && opened.file->writer() != nullptr)
      throw Sql_Error(SQLITE_LOCKED, name + " is being written: COMMIT or ROLLBACK first");
  for (std::size_t i = 0; i < all.size();) {
    if (all[i].name != name) {
      ++i;
      continue;
    }
    auto& objects = all[i].objects;
    for (; !objects.empty(); objects.pop_back())
      if (is_joedb_object(files.connection(), all[i].schema, objects.back().name))
        run(files.connection(), objects.back().drop);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    ++count;
  }
  if (count == 0) throw Exception(name + " was not opened by joedb_open");
  return count;
}

// Changes tables and fields of a file, and makes its tables and views again. make_commands gets the
// database as it is when the file is locked.
int joedb_alter(Shared_Files& files, const std::string& name,
                const std::function<std::string(const Database&)>& make_commands) {
  files.require_unsealed();
  std::vector<Shared_Files::Opened> opened;
  for (const Shared_Files::Opened& one : files.opened())
    if (one.name == name) opened.push_back(one);
  if (opened.empty()) throw Exception(name + " was not opened by joedb_open");
  Statement query_only(files.connection(), "PRAGMA query_only");
  if (query_only.step() && query_only.text(0) == "1")
    throw Sql_Error(SQLITE_READONLY, "attempt to write a readonly database");
  Shared_File& file = *opened[0].file;
  if (sqlite3_get_autocommit(files.connection()) == 0)  // the change would not be part of it
    throw Sql_Error(SQLITE_LOCKED, "joedb_alter in a transaction: COMMIT or ROLLBACK first");
  file.begin_writing(patience_of(files.connection()));
  try {
    file.writer()->change_schema(make_commands(file.writer()->database()));
    file.writer()->commit();
  } catch (...) {
    file.end_writing();
    throw;
  }
  file.end_writing();
  joedb_close(files, name);
  for (const Shared_Files::Opened& one : opened)
    joedb_open(files, name, one.options_file, one.schema);
  const Shared_Files::Opened& made = files.opened().back();
  if (made.hidden != opened.back().hidden) say_what_is_hidden(made);
  return static_cast<int>(live_tables(file.present().database()).size());
}

// Returns the table that has this name in a schema; null if there is none that joedb_open has made.
Table_Id find_table(const Shared_Files::Opened& opened, const std::string& name) {
  for (const Shared_Files::Opened::Object& object : opened.objects)
    if (is_same_name(object.name, name)) return object.table;
  return {};
}

const Shared_Files::Opened& opened_as(Shared_Files& files, const std::string& schema) {
  const auto& all = files.opened();
  const auto found =
      std::ranges::find_if(all, [&](const auto& one) { return is_same_name(one.schema, schema); });
  if (found == all.end()) throw Exception("no such schema of a joedb file: " + schema);
  return *found;
}

Table_Id require_table(const Shared_Files::Opened& opened, const std::string& name) {
  const Table_Id id = find_table(opened, name);
  if (id.is_null()) throw Exception("no such table: " + opened.schema + '.' + name);
  return id;
}

void require_identifier(const std::string& name, const char* what) {
  if (!is_identifier(name))
    throw Exception('"' + plain(name) + "\" cannot be the name of " + what + " in a joedb file");
}

// A field to be added. A reference names a table by its name in SQL.
struct New_Field {
  std::string name;
  std::string type;          // of joedb; empty for a reference
  Table_Id referenced = {};  // null for a reference to the new table itself
  Logical_Type::On_Delete rule = Logical_Type::On_Delete::keep;
};

New_Field new_field(const Shared_Files::Opened& opened, const std::string& name,
                    const std::string& type, const std::string& new_table) {
  require_identifier(name, "a field");
  const auto reference = parse_reference_text(type);
  if (!reference) return {name, type};
  const std::string referenced(reference->table);
  return {name, "",
          is_same_name(referenced, new_table) ? Table_Id() : require_table(opened, referenced),
          reference->rule};
}

// Returns the command of joedbi. `table` is the name in the file.
std::string add_field_command(const Database& database, const std::string& table,
                              const New_Field& field) {
  const std::string type =
      !field.type.empty()
          ? field.type
          : declared_type_text(
                Type_Code::reference, {.on_delete = field.rule},
                field.referenced.is_null() ? table : database.table(field.referenced).name());
  return "add_field " + table + ' ' + field.name + ' ' + type + '\n';
}

// Adds a field to a table of a schema. `type` is one of joedb; a reference names a table of the
// schema, and may have a rule. Tables have their names in SQL.
int joedb_add_column(Shared_Files& files, const std::string& schema, const std::string& table,
                     const std::string& column, const std::string& type) {
  const Shared_Files::Opened& opened = opened_as(files, schema);
  const Table_Id id = require_table(opened, table);
  const New_Field field = new_field(opened, column, type, "");
  return joedb_alter(files, std::string(opened.name), [=](const Database& database) {
    const Table& changed = database.table(id);
    if (!changed.find_field(column).is_null()) throw Exception("duplicate column name: " + column);
    require_new_field_name(changed, {}, column);
    return add_field_command(database, changed.name(), field);
  });
}

// Makes a table with fields, which are lines of a name, a tab and a type, as for joedb_add_column.
int joedb_create_table(Shared_Files& files, const std::string& schema, const std::string& table,
                       const std::string& lines) {
  const Shared_Files::Opened& opened = opened_as(files, schema);
  require_identifier(table, "a table");
  std::vector<New_Field> fields;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    const std::size_t blank = std::min(line.find('\t'), line.size());
    const std::string name = line.substr(0, blank);
    for (const New_Field& other : fields)
      if (is_same_name(other.name, name)) throw Exception("duplicate column name: " + name);
    fields.push_back(new_field(opened, name, line.substr(std::min(blank + 1, line.size())), table));
    at = end + 1;
  }
  return joedb_alter(files, std::string(opened.name), [&](const Database& database) {
    const Sql_Names names(database);
    for (const Table* other : live_tables(database))
      if (is_same_name(names.table(*other), table))
        throw Exception("table " + table + " already exists");
    require_new_table_name(database, {}, table);
    std::string commands = "create_table " + table + '\n';
    for (const New_Field& field : fields) commands += add_field_command(database, table, field);
    return commands;
  });
}

// Returns the name of a declared index as the file has it; an empty one if there is none.
std::string find_declared(const Database& database, const std::string& name) {
  if (database.find_declared_index(name) != nullptr) return name;
  for (const Index* index : database.indexes())
    if (database.is_declared(*index) && is_same_name(index->definition().name, name))
      return index->definition().name;
  return "";
}

Field_Id require_column(const Table& table, const std::string& name) {
  for (const auto& [own_name, id, field] : Sql_Names::fields(table))
    if (is_same_name(own_name, name)) return id;
  throw Exception("table " + table.name() + " has no column named " + plain(name));
}

// Declares an index. The table and its columns, one in each line, have their names in SQL. Returns
// 0 if there is an index of this name.
int joedb_create_index(Shared_Files& files, const std::string& schema, const std::string& table,
                       const std::string& name, const std::string& columns, bool is_unique) {
  const Shared_Files::Opened& opened = opened_as(files, schema);
  const Table_Id id = require_table(opened, table);
  require_identifier(name, "an index");
  if (!find_declared(opened.file->present().database(), name).empty()) return 0;
  joedb_alter(files, std::string(opened.name), [&](const Database& database) {
    Index_Definition index{name, id, {}, is_unique};
    for (std::size_t at = 0; at < columns.size();) {
      const std::size_t end = std::min(columns.find('\n', at), columns.size());
      index.fields.push_back(require_column(database.table(id), columns.substr(at, end - at)));
      at = end + 1;
    }
    return index_command(index, database.table(id));
  });
  return 1;
}

// Ends the declaration of an index in the file of a schema; without one, in the first file that has
// it. Returns 0 if there is none.
int joedb_drop_index(Shared_Files& files, const std::string& schema, const std::string& name) {
  for (const Shared_Files::Opened& opened : files.opened()) {
    if (!schema.empty() && !is_same_name(opened.schema, schema)) continue;
    const std::string found = find_declared(opened.file->present().database(), name);
    if (found.empty()) continue;
    joedb_alter(files, std::string(opened.name),
                [&](const Database&) { return "drop_index " + found; });
    return 1;
  }
  return 0;
}

// Returns a line for each field of a table, as for joedb_create_table; nothing if there is no such
// table. A table to which a field refers, but which SQL does not show, has no name.
std::optional<std::string> joedb_fields(Shared_Files& files, const std::string& schema,
                                        const std::string& table) {
  const Shared_Files::Opened& opened = opened_as(files, schema);
  const Table_Id id = find_table(opened, table);
  if (id.is_null()) return {};
  const Database& database = opened.file->present().database();
  std::string lines;
  for (const auto& [name, field_id, field] : Sql_Names::fields(database.table(id))) {
    const Column_Base& column = *field.column;
    (lines += name) += '\t';
    std::string referenced;
    for (const Shared_Files::Opened::Object& object : opened.objects)
      if (object.table == column.type().referenced) referenced = object.name;
    lines += declared_type_text(column.type().code, column.logical(), referenced);
    lines += '\n';
  }
  return lines;
}

std::string argument(sqlite3_value* value) {
  return sqlite3_value_type(value) == SQLITE_NULL ? "" : std::string(text_of(value));
}

template <class F>
void call(sqlite3_context* context, F f) noexcept {
  const auto fail = [context](const char* text) { sqlite3_result_error(context, text, -1); };
  const int code = without_exceptions(
      [&] {
        sqlite3_result_int(context, f(*static_cast<Shared_Files*>(sqlite3_user_data(context))));
        return SQLITE_OK;
      },
      fail);
  if (code == SQLITE_NOMEM)
    sqlite3_result_error_nomem(context);
  else if (code != SQLITE_OK && code != SQLITE_ERROR)
    sqlite3_result_error_code(context, code);
}

// joedb_hidden(): the lines of say_what_is_hidden() for all files; NULL if there are none.
void give_hidden(sqlite3_context* context, int, sqlite3_value**) noexcept {
  try {
    std::string lines;
    for (const auto& opened : static_cast<Shared_Files*>(sqlite3_user_data(context))->opened())
      for (const std::string& line : opened.hidden) (lines += lines.empty() ? "" : "\n") += line;
    if (!lines.empty())
      sqlite3_result_text64(context, lines.data(), lines.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// joedb_fields(SCHEMA, TABLE)
void give_fields(sqlite3_context* context, int, sqlite3_value** values) noexcept {
  const int code = without_exceptions(
      [&] {
        const auto lines = joedb_fields(*static_cast<Shared_Files*>(sqlite3_user_data(context)),
                                        argument(values[0]), argument(values[1]));
        if (lines)
          sqlite3_result_text64(context, lines->data(), lines->size(), SQLITE_TRANSIENT,
                                SQLITE_UTF8);
        return SQLITE_OK;
      },
      [context](const char* text) { sqlite3_result_error(context, text, -1); });
  if (code == SQLITE_NOMEM) sqlite3_result_error_nomem(context);
}

constexpr int function_flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;

}  // namespace

int register_open(sqlite3* connection, Shared_Files& files) {
  const auto open = [](sqlite3_context* context, int count, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) {
      const int tables =
          joedb_open(shared, argument(values[0]), count > 1 ? argument(values[1]) : "",
                     count > 2 ? argument(values[2]) : "temp");
      say_what_is_hidden(shared.opened().back());
      return tables;
    });
  };
  int code = SQLITE_OK;
  for (int count = 1; count <= 3 && code == SQLITE_OK; ++count)
    code = sqlite3_create_function_v2(connection, "joedb_open", count, function_flags, &files, open,
                                      nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  const auto close = [](sqlite3_context* context, int, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) { return joedb_close(shared, argument(values[0])); });
  };
  code = sqlite3_create_function_v2(connection, "joedb_close", 1, function_flags, &files, close,
                                    nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  const auto seal = [](sqlite3_context* context, int, sqlite3_value**) {
    call(context, [](Shared_Files& shared) {
      shared.seal();
      return static_cast<int>(shared.opened().size());
    });
  };
  code = sqlite3_create_function_v2(connection, "joedb_seal", 0, function_flags, &files, seal,
                                    nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  const auto is_sealed = [](sqlite3_context* context, int, sqlite3_value**) {
    call(context, [](Shared_Files& shared) { return shared.is_sealed() ? 1 : 0; });
  };
  code = sqlite3_create_function_v2(connection, "joedb_is_sealed", 0, function_flags, &files,
                                    is_sealed, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  return sqlite3_create_function_v2(connection, "joedb_hidden", 0, function_flags, &files,
                                    give_hidden, nullptr, nullptr, nullptr);
}

bool is_sealed(sqlite3* connection) {
  try {
    Statement statement(connection, "SELECT joedb_is_sealed()");
    return statement.step() && statement.text(0) == "1";
  } catch (const Exception&) {  // the function does not exist yet
    return false;
  }
}

static int register_index_functions(sqlite3* connection, Shared_Files& files) {
  const auto create = [](sqlite3_context* context, int, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) {
      return joedb_create_index(shared, argument(values[0]), argument(values[1]),
                                argument(values[2]), argument(values[3]),
                                sqlite3_value_int(values[4]) != 0);
    });
  };
  const int code = sqlite3_create_function_v2(connection, "joedb_create_index", 5, function_flags,
                                              &files, create, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  const auto drop = [](sqlite3_context* context, int, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) {
      return joedb_drop_index(shared, argument(values[0]), argument(values[1]));
    });
  };
  return sqlite3_create_function_v2(connection, "joedb_drop_index", 2, function_flags, &files, drop,
                                    nullptr, nullptr, nullptr);
}

int register_alter(sqlite3* connection, Shared_Files& files) {
  const auto alter = [](sqlite3_context* context, int, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) {
      return joedb_alter(shared, argument(values[0]),
                         [&](const Database&) { return argument(values[1]); });
    });
  };
  const int code = sqlite3_create_function_v2(connection, "joedb_alter", 2, function_flags, &files,
                                              alter, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  const auto add_column = [](sqlite3_context* context, int, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) {
      return joedb_add_column(shared, argument(values[0]), argument(values[1]), argument(values[2]),
                              argument(values[3]));
    });
  };
  if (const int added =
          sqlite3_create_function_v2(connection, "joedb_add_column", 4, function_flags, &files,
                                     add_column, nullptr, nullptr, nullptr);
      added != SQLITE_OK)
    return added;
  const auto create_table = [](sqlite3_context* context, int, sqlite3_value** values) {
    call(context, [&](Shared_Files& shared) {
      return joedb_create_table(shared, argument(values[0]), argument(values[1]),
                                argument(values[2]));
    });
  };
  if (const int added =
          sqlite3_create_function_v2(connection, "joedb_create_table", 3, function_flags, &files,
                                     create_table, nullptr, nullptr, nullptr);
      added != SQLITE_OK)
    return added;
  if (const int added = register_index_functions(connection, files); added != SQLITE_OK)
    return added;
  return sqlite3_create_function_v2(connection, "joedb_fields", 2, function_flags, &files,
                                    give_fields, nullptr, nullptr, nullptr);
}

}  // namespace joedb
