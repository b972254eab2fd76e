#include "sql/module.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

#include "sql/collation.h"
#include "sql/cursor.h"
#include "sql/foreign_keys.h"
#include "sql/open.h"
#include "sql/register_joedb.h"
#include "sql/row_change.h"
#include "sql/statement.h"
#include "sql/virtual_table.h"

// The functions of the module, which SQLite calls.

namespace joedb {

namespace {

Virtual_Table& table_of(sqlite3_vtab* table) { return *static_cast<Virtual_Table*>(table); }
Cursor& cursor_of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

template <class F>
int guarded(sqlite3_vtab* table, F f) noexcept {
  return without_exceptions(
      [&] {
        f();
        return SQLITE_OK;
      },
      [&](const char* text) { table_of(table).set_error(text); });
}

// Returns an argument of CREATE VIRTUAL TABLE without quotes. SQLite passes arguments as they were
// written.
std::string unquoted(const char* argument) {
  std::string_view text = argument;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  if (text.size() < 2 || std::strchr("'\"`[", text.front()) == nullptr) return std::string(text);
  const char end = text.front() == '[' ? ']' : text.front();
  if (text.back() != end) return std::string(text);
  std::string result;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    result += text[i];
    if (text[i] == end && text[i + 1] == end && i + 2 < text.size()) ++i;
  }
  return result;
}

bool has_utf_8(sqlite3* connection) {
  try {
    Statement encoding(connection, "PRAGMA encoding");
    return encoding.step() && encoding.text(0) == "UTF-8";
  } catch (const Exception&) {  // leave comparisons to SQLite
    return false;
  }
}

// The arguments are the names of the module, the schema and the table, and then FILE, TABLE and
// OPTIONS.
int connect(sqlite3* connection, void* files, int count, const char* const* arguments,
            sqlite3_vtab** result, char** message) noexcept {
  return without_exceptions(
      [&] {
        if (count < 5 || count > 6)
          throw Exception("expected joedb('FILE', 'TABLE') or joedb('FILE', 'TABLE', 'OPTIONS')");
        auto file = static_cast<Shared_Files*>(files)->open(
            unquoted(arguments[3]), count > 5 ? unquoted(arguments[5]) : "");
        auto table = std::make_unique<Virtual_Table>(connection, std::move(file),
                                                     unquoted(arguments[4]), arguments[2]);
        table->set_compares_bytes(has_utf_8(connection));
        if (const int code = sqlite3_declare_vtab(connection, table->declaration().c_str());
            code != SQLITE_OK)
          throw Exception(sqlite3_errmsg(connection));
        // An attacker who writes a schema must not make those who open it read files. An attached
        // schema without a file is different: it belongs to the program, whose views must work.
        const char* const path = sqlite3_db_filename(connection, arguments[1]);
        const bool is_own =
            std::strcmp(arguments[1], "main") != 0 && (path == nullptr || *path == 0);
        sqlite3_vtab_config(connection, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
        sqlite3_vtab_config(connection, is_own ? SQLITE_VTAB_INNOCUOUS : SQLITE_VTAB_DIRECTONLY);
        *result = table.release();
        return SQLITE_OK;
      },
      [&](const char* text) { *message = sqlite3_mprintf("%s", text); });
}

// A separate function: if it were connect(), SQLite would provide a table named joedb.
int create(sqlite3* connection, void* files, int count, const char* const* arguments,
           sqlite3_vtab** result, char** message) noexcept {
  const int code = without_exceptions(
      [&] {
        static_cast<Shared_Files*>(files)->require_unsealed();
        return SQLITE_OK;
      },
      [&](const char* text) { *message = sqlite3_mprintf("%s", text); });
  return code == SQLITE_OK ? connect(connection, files, count, arguments, result, message) : code;
}

// Implements DROP TABLE.
int destroy(sqlite3_vtab* table) noexcept {
  if (table_of(table).file().writer() != nullptr) {
    table_of(table).set_error("a table cannot be dropped in a transaction that writes its file");
    return SQLITE_LOCKED;
  }
  if (table_of(table).file().is_read_only()) return SQLITE_AUTH;
  delete &table_of(table);
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) noexcept {
  delete &table_of(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) noexcept {
  return without_exceptions([&] { return table_of(table).choose(info); },
                            [&](const char* text) { table_of(table).set_error(text); });
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) noexcept {
  return guarded(table, [&] { *cursor = new Cursor(table_of(table)); });
}

int close(sqlite3_vtab_cursor* cursor) noexcept {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int number, const char* text, int,
           sqlite3_value** values) noexcept {
  return guarded(cursor->pVtab, [&] { cursor_of(cursor).filter(number, text, values); });
}

int next(sqlite3_vtab_cursor* cursor) noexcept {
  return guarded(cursor->pVtab, [&] { cursor_of(cursor).move_on(); });
}

int eof(sqlite3_vtab_cursor* cursor) noexcept { return cursor_of(cursor).is_at_end(); }

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) noexcept {
  return guarded(cursor->pVtab, [&] { cursor_of(cursor).give(context, number); });
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) noexcept {
  *id = cursor_of(cursor).rowid();
  return SQLITE_OK;
}

// ---- writing ------------------------------------------------------------------------------------

int update(sqlite3_vtab* table, int count, sqlite3_value** values, sqlite3_int64* id) noexcept {
  return guarded(table, [&] {
    const sqlite3_int64 result = change_row(table_of(table), count, values);
    if (count > 1 && sqlite3_value_type(values[0]) == SQLITE_NULL) *id = result;
  });
}

int begin(sqlite3_vtab* table) noexcept {
  return guarded(table, [&] {
    Virtual_Table& t = table_of(table);
    t.file().begin_writing(patience_of(t.connection()));
  });
}

// Commits in xSync, because this function may fail. SQLite then rolls back everything that is not
// committed yet.
int sync(sqlite3_vtab* table) noexcept {
  return guarded(table, [&] {
    if (Writer* const writer = table_of(table).file().writer()) writer->commit();
  });
}

int commit(sqlite3_vtab* table) noexcept {
  table_of(table).file().end_writing();
  return SQLITE_OK;
}

int rollback(sqlite3_vtab* table) noexcept {
  const int result = guarded(table, [&] {
    if (Writer* const writer = table_of(table).file().writer()) writer->rollback();
  });
  table_of(table).file().end_writing();
  return result;
}

int savepoint(sqlite3_vtab* table, int number) noexcept {
  return guarded(table, [&] {
    if (Writer* const writer = table_of(table).file().writer()) writer->set_savepoint(number);
  });
}

int release(sqlite3_vtab* table, int number) noexcept {
  return guarded(table, [&] {
    if (Writer* const writer = table_of(table).file().writer()) writer->release(number);
  });
}

int rollback_to(sqlite3_vtab* table, int number) noexcept {
  return guarded(table, [&] {
    Shared_File& file = table_of(table).file();
    if (Writer* const writer = file.writer()) {
      file.note_change();
      writer->rollback_to(number);
      file.note_deleted_records();
    }
  });
}

// Refuses to rename the table, because the new name would be valid only in this connection.
int rename(sqlite3_vtab* table, const char*) noexcept {
  table_of(table).set_error(
      "a table of a joedb file cannot be renamed by SQL; joedbi has rename_table");
  return SQLITE_ERROR;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.iVersion = 2;
  module.xCreate = create;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = destroy;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  module.xUpdate = update;
  module.xBegin = begin;
  module.xSync = sync;
  module.xCommit = commit;
  module.xRollback = rollback;
  module.xRename = rename;
  module.xSavepoint = savepoint;
  module.xRelease = release;
  module.xRollbackTo = rollback_to;
  return module;
}

constexpr sqlite3_module joedb_module = make_module();

}  // namespace

int register_files(sqlite3* connection, std::unique_ptr<Shared_Files> files) {
  Shared_Files* const shared = files.release();
  // SQLite calls the last argument even if this fails.
  const int code = sqlite3_create_module_v2(connection, "joedb", &joedb_module, shared,
                                            [](void* p) { delete static_cast<Shared_Files*>(p); });
  if (code != SQLITE_OK) return code;
  if (const int added = register_collations(connection); added != SQLITE_OK) return added;
  const int result = register_open(connection, *shared);
  return result == SQLITE_OK ? register_foreign_keys(connection, *shared) : result;
}

int register_joedb(sqlite3* connection, File_Opener opener, Schema_Changes schema_changes) {
  return without_exceptions(
      [&] {
        if (is_sealed(connection)) return SQLITE_AUTH;  // a new registration would have no seal
        auto files = std::make_unique<Shared_Files>(connection, std::move(opener));
        Shared_Files& shared = *files;
        const int code = register_files(connection, std::move(files));
        return code == SQLITE_OK && schema_changes == Schema_Changes::allowed
                   ? register_alter(connection, shared)
                   : code;
      },
      [](const char*) {});
}

}  // namespace joedb
