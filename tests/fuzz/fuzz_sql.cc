#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/fuzzers.h"
#include "fuzz/sql_grammar.h"
#include "joedb/base/log.h"
#include "joedb/format/header.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "sim/lab/random.h"
#include "sim/lab/sim_file.h"
#include "support/file_uses.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"
#include "text/sql.h"

namespace joedb::testing {

namespace {

// ---- connections --------------------------------------------------------------------------------

// Forbids statements of the input to access files, or to change what all connections share.
int authorize(void*, int action, const char* name, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_ATTACH:
      return name != nullptr && (*name == 0 || std::string_view(name) == ":memory:") ? SQLITE_OK
                                                                                     : SQLITE_DENY;
    case SQLITE_PRAGMA:
      for (const char* const pragma :
           {"encoding", "database_list", "function_list", "case_sensitive_like",
            "reverse_unordered_selects", "automatic_index", "table_info", "table_xinfo",
            "table_list", "index_list", "integrity_check", "quick_check", "foreign_keys",
            "foreign_key_check", "recursive_triggers", "trusted_schema", "optimize",
            "defer_foreign_keys", "query_only"})
        if (sqlite3_stricmp(name, pragma) == 0) return SQLITE_OK;
      return SQLITE_DENY;
    default:
      return SQLITE_OK;
  }
}

// A connection that interrupts statements that run for long.
class Connection {
 public:
  explicit Connection(File_Opener opener = {}) : session_(std::move(opener)) {
    sqlite3* const db = session_.connection();
    for (const auto& [limit, value] :
         std::initializer_list<std::pair<int, int>>{{SQLITE_LIMIT_LENGTH, 100'000},
                                                    {SQLITE_LIMIT_SQL_LENGTH, 20'000},
                                                    {SQLITE_LIMIT_EXPR_DEPTH, 60},
                                                    {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                                                    {SQLITE_LIMIT_VDBE_OP, 50'000},
                                                    {SQLITE_LIMIT_ATTACHED, 4},
                                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 8}})
      sqlite3_limit(db, limit, value);
    sqlite3_progress_handler(
        db, 1'000,
        [](void* p) {
          constexpr int most = 300;
          return int{++static_cast<Connection*>(p)->steps_ > most};
        },
        this);
    run("PRAGMA temp_store = MEMORY");
    sqlite3_set_authorizer(db, authorize, nullptr);
  }

  sqlite3* get() const { return session_.connection(); }
  void begin() { steps_ = 0; }

  struct Result {
    std::vector<std::string> rows;
    std::string error;    // empty: none
    bool is_cut = false;  // stopped early: it has run too long, or has too many rows
    bool is_readonly = true;
    bool has_begun = false;  // a statement could be prepared
  };
  // Runs one statement after the other, up to the first that fails. Returns the rows of the last
  // one.
  Result run(std::string_view sql) {
    Result result;
    const char* rest = sql.data();
    const char* const end = rest + sql.size();
    while (rest < end && result.error.empty()) {
      begin();
      sqlite3_stmt* statement = nullptr;
      const int code =
          sqlite3_prepare_v2(get(), rest, static_cast<int>(end - rest), &statement, &rest);
      if (code != SQLITE_OK) {
        fail(result, code);
        break;
      }
      if (statement == nullptr) break;  // spaces
      result.rows.clear();
      result.has_begun = true;
      result.is_readonly = result.is_readonly && sqlite3_stmt_readonly(statement) != 0;
      while (step(statement, result)) {
      }
      sqlite3_finalize(statement);
    }
    return result;
  }
  // Adds a row, if there is one. Returns false at the end.
  bool step(sqlite3_stmt* statement, Result& result) {
    constexpr std::size_t max_rows = 5'000;
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return false;
    if (code != SQLITE_ROW) {
      fail(result, code);
      return false;
    }
    std::string row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i)
      row += (i > 0 ? "|" : "") + Sql_Session::shown(statement, i);
    result.rows.push_back(std::move(row));
    result.is_cut = result.rows.size() == max_rows;
    return !result.is_cut;
  }

 private:
  void fail(Result& result, int code) {
    result.error = sqlite3_errmsg(get());
    result.is_cut = code == SQLITE_INTERRUPT || code == SQLITE_NOMEM || code == SQLITE_TOOBIG;
    require(!result.error.empty(), "an error without a text");
    require(code != SQLITE_INTERNAL && code != SQLITE_MISUSE,
            "SQLite is used wrongly: " + result.error);
  }
  Sql_Session session_;
  int steps_ = 0;
};

// ---- content ------------------------------------------------------------------------------------

std::vector<Sql_Table> tables_of(const Database& database) {
  std::vector<Sql_Table> result;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    result.push_back({table->name(), {}});
    for (const Field& field : table->fields())
      if (field.column) result.back().fields.push_back({field.name, field.column->type()});
  }
  return result;
}

template <Field_Value T>
T any_value(Choices& choices, Writable_Database& db) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return choices.one_of(hard_texts());
  } else if constexpr (std::is_same_v<T, Blob>) {
    return choices.one_in(3) ? Blob() : db.write_blob(choices.one_of(hard_texts()));
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    // Other negative ids are null in the journal, but not in the memory of their writer.
    return Record_Id(choices.one_of<index_t>({-1, 0, 1, 2, 3, 5, 8, 1'000'000}));
  } else if constexpr (std::is_same_v<T, bool>) {
    return choices.one_in(2);
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    return choices.one_of<T>({0, T(-0.0), 1, T(1.5), 5, -1, Limits::infinity(), -Limits::infinity(),
                              Limits::quiet_NaN(), T(0.5), T(1e15), T(9223372036854775808.0)});
  } else {
    using Limits = std::numeric_limits<T>;
    return choices.one_of<T>({0, 1, 2, 3, 4, 5, -1, -2, 100, Limits::min(), Limits::max()});
  }
}

