#include "exchange/sqlite_import.h"

#include <absl/strings/str_join.h>

#include <algorithm>

#include "exchange/identifiers.h"
#include "exchange/sqlite_rows.h"
#include "kernel/base/counted.h"
#include "kernel/table/declaration.h"

namespace joedb {

// ---- the schema ---------------------------------------------------------------------------------

static Table_Id find_table(const Database& database, const Table_Plan& table) {
  const Table* const found = database.find_table(table.table);
  return found == nullptr ? Table_Id() : found->id();
}

// Returns the table to which a column refers; null if that table does not exist, because it is not
// imported.
Table_Id Sqlite_Import::referenced(const Database& database, const Column_Plan& column) const {
  if (column.type != Type_Code::reference) return {};
  const Table_Plan& parent = plan_.tables[column.referenced];
  const Table_Id id = find_table(database, parent);
  if (parent.is_imported || id.is_null() || !column.referenced_column) return id;
  const std::string& key = parent.columns[*column.referenced_column].field;
  return database.table(id).find_field(key).is_null() ? Table_Id() : id;
}

void Sqlite_Import::make_schema(Writable_Database& database, const Table_Plan& plan) {
  const Table_Id id = find_table(database.get_database(), plan);
  const Table& table = database.get_database().table(id);
  for (const Column_Plan& column : plan.columns) {
    const Table_Id parent = referenced(database.get_database(), column);
    const Field_Id field = table.find_field(column.field);
    if (field.is_null()) {
      const Type_Code code = parent.is_null() ? column.value_type : Type_Code::reference;
      Logical_Type logical = parent.is_null() ? column.logical : column.rule;
      // The records that are there have no value, which is neither 1970-01-01 nor 0.00.
      if (logical.kind != Logical_Type::Kind::plain && !column.is_exact &&
          table.records().used_count() > 0)
        logical.is_optional = true;
      add_field(database, Add_Field{id, column.field, {code, parent}}, logical);
      continue;
    }
    const Type there = table.find_field(field)->column->type();
    if (!parent.is_null() && there.code == Type_Code::reference && there.referenced != parent)
      throw Data_Error("field " + column.field + " of table " + plan.table +
                       " refers to another table than " + plan_.tables[column.referenced].table);
  }
}

// The fields may have been there before, with other types than those of the plan.
void Sqlite_Import::note_nulls(const Database& database, const Table_Plan& plan) {
  const Table& table = database.table(find_table(database, plan));
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    const std::int64_t rows = plan.values[i].nulls;
    const Column_Base& column = *table.find_field(table.find_field(plan.columns[i].field))->column;
    const std::string text = missing_value_text(column.type().code, column.logical());
    if (rows == 0 || text.empty()) continue;
    notes_.push_back("NULL becomes " + text + ": " + plan.source.name + '.' +
                     plan.columns[i].column + ", in " + counted(rows, "row"));
  }
}

// Returns "FILE: table TABLE".
std::string Sqlite_Import::place(const Table_Plan& plan) const {
  return file_.name() + ": table " + plan.source.name;
}

std::vector<Field_Id> Sqlite_Import::key(const Database& database, const Table_Plan& plan) const {
  if (!options_.updates || (plan.source.has_ids && options_.key.empty())) return {};
  const auto names = options_.key.empty() ? plan.source.primary_key() : options_.key;
  if (names.empty())
    throw Data_Error(place(plan) +
                     " has no primary key: --key says which columns identify its records, and "
                     "--table which tables to import");
  std::vector<Field_Id> fields;
  const Table& table = database.table(find_table(database, plan));
  for (const std::string& name : names) {
    if (plan.source.find_column(name) == nullptr)
      throw Data_Error(place(plan) + " has no column " + name + " for the key");
    const Column_Plan& column = plan.columns[plan.find(name)];
    if (column.is_deferred)
      throw Data_Error(place(plan) + " cannot have the key " + name +
                       ": it refers to a table that refers to this one");
    fields.push_back(table.find_field(column.field));
  }
  return fields;
}

// Returns how to import a table. A column needs no lookup if its references are record ids, or if
// its field in the database is not a reference.
Import_Target Sqlite_Import::target(const Database& database, const Table_Plan& plan) const {
  const Table& table = database.table(find_table(database, plan));
  Import_Target target{.table = table.id(), .columns = {}, .key = key(database, plan)};
  target.has_ids = plan.source.has_ids && target.key.empty();
  target.deletes_missing = options_.deletes_missing;
  target.memory = options_.memory;
  if (target.deletes_missing && !target.has_ids && target.key.empty())
    throw Data_Error(place(plan) +
                     " has no record ids: --update or --key says what identifies its records");
  for (const Column_Plan& column : plan.columns) {
    Import_Column imported{table.find_field(column.field)};
    const Type type = table.find_field(imported.field)->column->type();
    if (type.code == Type_Code::reference && !referenced(database, column).is_null() &&
        column.referenced_column) {
      const Table_Plan& parent = plan_.tables[column.referenced];
      imported.lookup = database.table(type.referenced)
                            .find_field(parent.columns[*column.referenced_column].field);
      imported.ignores_missing = options_.ignores_dangling;
    }
    target.columns.push_back(imported);
  }
  return target;
}

