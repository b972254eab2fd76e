#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "exchange/identifiers.h"
#include "exchange/sqlite.h"
#include "kernel/base/byte_order_mark.h"
#include "kernel/base/plain_text.h"
#include "kernel/journal/late_file.h"
#include "sql/register_joedb.h"
#include "sql/sqlite_api.h"
#include "text/display_width.h"
#include "text/sql.h"
#include "tools/exchange/sql_definition.h"
#include "tools/exchange/sql_rows.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/frame/pager.h"
#include "tools/frame/source.h"
#include "tools/frame/standard_input.h"
#include "tools/frame/stop_signal.h"
#include "tools/frame/terminal.h"

namespace joedb {

namespace {

const char* const sql_details =
    R"(FILE is a joedb or SQLite file. Without a STATEMENT, statements are read from standard input, each
ended by ;. Between statements, a line that begins with a dot is a command; .help lists them. The
tables of the first FILE are available under their own names, those of all FILEs also with the name
of the file as a prefix: city.country. Other programs may write a joedb file meanwhile: each
statement sees the content at its start.

INSERT, UPDATE, DELETE, CREATE TABLE and ALTER TABLE ADD COLUMN change a joedb file, in transactions
with a hard checkpoint. Columns have types of SQL, like DECIMAL(10,2) NOT NULL, or of joedbi, like
enum(open,paid). CREATE of others and DROP work only on SQLite files and on TEMP tables and views;
to drop a table of a joedb file, use SELECT joedb_alter(FILE, 'drop_table city'). Opening a file
changes nothing: the first change makes a file that does not exist. With --read, nothing can be
changed.

Each table has a view NAME__joined, which shows referenced records by name, and a table function for
past states: TABLE('2026-01-31'). Times are in UTC, as for all functions of SQL, unless an offset
follows: TABLE('2026-01-31 12:00 +0100').

Exit code 1 if a statement failed; a script stops at the first failure.

)";

const char* const sql_examples =
    "  joedb_sql people.joedb\n"
    "  joedb_sql people.joedb 'SELECT name FROM person WHERE born > 1980'\n"
    "  joedb_sql --mode csv --options people.joedbc people.joedb < report.sql\n"
    "  joedb_sql old.joedb new.joedb 'SELECT * FROM new.t EXCEPT SELECT * FROM old.t'\n";

const char* const commands_help = R"(.tables            list the tables and views
.schema [TABLE]    show the statements that make them
.mode MODE         set the output format: table, csv, json or markdown
.timer on|off      print the time of each statement
.help              show this text
.quit              quit, like Ctrl-D
A statement ends with ;
)";

std::vector<std::pair<std::string_view, Row_Format>> format_names() {
  return {{"table", Row_Format::table},
          {"csv", Row_Format::csv},
          {"json", Row_Format::json},
          {"markdown", Row_Format::markdown}};
}

struct Sql_Options {
  std::vector<std::string> options_files;
  Row_Format format = Row_Format::table;
  bool has_timer = false;
  Colour colour = Colour::automatic;
  bool is_readonly = false;
  Source_Options source;
};

// ---- the connection -----------------------------------------------------------------------------

// An SQLite connection to several files.
class Sql_Session {
 public:
  // Opens the first file, like open(). If it is an SQLite file, it becomes the main database, in
  // which CREATE without a schema name creates tables. Otherwise, the main database is in memory.
  Sql_Session(const Sql_Options& options, const std::string& name, const std::string& options_file)
      : options_(options), main_schema_(is_sqlite_file(name) ? schema_name(name) : "") {
    sqlite3* connection = nullptr;
    const bool is_sqlite = !main_schema_.empty();
    const int result = sqlite3_open(is_sqlite ? name.c_str() : ":memory:", &connection);
    connection_.reset(connection);
    check(result);
    using std::chrono::milliseconds;
    const auto patience = std::chrono::duration_cast<milliseconds>(busy_timeout());
    sqlite3_busy_timeout(connection,
                         static_cast<int>(std::clamp(patience, milliseconds(1),
                                                     milliseconds(std::numeric_limits<int>::max()))
                                              .count()));
    check(register_joedb(
        connection, [this](const std::string& file) { return open_file(file); },
        Schema_Changes::allowed));
    sqlite3_set_authorizer(connection, authorize, this);
    // A name in double quotes that does not exist is an error, and not a text.
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    if (is_sqlite) {
      sqlite3_db_config(connection, SQLITE_DBCONFIG_MAINDBNAME, main_schema_.c_str());
      schemas_.push_back(main_schema_);
    } else {
      open(name, options_file);
    }
  }