void update(Writable_Database& db, const Table& table, std::size_t field, Record_Id id,
            Choices& choices) {
  const Field& found = table.fields()[field];
  if (!found.column) return;
  visit_type(found.column->type().code, [&]<class T>(std::type_identity<T>) {
    db.write(Update<T>{table.id(), id, Field_Id(static_cast<std::uint16_t>(field + 1)),
                       any_value<T>(choices, db)});
  });
}

void insert(Writable_Database& db, const Table& table, Choices& choices) {
  const Record_Id id(table.records().next_free());
  db.write(Insert{table.id(), id});
  for (std::size_t f = 0; f < table.fields().size(); ++f)
    if (!choices.one_in(6)) update(db, table, f, id, choices);
}

Type any_type(Choices& choices) {
  return {static_cast<Type_Code>(1 + choices.below(type_count)),
          Table_Id(static_cast<std::uint16_t>(1 + choices.below(3)))};
}

// Returns indexes of one or two fields.
std::vector<Index_Definition> indexes_of(const Database& database) {
  std::vector<Index_Definition> result;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    std::vector<Field_Id> fields;
    for (std::size_t f = 0; f < table->fields().size(); ++f)
      if (table->fields()[f].column && table->fields()[f].column->type().code != Type_Code::blob)
        fields.push_back(Field_Id(static_cast<std::uint16_t>(f + 1)));
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
      result.push_back(
          {table->name() + std::to_string(i), table->id(), {fields[i], fields[i + 1]}});
    if (!fields.empty()) result.push_back({table->name(), table->id(), {fields.back()}});
  }
  return result;
}

std::string options_text(const Database& database) {
  std::string result;
  for (const Index_Definition& index : indexes_of(database)) {
    const Table& table = database.table(index.table);
    result += "create_index i_" + index.name + " " + table.name() + " ";
    for (std::size_t i = 0; i < index.fields.size(); ++i)
      result += (i > 0 ? "," : "") + table.find_field(index.fields[i])->name;
    result += "\n";
  }
  return result;
}

// A simulated file that can open itself again, like a file with a name.
class Named_Sim_File : public Sim_File {
 public:
  Named_Sim_File(Sim_Disk& disk, Open_Mode mode) : Sim_File(disk, mode), disk_(disk) {}
  std::unique_ptr<Abstract_File> reopen(Open_Mode mode) const override {
    return std::make_unique<Named_Sim_File>(disk_, mode);
  }