// ---- rows ---------------------------------------------------------------------------------------

namespace {

// Imports the rows of one table. Adds the place to the text of errors.
class Table_Import {
 public:
  Table_Import(Writable_Database& database, const Sqlite& file, const Table_Plan& plan,
               Import_Target target, Sqlite_Budget& budget)
      : database_(database),
        file_(file),
        plan_(plan),
        target_(std::move(target)),
        budget_(budget) {}

  Import_Counts run() {
    const bool has_deferred = std::any_of(plan_.columns.begin(), plan_.columns.end(),
                                          [](const Column_Plan& c) { return c.is_deferred; });
    Import_Target target = target_;
    for (std::size_t i = 0; i < plan_.columns.size(); ++i)
      if (plan_.columns[i].is_deferred) target.columns[i].lookup = {};
    const std::size_t first = target_.has_ids ? 1 : 0;
    std::vector<Cell> cells(first + plan_.columns.size());
    const std::vector<std::size_t> json = json_columns();
    return locate_errors([&] {
      Row_Importer importer(database_, std::move(target));
      Sqlite_Rows rows(file_, plan_.source, budget_);
      while (rows.next()) {
        if (target_.has_ids && rows.place() < 0)
          throw Row_Error("a record id cannot be negative; --no-ids imports __id as a field", {},
                          rows.place());
        if (target_.has_ids) cells[0] = Cell::of(rows.place());
        for (std::size_t i = 0; i < plan_.columns.size(); ++i)
          cells[first + i] = plan_.columns[i].is_deferred ? Cell() : rows.cell(i);
        for (const std::size_t i : json) cells[first + i] = json_cell(cells[first + i]);
        const Record_Id record = importer.add(cells, rows.place());
        if (has_deferred) records_.push_back(record);
      }
      return importer.finish();
    });
  }

  // Imports the deferred references, when all records exist. Adds those to missing records to
  // `counts`.
  void finish(Import_Counts& counts) {
    if (records_.empty()) return;
    Import_Target target{.table = target_.table, .columns = {}, .has_ids = true};
    target.memory = target_.memory;
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      if (!plan_.columns[i].is_deferred) continue;
      deferred_.push_back(i);
      target.columns.push_back(target_.columns[i]);
    }
    std::vector<Cell> cells(1 + deferred_.size());
    const Import_Counts second = locate_errors([&] {
      Row_Importer importer(database_, std::move(target));
      Sqlite_Budget second_pass(file_);
      Sqlite_Rows rows(file_, plan_.source, second_pass);
      for (std::size_t row = 0; rows.next(); ++row) {
        cells[0] = Cell::of(std::int64_t{records_.at(row).value()});
        for (std::size_t i = 0; i < deferred_.size(); ++i) cells[1 + i] = rows.cell(deferred_[i]);
        importer.add(cells, rows.place());
      }
      return importer.finish();
    });
    counts.dangling.insert(second.dangling.begin(), second.dangling.end());
  }

 private:
  std::vector<std::size_t> json_columns() const {
    const Table& table = database_.get_database().table(target_.table);
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < target_.columns.size(); ++i)
      if (table.find_field(target_.columns[i].field)->column->logical().kind ==
          Logical_Type::Kind::json)
        result.push_back(i);
    return result;
  }

  template <class F>
  Import_Counts locate_errors(F f) const {
    const std::string table = file_.name() + ": table " + plan_.source.name;
    try {
      return f();
    } catch (const Row_Error& error) {
      std::string place = ", " + Sqlite_Rows::place_text(plan_.source, error.place);
      if (error.column) {
        const std::size_t i = deferred_.empty() ? *error.column : deferred_[*error.column];
        place += ", column " + plan_.columns[i].column;
      }
      throw Data_Error(table + place + ": " + error.what() +
                       (error.is_dangling ? "; --null-dangling makes such references null" : ""));
    } catch (const Data_Error& error) {
      throw Data_Error(table + ": " + error.what());
    }
  }

  Writable_Database& database_;
  const Sqlite& file_;
  const Table_Plan& plan_;
  const Import_Target target_;
  Sqlite_Budget& budget_;
  std::vector<Record_Id> records_;     // one per row; empty without deferred columns
  std::vector<std::size_t> deferred_;  // the deferred columns, in finish()
};

}  // namespace