  sqlite3* connection() const { return connection_.get(); }

  // Attaches a file as a schema. The name of the schema is derived from that of the file.
  void open(const std::string& name, const std::string& options_file) {
    const std::string schema = schema_name(name);
    if (is_sqlite_file(name)) {
      run("ATTACH " + sql_text(name) + " AS " + sql_name(schema));
    } else {
      joedb_files_.emplace_back(schema, name);
      run("ATTACH ':memory:' AS " + sql_name(schema));
      run("SELECT joedb_open(" + sql_text(name) + ", " +
          (options_file.empty() ? "NULL" : sql_text(options_file)) + ", " + sql_text(schema) + ")");
    }
    schemas_.push_back(schema);
  }

  // Returns the tables and views, except SQLite's internal ones. If there are several files, the
  // names have the form SCHEMA.NAME.
  std::vector<std::string> table_names() const {
    std::vector<std::string> names;
    for (const std::string& schema : schemas_)
      for_each_row(
          "SELECT name FROM " + sql_name(schema) +
              ".sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' "
              "ORDER BY name",
          [&](const Sqlite_Statement& row) {
            const std::string name(row.bytes(0));
            names.push_back(schemas_.size() > 1 ? schema + '.' + name : name);
          });
    return names;
  }
  // Returns the names and types of the columns of a table; empty if the table does not exist.
  std::vector<std::pair<std::string, std::string>> columns(const std::string& table) const {
    const std::size_t point = table.find('.');
    const std::string schema = point == table.npos ? "" : table.substr(0, point);
    const std::string name = point == table.npos ? table : table.substr(point + 1);
    std::vector<std::pair<std::string, std::string>> result;
    for_each_row(
        "SELECT name, type FROM pragma_table_info(" + sql_text(name) +
            (schema.empty() ? "" : ", " + sql_text(schema)) + ")",
        [&](const Sqlite_Statement& row) { result.emplace_back(row.bytes(0), row.bytes(1)); });
    return result;
  }

  // Throws Exception if a script has not made a file that did not exist: its name may be wrong.
  void require_made() const {
    for (const std::string& name : late_files_) joedb::require_made(argument_of(name));
  }
  // Prints the error of require_made on standard error: it may be the cause of another error.
  void report_missing_files() const {
    try {
      require_made();
    } catch (const Exception& error) {
      std::cerr << error.what() << '\n';
    }
  }

  // Returns the tables of joedb files that SQL does not show, with the reason, as comments.
  std::string hidden_tables() const {
    std::string lines;
    for_each_row("SELECT '-- ' || replace(joedb_hidden(), char(10), char(10) || '-- ') || char(10)",
                 [&](const Sqlite_Statement& row) { lines = row.bytes(0); });
    return lines;
  }

  void forbid_changes() { run("PRAGMA query_only = 1"); }

  // Calls sqlite3_prepare_v2 for a statement of the user. If the statement would create or drop an
  // object that is in no file, or has RETURNING for a table of a joedb file, `result` is
  // SQLITE_AUTH, and this returns the reason. Otherwise, returns an empty string.
  std::string prepare(std::string_view sql, sqlite3_stmt*& statement, const char*& rest,
                      int& result) {
    refusal_.clear();
    inserts_into_joedb_ = false;
    is_checking_ = true;
    result = sqlite3_prepare_v2(connection(), sql.data(), static_cast<int>(sql.size()), &statement,
                                &rest);
    is_checking_ = false;
    if (result == SQLITE_OK && inserts_into_joedb_ && sqlite3_column_count(statement) > 0 &&
        sqlite3_stmt_isexplain(statement) == 0) {
      sqlite3_finalize(std::exchange(statement, nullptr));
      result = SQLITE_AUTH;
      refusal_ =
          "INSERT RETURNING is not available on tables of joedb files: SQLite would show NULL for "
          "the id, and for all columns without a given value; SELECT last_insert_rowid() returns "
          "the id";
    }
    return result == SQLITE_AUTH ? refusal_ : "";
  }

  // After SQLite has refused `sql`: if this begins with CREATE TABLE, or with ALTER TABLE … ADD
  // COLUMN, for a joedb file, runs this statement, and returns its size. Otherwise, returns 0.
  // Throws Exception if it fails.
  std::size_t define(std::string_view sql, bool is_refused) const {
    if (!is_refused &&
        std::string_view(sqlite3_errmsg(connection())) != "virtual tables may not be altered")
      return 0;
    const auto definition = parse_sql_definition(sql);
    if (!definition || definition->is_new != is_refused) return 0;
    return definition->is_new ? create_table(*definition) : add_field(*definition);
  }