 private:
  Sim_Disk& disk_;
};

// ---- the world ----------------------------------------------------------------------------------

// A joedb file with others beside it, a connection that reads it, and SQLite's own tables with the
// same content.
class World {
 public:
  explicit World(std::string file)
      : disk_(std::move(file)),
        joedb_([this](const std::string& name) -> std::unique_ptr<Abstract_File> {
          if (name != "a" && name != "b") throw Exception(name + ": no such file");
          return std::make_unique<Named_Sim_File>(disk_, Open_Mode::read_existing);
        }) {}
  ~World() {
    for (const Running& running : running_) sqlite3_finalize(running.statement);
  }

  // Executes a line of the input: its first letter selects the action, and the other bytes are
  // choices.
  void do_line(std::string_view line) {
    Choices choices(line.substr(1));
    switch (line[0]) {
      case 's':
        return run_raw(line.substr(1));
      case 'w':
        return write(choices);
      case 'i':
        return interleave(choices);
      case 'o':
        return reopen(choices);
      case 'd':
        return change_by_sql(choices);
      case 'c':
        return create(choices);
      case 'm':
        return mark();
      default:
        return ask(choices);
    }
  }

  void make(Choices& choices) {
    is_utf_16_ = choices.one_in(8);
    const std::size_t tables = 1 + choices.below(3),
                      rows = choices.one_of<std::size_t>({5, 30, 90});
    const std::size_t big = choices.one_in(8) ? 300 : 0;
    Random random(choices.below(256));
    std::string bytes;
    for (int i = 0; i < 4'000; ++i) bytes += static_cast<char>(random.below(256));
    Choices values(bytes);
    Sim_File file(disk_);
    Writable_Database db(file);
    for (std::size_t t = 0; t < tables; ++t) db.write(Create_Table{"t" + std::to_string(t)});
    for (std::size_t t = 0; t < tables; ++t) {
      const Table_Id id(static_cast<std::uint16_t>(t + 1));
      for (std::size_t f = choices.below(8); f > 0; --f)
        db.write(Add_Field{id, std::string(1, static_cast<char>('a' + f)), any_type(choices)});
      const Table& table = db.get_database().table(id);
      for (std::size_t i = 0; i < rows; ++i) insert(db, table, values);
      if (t == 0 && big > 0)
        db.write(Insert_Vector{id, Record_Id(table.records().size()), static_cast<index_t>(big)});
      if (choices.one_in(3)) db.write(Delete{id, Record_Id(2)});
    }
    if (choices.one_in(3)) db.write(Timestamp{1'700'000'000});
    db.soft_checkpoint();
  }

  // Opens the file again, and makes new tables in SQLite in place of the present ones.
  void open(bool has_options) {
    close_running();
    if (joedb_.run("SELECT joedb_close('a')").error.empty()) native_.reset();
    native_ = std::make_unique<Connection>();
    if (is_utf_16_) {
      for (Connection* const connection : {&joedb_, native_.get()}) {
        connection->run("PRAGMA encoding = 'UTF-16'");
        connection->run("CREATE TABLE IF NOT EXISTS main.is_made(x)");
      }
    }
    native_checkpoint_ = 0;
    past_position_ = 0;
    is_comparable_ = false;
    std::string options = "NULL";
    if (has_options) {
      static const Temporary_Directory directory;
      const auto database = loaded();
      if (database) {
        options = sql_text(directory.write("a.joedbc", options_text(*database)));
      }
    }
    if (!joedb_.run("SELECT joedb_open('a', " + options + ")").error.empty()) return;
    const auto database = loaded();
    require(database != nullptr, "a file that cannot be read is open");
    tables_ = tables_of(*database);
    if (tables_.empty()) return;
    is_comparable_ = true;
    make_native(*database);
  }

  bool is_open() const { return !tables_.empty(); }

  // Overwrites the file.
  void write_bytes(const std::string& bytes, Offset offset) {
    Sim_File file(disk_);
    file.pwrite(bytes.data(), bytes.size(), offset);
  }
  // Accepts damage that opening the file does not detect: in blobs, or past the end of the file.
  void set_hostile() { is_hostile_ = true; }

  void ask(Choices& choices) {
    if (!is_open()) return;
    Sql_Grammar grammar(choices, tables_, past_position_ > 0);
    const Sql_Question question = grammar.question();
    update_native();
    const auto found = joedb_.run(joedb_text(question));
    compare(question, found, expected(question));
  }

 private:
  struct Running {
    sqlite3_stmt* statement;
    int writes;  // number of writes before the statement
    Sql_Question question;
    std::optional<Connection::Result> expected;
    Connection::Result found;
  };

  // ---- SQLite's own tables

  // Loads the file as SQL does, with the limits for hostile files. Returns null if the file cannot
  // be read.
  std::unique_ptr<Database> loaded() {
    try {
      Sim_File file(disk_, Open_Mode::read_existing);
      Readonly_Journal journal(file);
      auto result = std::make_unique<Database>(Deleted_Values::reset);
      load(*result, journal);
      checkpoint_ = journal.get_checkpoint();
      return result;
    } catch (const Exception&) {
      return nullptr;
    }
  }
  static std::string past_name(const Sql_Table& table) { return table.name + "_past"; }

  void make_native(const Database& database) {
    for (const Sql_Table& table : tables_) {
      for (const std::string& name : {table.name, past_name(table)}) {
        std::string sql = "CREATE TABLE " + sql_name(name) + "(\"__id\" INTEGER PRIMARY KEY";
        for (const Sql_Table::Field& field : table.fields)
          sql += ", " + sql_name(field.name) + " " +
                 std::string(sql_type(field.type.code, Sql_Types::shared));
        if (!native_->run(sql + ")").error.empty()) is_comparable_ = false;
      }
    }
    fill_native(database);
  }
  void fill_native(const Database& database) {
    native_checkpoint_ = checkpoint_;
    constexpr index_t most = 2'000;
    for (const auto& table : database.tables())
      if (table && table->records().used_count() > most) is_comparable_ = false;
    if (!is_comparable_) return;
    native_->run("BEGIN");
    std::size_t number = 0;
    for (const auto& table : database.tables()) {
      if (!table) continue;
      if (number == tables_.size() || tables_[number++].name != table->name()) {
        is_comparable_ = false;
        break;
      }
      fill_native(*table);
    }
    native_->run("COMMIT");
  }
  void fill_native(const Table& table) {
    const std::string name = sql_name(table.name());
    native_->run("DELETE FROM " + name);
    std::string sql = "INSERT INTO " + name + " VALUES(?";
    for (const Field& field : table.fields()) sql += field.column ? ", ?" : "";
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(native_->get(), (sql + ")").c_str(), -1, &statement, nullptr);
    const Sim_File file(disk_, Open_Mode::read_existing);
    const Record_Ids& records = table.records();
    for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
      sqlite3_bind_int64(statement, 1, id);
      int place = 1;
      for (const Field& field : table.fields())
        if (field.column) bind(statement, ++place, *field.column, id, file);
      native_->begin();
      if (sqlite3_step(statement) != SQLITE_DONE) is_comparable_ = false;
      sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
  }
  void bind(sqlite3_stmt* statement, int place, const Column_Base& column, index_t id,
            const Abstract_File& file) {
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      const T value = static_cast<const Column<T>&>(column).get(id);
      if constexpr (std::is_same_v<T, std::string_view>) {
        sqlite3_bind_text(statement, place, value.empty() ? "" : value.data(),
                          static_cast<int>(value.size()), SQLITE_TRANSIENT);
      } else if constexpr (std::is_same_v<T, Blob>) {
        if (value.is_null()) {
          sqlite3_bind_null(statement, place);
          return;
        }
        std::string bytes;
        try {
          if (value.get_size() > 1'000) throw Exception("a large blob");
          bytes = file.read_blob(value);
        } catch (const Exception&) {
          is_comparable_ = false;
        }
        sqlite3_bind_blob(statement, place, bytes.empty() ? "" : bytes.data(),
                          static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
      } else if constexpr (std::is_same_v<T, Record_Id>) {
        if (value.is_null())
          sqlite3_bind_null(statement, place);
        else
          sqlite3_bind_int64(statement, place, value.value());
      } else if constexpr (std::is_floating_point_v<T>) {
        sqlite3_bind_double(statement, place, double{value});
      } else {
        sqlite3_bind_int64(statement, place, value);
      }
    });
  }

  // While a statement is running, all statements see the same state, until one of them writes.
  void update_native() {
    if (running_.empty()) is_mixed_ = false;
    const auto is_before = [this](const Running& running) { return running.writes < writes_; };
    if (!is_comparable_ || !std::all_of(running_.begin(), running_.end(), is_before)) return;
    const auto database = loaded();
    if (!database)
      is_comparable_ = false;
    else if (checkpoint_ != native_checkpoint_)
      fill_native(*database);
  }

  // ---- questions

  std::string joedb_text(const Sql_Question& question) const {
    return question.at("(" + std::to_string(native_checkpoint_) + ")",
                       "(" + std::to_string(past_position_) + ")");
  }
  std::optional<Connection::Result> expected(const Sql_Question& question) {
    if (!may_compare()) return std::nullopt;
    std::string text = question.at("", "\x02");
    for (std::size_t i; (i = text.find('\x02')) != text.npos;)
      text.replace(i - 1, 2, "_past\"");  // inside the quotes
    return native_->run(text);
  }
  bool may_compare() const { return is_comparable_ && !has_changed_ && !is_mixed_; }

  void compare(const Sql_Question& question, Connection::Result found,
               std::optional<Connection::Result> expected) {
    if (!may_compare() || !expected || found.is_cut || expected->is_cut) return;
    // For example, a blob past the end of the file.
    if (is_hostile_ && !found.error.empty()) return;
    if (!question.is_ordered) {
      std::sort(found.rows.begin(), found.rows.end());
      std::sort(expected->rows.begin(), expected->rows.end());
    }
    if (found.rows == expected->rows && found.error.empty() == expected->error.empty()) return;
    const auto list = [](const Connection::Result& result) {
      std::string text = std::to_string(result.rows.size()) + " rows " + result.error + "\n";
      for (std::size_t i = 0; i < std::min<std::size_t>(result.rows.size(), 20); ++i)
        text += "  " + result.rows[i] + "\n";
      return text;
    };
    require(false, "other rows than SQLite's own tables give:\n" + joedb_text(question) + "\n" +
                       list(found) + "expected:\n" + list(*expected));
  }

  // Runs several statements at the same time.
  void interleave(Choices& choices) {
    if (!is_open()) return;
    const std::size_t what = choices.below(3);
    if (running_.size() < 4 && (what == 0 || running_.empty())) {
      Sql_Grammar grammar(choices, tables_, past_position_ > 0);
      update_native();
      Running running{nullptr, writes_, grammar.question(), {}, {}};
      const std::string text = joedb_text(running.question);
      running.expected = expected(running.question);
      joedb_.begin();
      if (sqlite3_prepare_v2(joedb_.get(), text.c_str(), -1, &running.statement, nullptr) !=
              SQLITE_OK ||
          !joedb_.step(running.statement, running.found))
        sqlite3_finalize(running.statement);
      else
        running_.push_back(std::move(running));
      return;
    }
    if (running_.empty()) return;
    const std::size_t place = choices.below(running_.size());
    Running& running = running_[place];
    joedb_.begin();
    for (std::size_t steps = choices.one_of<std::size_t>({1, 3, 300, 10'000}); steps > 0; --steps) {
      if (joedb_.step(running.statement, running.found)) continue;
      compare(running.question, running.found, running.expected);
      end(place);
      return;
    }
    if (what == 2) end(place);
  }
  void end(std::size_t place) {
    sqlite3_finalize(running_[place].statement);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
  }
  void close_running() {
    while (!running_.empty()) end(0);
  }

  // ---- other lines

  void run_raw(std::string_view sql) {
    for (const char* const word : {"/dev/", "/proc/", "/sys/"})
      if (sql.find(word) != sql.npos) return;
    const auto result = joedb_.run(sql);
    const std::size_t begin = std::min(sql.find_first_not_of(" \t\r"), sql.size());
    const bool is_question = sqlite3_strnicmp(sql.data() + begin, "SELECT", 6) == 0;
    // Other effects of the statement cannot be compared.
    if (sql.size() - begin < 6 || !is_question || !result.is_readonly ||
        sql.find(';') != sql.npos || sql.find("joedb") != sql.npos)
      is_comparable_ = false;
  }

  void create(Choices& choices) {
    if (!is_open()) return;
    Sql_Grammar grammar(choices, tables_, false);
    const std::string name = choices.word({"x0", "x1"});
    joedb_.run(grammar.creation(name, {"a", "b", "c", ""}));
    joedb_.run("SELECT * FROM " + name + " LIMIT 20");
    if (choices.one_in(3)) joedb_.run("DROP TABLE IF EXISTS " + name);
  }

  void reopen(Choices& choices) {
    const std::size_t what = choices.below(4);
    if (what == 3) joedb_.run("SELECT joedb_open('b')");  // its names are in use
    if (sqlite3_get_autocommit(joedb_.get()) == 0) joedb_.run("ROLLBACK");
    has_changed_ = false;
    open(what == 1);
  }

  void change_by_sql(Choices& choices) {
    if (!is_open()) return;
    Sql_Grammar grammar(choices, tables_, false);
    const bool was_transaction = sqlite3_get_autocommit(joedb_.get()) == 0;
    const std::string sql = grammar.change();
    const auto result = joedb_.run(sql);
    const bool is_transaction = sqlite3_get_autocommit(joedb_.get()) == 0;
    // Even if it fails: it may have changed some rows, and has seen the newest state.
    const bool is_write = result.has_begun && !result.is_readonly && !sql.starts_with("BEGIN");
    writes_ += int{is_write};
    // A running statement sees another state if it is in a transaction.
    if (!running_.empty() &&
        ((is_write && (was_transaction || is_transaction)) || (has_changed_ && !is_transaction)))
      is_mixed_ = true;
    // Uncommitted changes are visible only to this connection.
    has_changed_ = is_transaction && (has_changed_ || is_write);
  }

  void mark() {
    if (!is_comparable_ || !running_.empty()) return;
    update_native();
    for (const Sql_Table& table : tables_) {
      native_->run("DELETE FROM " + sql_name(past_name(table)));
      native_->run("INSERT INTO " + sql_name(past_name(table)) + " SELECT * FROM " +
                   sql_name(table.name));
    }
    past_position_ = native_checkpoint_;
  }

  void write(Choices& choices) {
    if (sqlite3_get_autocommit(joedb_.get()) == 0) return;  // the connection may have the lock
    try {
      Sim_File file(disk_);
      std::vector<Index_Definition> indexes;
      const bool has_snapshot = choices.one_in(16);
      if (const auto database = has_snapshot ? loaded() : nullptr) indexes = indexes_of(*database);
      Writable_Database db(file, {}, Deleted_Values::reset, std::move(indexes));
      write(db, choices);
      db.soft_checkpoint();
      if (has_snapshot) db.write_snapshot();
    } catch (const Exception&) {  // the file is hostile
    }
  }
  void write(Writable_Database& db, Choices& choices) {
    const Database& database = db.get_database();
    for (std::size_t count = 1 + choices.below(4); count > 0; --count) {
      const std::size_t what = choices.below(12);
      if (what == 11) return change_schema(db, choices);
      if (what == 10) {
        db.hard_checkpoint();
        return;
      }
      if (what == 9) {
        db.write(Timestamp{1'700'000'000 + static_cast<std::int64_t>(choices.below(200)) * 86'400});
        continue;
      }
      std::vector<const Table*> tables;
      for (const auto& table : database.tables())
        if (table) tables.push_back(table.get());
      if (tables.empty()) return;
      const Table& table = *choices.one_of(tables);
      const Record_Ids& records = table.records();
      if (what < 3 || records.used_count() == 0) {
        insert(db, table, choices);
        continue;
      }
      Record_Id id(static_cast<index_t>(choices.below(256)) % records.size());
      if (!records.is_used(id.value())) id = Record_Id(records.first());
      if (what == 3)
        db.write(Delete{table.id(), id});
      else if (!table.fields().empty())
        update(db, table, choices.below(table.fields().size()), id, choices);
    }
  }
  // The tables of the connection stay those of the former schema.
  void change_schema(Writable_Database& db, Choices& choices) {
    const Table_Id table(static_cast<std::uint16_t>(1 + choices.below(3)));
    const Field_Id field(static_cast<std::uint16_t>(1 + choices.below(4)));
    is_comparable_ = false;
    switch (choices.below(6)) {
      case 0:
        return db.write(Add_Field{table, choices.word({"n", "o"}), any_type(choices)});
      case 1:
        return db.write(Drop_Field{table, field});
      case 2:
        return db.write(Rename_Field{table, field, choices.word({"n", "o"})});
      case 3:
        return db.write(Rename_Table{table, "renamed"});
      case 4:
        return db.write(Drop_Table{table});
      default:
        return db.write(Create_Table{choices.word({"created", "sqlite_x", "T0"})});
    }
  }

  Sim_Disk disk_;
  Connection joedb_;
  std::unique_ptr<Connection> native_;
  std::vector<Sql_Table> tables_;  // as the connection has created them
  std::vector<Running> running_;
  Offset checkpoint_ = 0;         // of the last loaded()
  Offset native_checkpoint_ = 0;  // of SQLite's own tables
  Offset past_position_ = 0;      // 0: none
  bool is_utf_16_ = false;
  bool is_hostile_ = false;
  bool is_comparable_ = false;
  bool has_changed_ = false;  // in a transaction
  bool is_mixed_ = false;     // a transaction has, or had, running statements
  int writes_ = 0;            // number of statements that have written
};

// ---- hostile files ------------------------------------------------------------------------------

// Queries the file; then queries a file whose checkpoint is at first the end of its first part, and
// later the end of the whole.
void use_hostile(std::string_view file) {
  Random random(file.size());
  const auto questions = [&](World& world, int count) {
    for (int i = 0; i < count; ++i) {
      std::string bytes = "q";
      for (int k = 0; k < 60; ++k) bytes += static_cast<char>(random.below(256));
      world.do_line(bytes);
    }
  };
  const std::string whole(file);
  {
    World world(whole);
    world.set_hostile();
    world.open(false);
    questions(world, 12);
    world.do_line("w");
    questions(world, 2);
    world.open(true);
    questions(world, 4);
  }
  if (whole.size() <= header_size) return;
  const auto end =
      journal_start + static_cast<Offset>(random.next() % (whole.size() - header_size));
  const auto header = [](Offset position) {
    const auto bytes = encode_header({.checkpoints = {position, position, position, position}});
    return std::string(bytes.begin(), bytes.end());
  };
  World world(header(end) +
              whole.substr(header_size, static_cast<std::size_t>(end - journal_start)));
  world.set_hostile();
  world.open(false);
  questions(world, 2);
  world.write_bytes(whole.substr(static_cast<std::size_t>(end)), end);
  world.write_bytes(header(static_cast<Offset>(whole.size())), 0);
  questions(world, 4);
}

}  // namespace

void fuzz_sql(std::string_view input) {
  Destructor_Logger::remove_logger();
  if (input.empty()) return;
  if (input[0] == 'H') return use_hostile(input.substr(1));
  const auto take_line = [&] {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    return line;
  };
  World world("");
  Choices choices(take_line());
  world.make(choices);
  world.open(choices.one_in(2));
  for (int lines = 0; lines < 60 && !input.empty(); ++lines) {
    const std::string_view line = take_line();
    if (!line.empty()) world.do_line(line);
  }
}

}  // namespace joedb::testing