std::vector<Sqlite_Table_Counts> Sqlite_Import::run(Writable_Database& database,
                                                    std::function<void(std::int64_t)> progress) {
  const Database& tables = database.get_database();
  std::vector<const Table_Plan*> plans;
  for (const Table_Plan& plan : plan_.tables)
    if (plan.is_imported) plans.push_back(&plan);
  // Create all tables first, because a field can refer to any of them.
  for (const Table_Plan* plan : plans)
    if (find_table(tables, *plan).is_null()) database.write(Create_Table{plan->table});
  for (const Table_Plan* plan : plans) make_schema(database, *plan);
  notes_.clear();
  for (const Table_Plan* plan : plans) note_nulls(tables, *plan);

  Sqlite_Budget budget(file_, std::move(progress));
  std::vector<Sqlite_Table_Counts> result;
  std::vector<std::unique_ptr<Table_Import>> imports;
  Deleted_Records deleted;
  for (const Table_Plan* plan : plans) {
    Import_Target rows = target(tables, *plan);
    rows.deleted = &deleted;
    imports.push_back(
        std::make_unique<Table_Import>(database, file_, *plan, std::move(rows), budget));
    result.push_back({plan->table, imports.back()->run()});
  }
  for (std::size_t i = 0; i < imports.size(); ++i) imports[i]->finish(result[i].counts);
  database.write_consequences(consequences_of_deletion(tables, deleted));
  return result;
}

// ---- indexes ------------------------------------------------------------------------------------

namespace {

struct Index_Line {
  std::string name;
  const Table* table;
  std::vector<std::string> fields;
  bool is_unique;
};

// Returns the first violation of a unique index as text; nullopt if no two records have the same
// key.
std::optional<std::string> violation(const Index_Line& index) {
  std::vector<Field_Id> fields;
  for (const std::string& field : index.fields) fields.push_back(index.table->find_field(field));
  try {
    const Record_Index check(*index.table, fields);
    return std::nullopt;
  } catch (const Duplicate_Key& error) {
    return error.records;
  }
}

bool has_blob(const Index_Line& index) {
  return std::any_of(index.fields.begin(), index.fields.end(), [&](const std::string& field) {
    const Field* const found = index.table->find_field(index.table->find_field(field));
    return found->column->type().code == Type_Code::blob;
  });
}

// Returns the indexes, with the table and field names of the database. Omits indexes on columns
// that were not imported.
std::vector<Index_Line> index_lines(const Sqlite_Plan& plan, const Database& database) {
  std::vector<Index_Line> lines;
  for (const Table_Plan& table : plan.tables) {
    if (!table.is_imported) continue;
    for (const Sqlite_Index& index : table.source.indexes) {
      Index_Line line{index.name, database.find_table(table.table), {}, index.is_unique};
      for (const std::string& column : index.columns)
        if (table.source.find_column(column) != nullptr)
          line.fields.push_back(table.columns[table.find(column)].field);
      if (line.fields.size() != index.columns.size()) continue;
      if (line.name.empty()) line.name = table.table + "_by_" + absl::StrJoin(line.fields, "_");
      lines.push_back(std::move(line));
    }
  }
  std::vector<std::string> names;
  for (const Index_Line& line : lines) names.push_back(line.name);
  names = to_identifiers(names);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].name = names[i];
  return lines;
}

}  // namespace

std::vector<std::string> declare_sqlite_indexes(const Sqlite_Plan& plan,
                                                Writable_Database& database) {
  std::vector<std::string> notes;
  const Database& content = std::as_const(database).get_database();
  for (const Index_Line& line : index_lines(plan, content)) {
    Index_Definition index{line.name, line.table->id(), {}, line.is_unique};
    for (const std::string& field : line.fields)
      index.fields.push_back(line.table->find_field(field));
    const Index* const same = content.find_declared_index(index.name);
    if (has_blob(line) || (same != nullptr && same->definition().table == index.table &&
                           same->definition().fields == index.fields))
      continue;
    if (const std::string problem = content.declaration_problem(index); !problem.empty()) {
      notes.push_back("index " + index.name + " of table " + line.table->name() +
                      " is not declared: " + problem);
      continue;
    }
    try {
      declare_index(database, index);
    } catch (const Unique_Violation&) {  // other values are the same here, or are not imported
      index.is_unique = false;
      declare_index(database, index);
    }
  }
  return notes;
}

std::string sqlite_indexes(const Sqlite_Plan& plan, const Database& database,
                           const std::string& file_name) {
  std::string text = "# The indexes of " + file_name + '\n';
  for (const Index_Line& line : index_lines(plan, database)) {
    const std::string rest =
        line.name + ' ' + line.table->name() + ' ' + absl::StrJoin(line.fields, ",") + '\n';
    if (has_blob(line)) {
      text += "# no index, because it has a blob: " + rest;
      continue;
    }
    const auto not_unique = line.is_unique ? violation(line) : std::nullopt;
    if (not_unique) text += "# not unique here, for " + *not_unique + '\n';
    text += (line.is_unique && !not_unique ? "create_unique_index " : "create_index ") + rest;
  }
  return text;
}

}  // namespace joedb
