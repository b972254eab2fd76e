#include "sql/foreign_keys.h"

#include <array>
#include <memory>

#include "text/sql.h"

namespace joedb {

namespace foreign_keys {
namespace {

// The columns "schema", "table", "column", "references" and "on_delete". The names of actions are
// those of PRAGMA foreign_key_list.
using Row = std::array<std::string, 5>;

struct Foreign_Keys : sqlite3_vtab {
  explicit Foreign_Keys(Shared_Files& shared) : sqlite3_vtab(), files(shared) {}
  Shared_Files& files;
};

struct Foreign_Key_Cursor : sqlite3_vtab_cursor {
  Foreign_Key_Cursor() : sqlite3_vtab_cursor() {}
  std::vector<Row> rows;
  std::size_t at = 0;
};

Foreign_Key_Cursor& cursor_of(sqlite3_vtab_cursor* cursor) {
  return *static_cast<Foreign_Key_Cursor*>(cursor);
}

// Returns the name of a table in SQL; null if joedb_open has not made it.
const std::string* find_name(const Shared_Files::Opened& opened, Table_Id table) {
  for (const Shared_Files::Opened::Object& object : opened.objects)
    if (object.table == table) return &object.name;
  return nullptr;
}

std::string action_of(Logical_Type::On_Delete rule) {
  const std::string_view text = sql_on_delete(rule);
  return text.empty() ? "NO ACTION" : std::string(text.substr(sizeof " ON DELETE " - 1));
}

void add_rows(const Shared_Files::Opened& opened, std::vector<Row>& rows) {
  const Database& database = opened.file->present().database();
  for (const Shared_Files::Opened::Object& object : opened.objects) {
    const Table* const table = object.table.is_null() ? nullptr : database.find_table(object.table);
    if (table == nullptr) continue;
    for (const auto& [name, id, field] : Sql_Names::fields(*table)) {
      if (field.column->type().code != Type_Code::reference) continue;
      const std::string* const referenced = find_name(opened, field.column->type().referenced);
      if (referenced == nullptr) continue;
      rows.push_back({opened.schema, object.name, name, *referenced,
                      action_of(field.column->logical().on_delete)});
    }
  }
}

// ---- the functions of the module

int connect(sqlite3* connection, void* files, int, const char* const*, sqlite3_vtab** result,
            char**) noexcept {
  return without_exceptions(
      [&] {
        const int code = sqlite3_declare_vtab(
            connection,
            "CREATE TABLE x(\"schema\" TEXT, \"table\" TEXT, \"column\" TEXT, \"references\" TEXT,"
            " \"on_delete\" TEXT)");
        if (code != SQLITE_OK) return code;
        sqlite3_vtab_config(connection, SQLITE_VTAB_DIRECTONLY);
        *result = std::make_unique<Foreign_Keys>(*static_cast<Shared_Files*>(files)).release();
        return SQLITE_OK;
      },
      [](const char*) {});
}

int disconnect(sqlite3_vtab* table) noexcept {
  delete static_cast<Foreign_Keys*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) noexcept { return SQLITE_OK; }

int open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) noexcept {
  return without_exceptions(
      [&] {
        *cursor = std::make_unique<Foreign_Key_Cursor>().release();
        return SQLITE_OK;
      },
      [](const char*) {});
}

int close(sqlite3_vtab_cursor* cursor) noexcept {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) noexcept {
  return without_exceptions(
      [&] {
        Foreign_Key_Cursor& c = cursor_of(cursor);
        c.rows.clear();
        c.at = 0;
        for (const auto& opened : static_cast<Foreign_Keys*>(cursor->pVtab)->files.opened())
          add_rows(opened, c.rows);
        return SQLITE_OK;
      },
      [](const char*) {});
}

int next(sqlite3_vtab_cursor* cursor) noexcept {
  ++cursor_of(cursor).at;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* cursor) noexcept {
  return static_cast<int>(cursor_of(cursor).at >= cursor_of(cursor).rows.size());
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) noexcept {
  const Foreign_Key_Cursor& c = cursor_of(cursor);
  const std::string& text = c.rows[c.at][static_cast<std::size_t>(number)];
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) noexcept {
  *id = static_cast<sqlite3_int64>(cursor_of(cursor).at);
  return SQLITE_OK;
}

// Without xCreate, the table is there, and cannot be created.
constexpr sqlite3_module make_module() {
  sqlite3_module m{};
  m.xConnect = connect;
  m.xBestIndex = best_index;
  m.xDisconnect = disconnect;
  m.xOpen = open;
  m.xClose = close;
  m.xFilter = filter;
  m.xNext = next;
  m.xEof = eof;
  m.xColumn = column;
  m.xRowid = rowid;
  return m;
}

constexpr sqlite3_module module = make_module();

}  // namespace
}  // namespace foreign_keys

int register_foreign_keys(sqlite3* connection, Shared_Files& files) {
  return sqlite3_create_module_v2(connection, "joedb_foreign_keys", &foreign_keys::module, &files,
                                  nullptr);
}

}  // namespace joedb