  // Returns the statement that makes a table or view, or the columns of a view that comes with a
  // joedb file, as a comment.
  std::string definition_of(const std::string& table) const {
    const std::size_t point = table.find('.');
    const std::string schema = point == table.npos ? schemas_.front() : table.substr(0, point);
    const std::string name = point == table.npos ? table : table.substr(point + 1);
    std::string text;
    if (!is_joedb_schema(schema.c_str())) {
      for_each_row(
          "SELECT sql FROM " + sql_name(schema) + ".sqlite_schema WHERE name = " + sql_text(name),
          [&](const Sqlite_Statement& row) { text = std::string(row.bytes(0)) + ';'; });
      return text;
    }
    for_each_row("SELECT joedb_fields(" + sql_text(schema) + ", " + sql_text(name) + ')',
                 [&](const Sqlite_Statement& row) {
                   if (row.type(0) != SQLITE_NULL) text = create_statement(table, row.bytes(0));
                 });
    if (!text.empty()) return text;
    text = "-- view " + table + '(';
    const char* separator = "";
    for (const auto& [column, type] : columns(table)) {
      text.append(separator).append(column).append(type.empty() ? "" : " ").append(type);
      separator = ", ";
    }
    return text + ')';
  }

  // The same for CREATE INDEX on such a table, and for DROP INDEX.
  std::size_t change_index(std::string_view sql) const {
    const std::string_view message = sqlite3_errmsg(connection());
    const auto index = parse_index_statement(sql);
    if (!index ||
        (message != "virtual tables may not be indexed" &&
         !message.starts_with("no such table: main.") && !message.starts_with("no such index: ")))
      return 0;
    return index->is_drop ? drop_index(*index) : create_index(*index);
  }

  // The same for DROP INDEX IF EXISTS, which SQLite accepts, if SQLite knows no such index.
  std::size_t drop_if_declared(std::string_view sql) const {
    const auto index = parse_index_statement(sql);
    if (!index || !index->may_be_new ||
        (!index->schema.empty() && !is_joedb_schema(index->schema.c_str())) ||
        !find_object("type = 'index'", index->schema, index->name).first.empty())
      return 0;
    return drop_index(*index);
  }

  // Returns a hint if SQLite has refused a CREATE INDEX because it knows no such table, or because
  // the table is of a joedb file.
  std::string index_hint(std::string_view sql) const {
    const std::string_view message = sqlite3_errmsg(connection());
    if (joedb_files_.empty() || (message != "virtual tables may not be indexed" &&
                                 !message.starts_with("no such table: main.")))
      return "";
    std::istringstream words{std::string(sql.substr(0, 1000))};
    std::string first, second;
    words >> first >> second;
    if (is_same_name(second, "UNIQUE")) words >> second;
    if (!is_same_name(first, "CREATE") || !is_same_name(second, "INDEX")) return "";
    return "\nAn index of a joedb file has the form CREATE [UNIQUE] INDEX NAME ON TABLE(COLUMN, …)";
  }

