#include "exchange/import.h"

#include "kernel/table/declaration.h"

namespace joedb {

// ---- the schema ---------------------------------------------------------------------------------

static Table_Id find_table(const Database& database, const std::string& name) {
  const Table* const table = database.find_table(name);
  if (table == nullptr) throw Data_Error("there is no table " + name);
  return table->id();
}

static Table_Id make_table(Writable_Database& database, const std::string& name) {
  database.write(Create_Table{name});
  return find_table(database.get_database(), name);
}

Import_Target Import_Plan::make(Writable_Database& database) const {
  const Database& content = database.get_database();
  Import_Target target{
      .table = is_new_table ? make_table(database, table) : find_table(content, table),
      .columns = {},
      .has_ids = id_source.has_value(),
      .deletes_missing = deletes_missing,
      .memory = memory};
  for (const Column& column : columns) {
    if (column.makes_table && content.find_table(column.referenced) == nullptr)
      database.write(Add_Field{
          make_table(database, column.referenced), column.lookup, {Type_Code::string, {}}});
    if (!column.is_new) continue;
    Type type{column.type, {}};
    if (!column.lookup.empty())
      type = {Type_Code::reference, find_table(content, column.referenced)};
    add_field(database, Add_Field{target.table, column.field, type}, column.logical);
  }
  const Table& made = content.table(target.table);
  for (const Column& column : columns) {
    Import_Column& result = target.columns.emplace_back();
    result.field = made.find_field(column.field);
    result.refuses_missing = column.is_guessed && !has_read_all && column.type != Type_Code::string;
    if (column.lookup.empty()) continue;
    const Table_Id referenced = find_table(content, column.referenced);
    result.lookup = content.table(referenced).find_field(column.lookup);
    result.creates_missing = column.creates_missing;
  }
  for (const std::string& name : key) target.key.push_back(made.find_field(name));
  return target;
}

// ---- rows ---------------------------------------------------------------------------------------

namespace {

class Rows {
 public:
  Rows(Row_Source& source, const Import_Plan& plan) : source_(source), plan_(plan) {}

  // Returns the cells of a row in the order that the importer requires.
  std::span<const Cell> make(std::span<const Cell> cells) {
    if (source_.columns().size() > plan_.source_columns) [[unlikely]]
      fail_new_column();
    row_.clear();
    const auto add = [&](std::size_t i) { row_.push_back(i < cells.size() ? cells[i] : Cell()); };
    if (plan_.id_source) add(*plan_.id_source);
    for (const Import_Plan::Column& column : plan_.columns) add(column.source);
    return row_;
  }

  // Returns the text of the error. Adds a hint if the type of a new field was guessed from the
  // first rows, because this often causes errors.
  std::string text_of(const Row_Error& error) const {
    const std::string text = error.what();
    if (error.is_about_id) return text + "; --rename __id=FIELD makes a field of this column";
    if (!error.column || plan_.has_read_all || !plan_.columns[*error.column].is_new) return text;
    const Import_Plan::Column& column = plan_.columns[*error.column];
    const std::string other = error.is_about_missing
                                  ? "'" + column.field + '=' + column.type_text() + " optional'"
                                  : column.field + "=string";
    return text + ". The type was guessed from the first " + std::to_string(plan_.rows_seen) +
           " rows: --type " + other + " gives another";
  }

 private:
  void fail_new_column() {
    if (!plan_.adds_fields)
      source_.fail(plan_.source_columns,
                   "table " + plan_.table +
                       " has no such field: --add-fields adds it, --skip leaves the column out");
    source_.fail(plan_.source_columns,
                 "this is not in the first " + std::to_string(plan_.rows_seen) +
                     " rows, from which the fields were made: --sample reads more of them");
  }

  Row_Source& source_;
  const Import_Plan& plan_;
  std::vector<Cell> row_;
};

}  // namespace

Import_Counts import_rows(Row_Source& source, Writable_Database& database, const Import_Plan& plan,
                          const std::function<void()>& after_row) {
  Import_Target target = plan.make(database);
  target.has_number_words = source.has_more_columns();  // JSON lines, not CSV
  Row_Importer importer(database, std::move(target));
  Rows rows(source, plan);
  const auto source_column = [&](const Row_Error& error) -> std::optional<std::size_t> {
    if (!error.column) return {};
    return plan.columns[*error.column].source;
  };
  while (source.next()) {
    try {
      importer.add(rows.make(source.cells()), source.line());
    } catch (const Row_Error& error) {
      source.fail(source_column(error), rows.text_of(error));
    }
    after_row();
  }
  try {
    return importer.finish();
  } catch (const Row_Error& error) {
    const auto column = source_column(error);
    throw Data_Error(source.input().name() + ":" + std::to_string(error.place) + ": " +
                     (column ? "column " + source.columns()[*column] + ": " : "") + error.what());
  }
}

}  // namespace joedb
