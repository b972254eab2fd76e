#include "exchange/sqlite_rows.h"

#include "text/sql.h"

namespace joedb {

// ---- budget -------------------------------------------------------------------------------------

Sqlite_Budget::Sqlite_Budget(const Sqlite& file, std::function<void(std::int64_t)> progress)
    : file_(file),
      progress_(std::move(progress)),
      file_size_(file.number("PRAGMA page_count") * file.number("PRAGMA page_size")) {}

// Throws if the rows exceed twice the size of the file: a UTF-16 text can be half as long again in
// UTF-8.
void Sqlite_Budget::report() {
  constexpr std::int64_t step = 65536;
  if (used_ > 2 * file_size_)
    throw Sqlite_Error(file_.name() + ": has more rows than bytes: the file is damaged");
  progress_(used_);
  next_ = used_ + step;
}

// ---- rows ---------------------------------------------------------------------------------------

static std::string selection(const Sqlite_Table& table) {
  std::string sql = "SELECT ";
  if (!table.rowid.empty()) sql += table.rowid + ',';
  for (const Sqlite_Column& column : table.columns) sql += sql_name(column.name) + ',';
  if (sql.ends_with(',')) sql.pop_back();
  if (sql.ends_with(' ')) sql += '0';  // the table has no columns
  return sql + " FROM " + sql_name(table.name) + " NOT INDEXED";
}

Sqlite_Rows::Sqlite_Rows(const Sqlite& file, const Sqlite_Table& table, Sqlite_Budget& budget)
    : table_(table),
      budget_(budget),
      file_name_(file.name()),
      first_(table.rowid.empty() ? 0 : 1),
      statement_(file.prepare(selection(table))) {}

std::string Sqlite_Rows::place_text(const Sqlite_Table& table, std::int64_t place) {
  return (table.rowid.empty() ? "row " : "rowid ") + std::to_string(place);
}

// ALTER TABLE … ADD COLUMN … DEFAULT … does not change rows: SQLite takes the value from the
// schema.
bool Sqlite_Rows::is_stored(int column) const {
  const auto i = static_cast<std::size_t>(column - first_);
  return i >= table_.columns.size() || !table_.columns[i].has_default;
}

bool Sqlite_Rows::next() {
  if (!statement_.step()) return false;
  if (first_ == 0) {
    ++place_;
  } else {
    const std::int64_t rowid = statement_.integer(0);
    if (has_row_ && rowid <= place_)
      throw Sqlite_Error(file_name_ + ": table " + table_.name + ", " + place_text(table_, rowid) +
                         ": is behind " + place_text(table_, place_) + ": the file is damaged");
    place_ = rowid;
  }
  has_row_ = true;
  std::size_t bytes = 0;
  for (int i = first_; i < statement_.column_count(); ++i) {
    const int type = statement_.type(i);
    if ((type == SQLITE_TEXT || type == SQLITE_BLOB) && is_stored(i))
      bytes += statement_.bytes(i).size();
  }
  budget_.add(bytes);
  return true;
}

void Sqlite_Rows::add_to(std::span<Sqlite_Values> values) const {
  int column = first_;
  for (Sqlite_Values& value : values) value.add(statement_, column++);
}

Cell Sqlite_Rows::cell(std::size_t column) const {
  const int i = first_ + static_cast<int>(column);
  switch (statement_.type(i)) {
    case SQLITE_NULL:
      return Cell::null();
    case SQLITE_INTEGER:
      return Cell::of(statement_.integer(i));
    case SQLITE_FLOAT:
      return Cell::of(statement_.real(i));
    case SQLITE_TEXT:
      return Cell::of(Cell::Kind::text, statement_.bytes(i));
    default:
      return Cell::of(Cell::Kind::bytes, statement_.bytes(i));
  }
}

}  // namespace joedb