  // Throws Exception if `result` is an error code.
  void check(int result) const {
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
      throw Exception(connection_ ? sqlite3_errmsg(connection()) : sqlite3_errstr(result));
  }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };

  // ---- definitions of tables of joedb files

  static std::string name_text(const std::string& name) {
    return sqlite3_keyword_check(name.c_str(), static_cast<int>(name.size())) != 0 ? sql_name(name)
                                                                                   : name;
  }

  // `fields` has a line of a name, a tab and a type for each field.
  static std::string create_statement(const std::string& table, std::string_view fields) {
    const std::size_t point = table.find('.');
    std::string sql = "CREATE TABLE ";
    sql += point == table.npos
               ? name_text(table)
               : name_text(table.substr(0, point)) + '.' + name_text(table.substr(point + 1));
    const char* separator = "(";
    std::istringstream lines{std::string(fields)};
    for (std::string line; std::getline(lines, line); separator = ", ") {
      const std::size_t tab = line.find('\t');
      sql.append(separator).append(name_text(line.substr(0, tab))).append(" ");
      sql += column_type(line.substr(tab + 1), name_text);
    }
    return sql + (*separator == '(' ? "(__id INTEGER PRIMARY KEY);" : ");");
  }

  std::size_t add_field(const Sql_Definition& definition) const {
    const auto found = find_table(definition.schema, definition.table);
    if (!is_joedb_schema(found.first.c_str())) return 0;
    const Sql_Definition::Column& column = definition.columns.front();
    run("SELECT joedb_add_column(" + sql_text(found.first) + ", " + sql_text(found.second) + ", " +
        sql_text(column.name) + ", " + sql_text(field_type(column.type)) + ")");
    return definition.size;
  }

  // Makes a table in the file of its schema; without one, in the first file.
  std::size_t create_table(const Sql_Definition& definition) const {
    const bool is_first = definition.schema.empty() || is_same_name(definition.schema, "main");
    const std::string schema = is_first ? schemas_.front() : definition.schema;
    if (!is_joedb_schema(schema.c_str())) return 0;
    if (definition.may_exist && !find_table(schema, definition.table).first.empty())
      return definition.size;
    std::string fields;
    for (const Sql_Definition::Column& column : definition.columns)
      if (!is_record_id(column)) fields += column.name + '\t' + field_type(column.type) + '\n';
    run("SELECT joedb_create_table(" + sql_text(schema) + ", " + sql_text(definition.table) + ", " +
        sql_text(fields) + ")");
    return definition.size;
  }

  std::size_t create_index(const Index_Statement& index) const {
    const auto [schema, table] = find_table(index.schema, index.table);
    if (!is_joedb_schema(schema.c_str())) return 0;
    std::string columns;
    for (const std::string& column : index.columns) {
      if (column.find('\n') != column.npos)
        throw Exception("the name of a column has a newline: " + plain(column));
      columns += column + '\n';
    }
    const bool is_made =
        value_of("SELECT joedb_create_index(" + sql_text(schema) + ", " + sql_text(table) + ", " +
                 sql_text(index.name) + ", " + sql_text(columns) + ", " +
                 (index.is_unique ? "1" : "0") + ")") == "1";
    if (!is_made && !index.may_exist) throw Exception("index " + index.name + " already exists");
    return index.size;
  }

  // Returns 0 if no joedb file has this index.
  std::size_t drop_index(const Index_Statement& index) const {
    if (!index.schema.empty() && !is_joedb_schema(index.schema.c_str())) return 0;
    return value_of("SELECT joedb_drop_index(" + sql_text(index.schema) + ", " +
                    sql_text(index.name) + ")") == "1"
               ? index.size
               : 0;
  }

  File_Argument argument_of(const std::string& name) const {
    File_Argument file = late_argument(name);
    if (options_.is_readonly) file.mode = Open_Mode::read_existing;
    return file;
  }

  std::unique_ptr<Abstract_File> open_file(const std::string& name) {
    if (is_url(name) || is_packed(name) || !is_late(argument_of(name)))
      return open_source(name, options_.source);
    announce_late_file(name);
    late_files_.push_back(name);
    return std::make_unique<Late_File>(name, Open_Mode::read_existing, busy_timeout());
  }

  // ---- definitions that would be lost

  static int authorize(void* session, int action, const char* first, const char* second,
                       const char* schema, const char*) noexcept {
    auto& self = *static_cast<Sql_Session*>(session);
    if (!self.is_checking_) return SQLITE_OK;
    if (action == SQLITE_INSERT && self.is_joedb_schema(schema)) self.inserts_into_joedb_ = true;
    const Definition* const found =
        std::find_if(std::begin(definitions), std::end(definitions),
                     [&](const Definition& definition) { return definition.action == action; });
    if (found == std::end(definitions)) return SQLITE_OK;
    return without_exceptions([&] { return self.check_definition(*found, first, second, schema); },
                              [](const char*) {});
  }

  bool is_joedb_schema(const char* schema) const {
    return schema != nullptr &&
           std::any_of(joedb_files_.begin(), joedb_files_.end(), [&](const auto& file) {
             return sqlite3_stricmp(schema, file.first.c_str()) == 0;
           });
  }

  // A kind of statement that creates or drops objects. `command` is the equivalent command of
  // joedbi, or empty.
  struct Definition {
    int action;
    const char* words;
    const char* command;
  };
  static constexpr Definition definitions[] = {
      {SQLITE_CREATE_TABLE, "CREATE TABLE", ""},
      {SQLITE_CREATE_VTABLE, "CREATE VIRTUAL TABLE", ""},
      {SQLITE_CREATE_VIEW, "CREATE VIEW", ""},
      {SQLITE_CREATE_INDEX, "CREATE INDEX", ""},
      {SQLITE_CREATE_TRIGGER, "CREATE TRIGGER", ""},
      {SQLITE_DROP_TABLE, "DROP TABLE", "drop_table"},
      {SQLITE_DROP_VTABLE, "DROP TABLE", "drop_table"},
      {SQLITE_DROP_VIEW, "DROP VIEW", ""},
      {SQLITE_DROP_INDEX, "DROP INDEX", ""},
      {SQLITE_DROP_TRIGGER, "DROP TRIGGER", ""},
  };

  int check_definition(const Definition& definition, const char* name, const char* module,
                       const char* schema) {
    // A table of a joedb file may be in another schema, in which joedb_open has created it.
    const bool is_joedb_table = definition.action == SQLITE_DROP_VTABLE && module != nullptr &&
                                std::string_view(module) == "joedb";
    const auto is_it = [&](const auto& file) {
      return schema != nullptr && sqlite3_stricmp(schema, file.first.c_str()) == 0;
    };
    const auto file = std::find_if(joedb_files_.begin(), joedb_files_.end(), is_it);
    const bool is_in_memory =
        main_schema_.empty() && schema != nullptr && sqlite3_stricmp(schema, "main") == 0;
    if (!is_joedb_table && !is_in_memory && file == joedb_files_.end()) return SQLITE_OK;
    const std::string joedb_file = file != joedb_files_.end() ? file->second
                                   : is_in_memory             ? joedb_files_.front().second
                                                              : "FILE";
    const bool makes = std::string_view(definition.words).starts_with("CREATE");
    refusal_ = std::string(definition.words) + ' ' + (name == nullptr ? "" : name) +
               (makes ? " would be lost: it would not be stored in a file."
                      : " would not change the file, only the view of it in this session.");
    if (definition.action == SQLITE_CREATE_TABLE)
      refusal_ += " A table of a joedb file is made by CREATE TABLE NAME(COLUMN TYPE, …).";
    else if (*definition.command != 0)
      refusal_ += " Tables of a joedb file are dropped by SELECT joedb_alter(" +
                  sql_text(joedb_file) + ", " +
                  sql_text(std::string(definition.command) + ' ' + (name == nullptr ? "" : name)) +
                  "), or by joedbi.";
    if (makes) {
      refusal_ += " CREATE TEMP creates it until the end of the session";
      for (const std::string& other : schemas_)
        if (std::none_of(joedb_files_.begin(), joedb_files_.end(),
                         [&](const auto& joedb) { return joedb.first == other; })) {
          refusal_ += "; with " + other + ". in front of the name, it is in that file of SQLite";
          break;
        }
    }
    return SQLITE_DENY;
  }

  // Returns an unused schema name. It is derived from the file name, without its directory, up to
  // the first point.
  std::string schema_name(const std::string& file) {
    std::string name = std::filesystem::path(shown_name(file)).filename().string();
    name = to_identifiers({name.substr(0, name.find('.'))}).front();
    const auto is_used = [&](const std::string& candidate) {
      const auto is_same = [&](const std::string& other) {
        return sqlite3_stricmp(candidate.c_str(), other.c_str()) == 0;
      };
      return is_same("main") || is_same("temp") ||
             std::any_of(schemas_.begin(), schemas_.end(), is_same);
    };
    const std::string base = name;
    for (int i = 2; is_used(name); ++i) name = base + std::to_string(i);
    return name;
  }
  void run(const std::string& sql) const {
    check(sqlite3_exec(connection(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  template <class F>
  void for_each_row(const std::string& sql, F f) const {
    static const std::string name = "joedb sql";
    Sqlite_Statement statement(connection(), name, sql);
    while (statement.step()) f(statement);
  }

  // Returns the first value of the first row.
  std::string value_of(const std::string& sql) const {
    std::string value;
    try {
      for_each_row(sql, [&](const Sqlite_Statement& row) { value = row.bytes(0); });
    } catch (const Sqlite_Error&) {
      throw Exception(sqlite3_errmsg(connection()));
    }
    return value;
  }

  // Returns the schema and the name of the table that a statement means, as SQLite finds it. An
  // empty schema means the first one that has the table. Returns empty strings if there is none.
  std::pair<std::string, std::string> find_table(const std::string& schema,
                                                 const std::string& table) const {
    return find_object("type IN ('table', 'view')", schema, table);
  }
  std::pair<std::string, std::string> find_object(const std::string& kind,
                                                  const std::string& schema,
                                                  const std::string& name) const {
    std::vector<std::string> schemas{schema};
    if (schema.empty()) {
      schemas.clear();
      for_each_row("SELECT name FROM pragma_database_list ORDER BY name <> 'temp', seq",
                   [&](const Sqlite_Statement& row) { schemas.emplace_back(row.bytes(0)); });
    }
    std::pair<std::string, std::string> result;
    for (const std::string& one : schemas) {
      for_each_row("SELECT name FROM " + sql_name(one) + ".sqlite_schema WHERE " + kind +
                       " AND name = " + sql_text(name) + " COLLATE NOCASE",
                   [&](const Sqlite_Statement& row) {
                     result = {one, std::string(row.bytes(0))};
                   });
      if (!result.first.empty()) break;
    }
    return result;
  }

  const Sql_Options& options_;
  std::vector<std::pair<std::string, std::string>> joedb_files_;  // schema, name
  std::vector<std::string> schemas_;
  std::vector<std::string> late_files_;  // there were no such files
  // schema of an SQLite file, or empty; initialized before connection_
  const std::string main_schema_;
  std::unique_ptr<sqlite3, Close> connection_;
  bool is_checking_ = false;  // true while a statement of the user is being prepared
  std::string refusal_;
  bool inserts_into_joedb_ = false;  // the statement that was prepared last
};

// ---- statements ---------------------------------------------------------------------------------

// The text of a script, and the offset of the current statement.
struct Place {
  std::string_view text;
  std::size_t start;
};

class Shell {
 public:
  Shell(Sql_Session& session, const Sql_Options& options)
      : session_(session), format_(options.format), has_timer_(options.has_timer) {
    display_.has_colours = has_colours(options.colour);
    interrupt_when_stopped(session.connection(), display_);
  }
  ~Shell() { sqlite3_progress_handler(session_.connection(), 0, nullptr, nullptr); }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Runs all statements of `text` from offset `start` on. Throws Exception, with the position of
  // the error.
  void run(std::string_view text, std::ostream& out, std::size_t start = 0) {
    if (text.size() > std::numeric_limits<int>::max())
      throw Exception("the SQL has more than 2 GiB");
    if (text.find('\0') != text.npos) throw Exception("the SQL contains a zero byte");
    for (Place place{text, start}; place.start < text.size();) {
      sqlite3_stmt* prepared = nullptr;
      const char* rest = nullptr;
      const std::string_view sql = text.substr(place.start);
      int result = SQLITE_OK;
      const std::string refusal = session_.prepare(sql, prepared, rest, result);
      const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared,
                                                                                 &sqlite3_finalize);
      std::size_t size = result == SQLITE_OK ? session_.drop_if_declared(sql) : 0;
      if (size > 0) {
        place.start += size;
        continue;
      }
      if (result != SQLITE_OK) {
        const std::string message =
            refusal.empty() ? sql_error_text(session_.connection(), place.text, place.start)
                            : refusal;
        size = session_.define(sql, !refusal.empty());
        if (size == 0 && refusal.empty()) size = session_.change_index(sql);
        if (size == 0)
          throw Exception(refusal.empty() ? message + session_.index_hint(sql) : message);
        rest = sql.data() + size;
      }
      if (statement) run(statement.get(), place, out);
      place.start += static_cast<std::size_t>(rest - sql.data());
    }
  }

  // Runs a script: statements, and the dot commands of the terminal. Stops at the first error.
  void run_script(std::string_view text) {
    const std::string_view sql = without_mark(text);
    std::size_t done = 0;
    for (std::size_t line = 0; line < sql.size();) {
      const std::size_t end = std::min(sql.find('\n', line), sql.size());
      if (sql[line] == '.' && is_complete(sql.substr(done, line - done))) {
        run(sql.substr(0, line), std::cout, done);
        if (!run_command(sql.substr(line, end - line), std::cout)) return;
        done = end;
      }
      line = end + 1;
    }
    run(sql, std::cout, done);
  }

  void run_terminal() {
    Terminal terminal(std::cout, ".joedb_sql_history", false);
    display_.screen = &terminal;
    display_.has_pager = has_pager_program();
    const Completer completer = [this](std::string_view line) { return complete(line); };
    std::string typed;
    terminal.stop_at_interrupts();
    while (true) {
      try {
        const auto line = terminal.next(prompt(typed.empty() ? "sql" : "..."), completer);
        if (!line) break;
        if (typed.empty() && line->starts_with('.')) {
          if (!run_command(*line, std::cout)) break;
          continue;
        }
        typed.append(*line).append("\n");
        if (sqlite3_complete(typed.c_str()) == 0) continue;
        show(std::exchange(typed, ""), terminal);
      } catch (const Display_Stopped&) {
        typed.clear();
      } catch (const Exception& error) {
        std::cout << "Error: " << error.what() << '\n';
        typed.clear();
      }
    }
    display_.screen = nullptr;
  }

  // Throws Exception if a script has ended in a transaction that has changed something.
  void require_committed() const {
    if (sqlite3_get_autocommit(session_.connection()) == 0 &&
        sqlite3_total_changes(session_.connection()) != changes_before_transaction_)
      throw Exception("the transaction has no COMMIT: its changes were taken back");
  }

 private:
  std::string prompt(const std::string& text) const {
    return display_.has_colours ? prompt_text(text) : text + "> ";
  }

  void show(const std::string& sql, Terminal& terminal) {
    struct Page_End {
      ~Page_End() { terminal.end_page(); }
      Terminal& terminal;
    };
    std::ostream& out = terminal.begin_page(display_.has_pager);
    const Page_End end{terminal};
    run(sql, out);
  }

  void run(sqlite3_stmt* statement, const Place& place, std::ostream& out) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    if (stop_) stop_->require_none("the rest of the script was not run");
    const bool is_alone = sqlite3_get_autocommit(session_.connection()) != 0;
    if (is_alone) changes_before_transaction_ = sqlite3_total_changes(session_.connection());
    if (display_.screen == nullptr && !stop_ &&
        (!is_alone || sqlite3_stmt_readonly(statement) == 0))
      stop_.emplace();
    const int result = Sql_Rows(statement, format_, out, display_).run();
    if (stop_ && result != SQLITE_DONE)
      stop_->require_none(is_alone ? "the statement has changed nothing"
                                   : "the transaction has changed nothing");
    if (result == SQLITE_INTERRUPT) throw Display_Stopped("interrupted");
    if (result != SQLITE_DONE) fail(place);
    if (has_timer_) {
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      std::cerr << std::fixed << std::setprecision(3) << seconds << " s\n";
    }
  }

  [[noreturn]] void fail(const Place& place) const {
    throw Exception(sql_error_text(session_.connection(), place.text, place.start));
  }

  // Returns false if `sql` ends inside a statement.
  static bool is_complete(std::string_view sql) {
    return sqlite3_complete((';' + std::string(sql)).c_str()) != 0;
  }

  // ---- commands

  // Runs a dot command. Returns false if the command is to quit. Throws Exception if the command is
  // unknown.
  bool run_command(std::string_view line, std::ostream& out) {
    std::istringstream in{std::string(line)};
    std::string command, argument;
    in >> command >> argument;
    if (command == ".quit" || command == ".exit") return false;
    if (command == ".help") {
      out << commands_help;
    } else if (command == ".tables") {
      for (const std::string& name : session_.table_names()) out << name << '\n';
      out << session_.hidden_tables();
    } else if (command == ".schema") {
      for (const std::string& name : session_.table_names())
        if (argument.empty() || argument == name) out << session_.definition_of(name) << '\n';
      out << session_.hidden_tables();
    } else if (command == ".timer" && (argument == "on" || argument == "off")) {
      has_timer_ = argument == "on";
    } else if (command == ".mode" && set_format(argument)) {
    } else {
      throw Exception(command + (argument.empty() ? "" : " " + argument) +
                      ": no such command; .help lists them");
    }
    return true;
  }

  bool set_format(const std::string& name) {
    for (const auto& [word, format] : format_names())
      if (word == name) {
        format_ = format;
        return true;
      }
    return false;
  }

  // Completes names of tables, names of columns of tables in the line, and SQL keywords.
  Completions complete(std::string_view line) const {
    const std::size_t space = line.find_last_of(" \t");
    const std::string_view word = space == line.npos ? line : line.substr(space + 1);
    Completions result;
    if (line.starts_with('.')) {
      for (const char* command : {".tables", ".schema", ".mode", ".timer", ".help", ".quit"})
        if (space == line.npos) result.add(word, command);
      if (line.starts_with(".mode "))
        for (const auto& [name, format] : format_names()) result.add(word, name);
      if (!line.starts_with(".schema ")) return result;
    }
    std::set<std::string> fields;
    for (const std::string& table : session_.table_names()) {
      result.add(word, table);
      if (!line.starts_with('.') && line.find(table) != line.npos)
        for (const auto& [name, type] : session_.columns(table)) fields.insert(name);
    }
    for (const std::string& name : fields) result.add(word, name);
    if (!line.starts_with('.') && word.size() > 1)
      for (int i = 0; i < sqlite3_keyword_count(); ++i) {
        const char* keyword = nullptr;
        int size = 0;
        if (sqlite3_keyword_name(i, &keyword, &size) == SQLITE_OK)
          result.add(word, {keyword, static_cast<std::size_t>(size)});
      }
    return result;
  }

  Sql_Session& session_;
  Row_Format format_;
  bool has_timer_;
  Display display_;
  int changes_before_transaction_ = 0;
  // From the first change of a script on: a signal takes the current changes back, instead of
  // ending the process in the middle of them.
  std::optional<Stop_Signal> stop_;
};

// Returns true if a word begins like a statement, for example select(1).
bool begins_statement(std::string_view word) {
  constexpr std::string_view first_words[] = {
      "ALTER",    "ANALYZE",   "ATTACH",  "BEGIN",  "COMMIT", "CREATE",  "DELETE",  "DETACH",
      "DROP",     "END",       "EXPLAIN", "INSERT", "PRAGMA", "REINDEX", "RELEASE", "REPLACE",
      "ROLLBACK", "SAVEPOINT", "SELECT",  "UPDATE", "VACUUM", "VALUES",  "WITH"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::find_if_not(word.begin(), word.end(), is_letter);
  if (end != word.end() && std::string_view("(*'\"`[;").find(*end) == std::string_view::npos)
    return false;
  const std::string_view first = word.substr(0, static_cast<std::size_t>(end - word.begin()));
  return std::any_of(std::begin(first_words), std::end(first_words),
                     [&](std::string_view other) { return is_same_name(first, other); });
}

// Returns true if the word has white space, or begins like a statement or dot command, and is
// neither a file nor a URL.
bool is_statement(const std::string& word) {
  std::error_code ignored;
  const bool is_command = word.starts_with('.') && word.find('/') == word.npos;
  return (word.find_first_of(" \n\t") != word.npos || is_command || begins_statement(word)) &&
         !is_url(word) && !std::filesystem::exists(word, ignored);
}

// Takes the last argument if it is a statement that begins with a comment, which looks like an
// option.
std::string take_commented_statement(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.back().find_first_of(" \n\t") != 2 ||
      !arguments.back().starts_with("--"))
    return "";
  std::string statement = std::move(arguments.back());
  arguments.pop_back();
  return statement;
}

}  // namespace

int run_sql(std::vector<std::string> arguments) {
  Options options({"joedb_sql [options] FILE... [STATEMENT]", "Runs SQL on databases.", sql_details,
                   sql_examples});
  Sql_Options wanted;
  options.add(
      "--options", wanted.options_files,
      "the .joedbc files of the FILEs, in the same order; their indexes make statements faster",
      "FILE,...");
  options.add_choice("--mode", wanted.format, format_names(), "output format of rows");
  options.add_flag("--timer", wanted.has_timer,
                   "print the time of each statement on standard error");
  options.add_flag("--read", wanted.is_readonly, "refuse all changes");
  add_colour_option(options, wanted.colour);
  add_source_options(options, wanted.source);
  add_busy_option(options);
  std::string statement = take_commented_statement(arguments);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  std::vector<std::string> files{words->take_name()};
  while (!words->is_empty()) {
    const std::string word = words->take();
    if (words->is_empty() && is_statement(word))
      statement = word;
    else
      files.push_back(word);
  }
  if (wanted.options_files.size() > files.size())
    words->fail("--options has more files than there are databases");

  wanted.options_files.resize(files.size());
  Sql_Session session(wanted, files[0], wanted.options_files[0]);
  for (std::size_t i = 1; i < files.size(); ++i) session.open(files[i], wanted.options_files[i]);
  if (wanted.is_readonly) session.forbid_changes();
  Shell shell(session, wanted);
  try {
    if (!statement.empty())
      shell.run_script(statement);
    else if (is_interactive())
      shell.run_terminal();
    else
      shell.run_script(std::string(std::istreambuf_iterator<char>(std::cin), {}));
    shell.require_committed();
  } catch (const Exception&) {
    session.report_missing_files();
    throw;
  }
  finish_standard_output();
  session.require_made();
  return 0;
}

}  // namespace joedb
