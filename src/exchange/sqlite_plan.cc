#include "exchange/sqlite_plan.h"

#include <absl/strings/str_join.h>

#include <algorithm>

#include "exchange/identifiers.h"
#include "exchange/sqlite_rows.h"
#include "exchange/type_guess.h"
#include "kernel/base/counted.h"

namespace joedb {

std::size_t Table_Plan::find(std::string_view name) const {
  return static_cast<std::size_t>(source.find_column(name) - source.columns.data());
}

Sqlite_Plan::Sqlite_Plan(const Sqlite& file, const std::vector<std::string>& wanted,
                         std::function<void(std::int64_t)> progress, bool may_have_ids) {
  Sqlite_Schema schema = read_sqlite_schema(file, may_have_ids);
  const bool is_exact = schema.is_exact;
  for (const std::string& skipped : schema.skipped) notes.push_back("skipped: " + skipped);
  take_tables(std::move(schema), wanted, file.name());
  assign_names();
  read_values(file, std::move(progress), is_exact);
  find_references();
  keep_keys();
  note_changes(is_exact);
  sort_tables();
}

// ---- tables and names ---------------------------------------------------------------------------

void Sqlite_Plan::take_tables(Sqlite_Schema schema, const std::vector<std::string>& wanted,
                              const std::string& file) {
  for (const std::string& name : wanted)
    if (schema.find_table(name) == nullptr) throw Data_Error(file + ": there is no table " + name);
  for (Sqlite_Table& table : schema.tables) {
    const auto is_it = [&](const std::string& name) { return is_same_name(name, table.name); };
    const bool is_wanted = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), is_it);
    tables.push_back({.source = std::move(table), .is_imported = is_wanted});
  }
}

void Sqlite_Plan::note_names(const Table_Plan& table, const std::vector<std::string>& fields) {
  const auto note = [&](const std::string& what, const std::string& name, const std::string& now) {
    if (name != now) notes.push_back("renamed: " + what + name + " is now " + now);
  };
  note("table ", table.source.name, table.table);
  for (std::size_t i = 0; i < fields.size(); ++i)
    note("column " + table.source.name + '.', table.source.columns[i].name, fields[i]);
}

void Sqlite_Plan::assign_names() {
  std::vector<std::string> names;
  for (const Table_Plan& table : tables) names.push_back(table.source.name);
  names = to_identifiers(names);
  for (Table_Plan& table : tables) {
    table.table = names[static_cast<std::size_t>(&table - tables.data())];
    std::vector<std::string> fields;
    for (const Sqlite_Column& column : table.source.columns)
      fields.push_back(column.name == sqlite_id_column ? "id" : column.name);
    fields = to_identifiers(fields);
    if (table.is_imported) note_names(table, fields);
    for (std::size_t i = 0; i < fields.size(); ++i)
      table.columns.push_back({.column = table.source.columns[i].name, .field = fields[i]});
  }
}

// ---- types --------------------------------------------------------------------------------------

namespace {

using Kind = Logical_Type::Kind;

// Numbers and other texts may mean anything: a day, or a second since 1970. A day is no time, and a
// timestamp does not keep an offset.
bool is_calendar_text(const Cell& cell, Kind kind) {
  if (cell.kind() != Cell::Kind::text) return false;
  if (kind == Kind::date) return is_date(cell.text());
  constexpr std::size_t point = 19;  // 2026-01-31 12:00:00.5
  std::string text(cell.text());
  if (text.ends_with('Z')) text.pop_back();
  if (text.size() > point + 1)
    while ((text.size() - point - 1) % 3 != 0) text += '0';
  return time_form(text).has_value();
}

// True for a UUID in the form in which it will be written again.
bool is_uuid_text(const Cell& cell, const Logical_Type& uuid) {
  std::string text;
  if (cell.kind() != Cell::Kind::text) return false;
  if (const auto bytes = parse_logical_bytes(cell.text(), uuid))
    append_logical_bytes(text, uuid, *bytes);
  return text == cell.text();
}

bool fits(const Cell& cell, const Declared_Type& type, bool is_exact) {
  const Kind kind = type.logical.kind;
  if (!is_exact && kind == Kind::uuid) return is_uuid_text(cell, type.logical);
  if (!is_exact && kind == Kind::json && cell.kind() != Cell::Kind::text) return false;
  if (cell.is_empty() && type.stored != Type_Code::string) return false;  // it would become 0
  const bool is_time = kind == Kind::date || kind == Kind::timestamp;
  if (is_time && !is_exact && !is_calendar_text(cell, kind)) return false;
  try {
    visit_type(type.stored, [&]<class T>(std::type_identity<T>) {
      std::string buffer;
      if constexpr (!std::is_same_v<T, Blob>)
        read_cell<T>(kind == Kind::json ? json_cell(cell) : cell, type.logical, buffer);
    });
    return true;
  } catch (const Cell_Error&) {
    return false;
  }
}

// Keeps a text whose form is not that of timestamps, if there is one.
void remember_time(std::string& example, std::string_view text) {
  constexpr std::size_t clock = 10;
  const bool is_kept = example.size() > clock && (example[clock] != 'T' || !example.ends_with('Z'));
  const bool is_other =
      text.size() != example.size() || (text.size() > clock && text[clock] != 'T');
  if (!is_kept && is_other) example = text;
}

// Removes the logical types of the columns that the current row does not fit.
void check_logical_types(const Sqlite_Rows& rows, std::vector<Sqlite_Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].logical_types.empty()) continue;
    const Cell cell = rows.cell(i);
    if (cell.kind() == Cell::Kind::null) continue;
    if (cell.kind() == Cell::Kind::text) remember_time(columns[i].example, cell.text());
    std::erase_if(columns[i].logical_types, [&](const Declared_Type& type) {
      return !fits(cell, type, columns[i].is_exact);
    });
  }
}

}  // namespace

// Notes that times will be written in another form.
void Sqlite_Plan::note_time(const Table_Plan& table, std::size_t i, const Logical_Type& logical) {
  const Sqlite_Column& column = table.source.columns[i];
  if (logical.kind != Kind::timestamp || column.is_exact || column.example.empty()) return;
  std::string text;
  append_logical_number(text, logical, parse_logical_number(column.example, logical).value_or(0));
  if (text != column.example)
    notes.push_back("times will be written like " + text + ": " + table.source.name + '.' +
                    column.name);
}

void Sqlite_Plan::find_type(Table_Plan& table, std::size_t i, bool is_exact) {
  Column_Plan& column = table.columns[i];
  const Sqlite_Column& source = table.source.columns[i];
  const Sqlite_Values& values = table.values[i];
  Declared_Type type;
  if (!source.logical_types.empty()) {
    type = source.logical_types.front();
    type.logical.is_optional = type.logical.is_optional || values.nulls > 0;
    note_time(table, i, type.logical);
  } else {
    type.stored = joedb::find_type(source.declared_type, is_exact, values);
    if (values.nulls > 0) type = optional_type(type.stored, values);
    if (source.is_exact || !logical_types(source.declared_type).empty())
      notes.push_back("not all values are of the type " + source.declared_type + ": " +
                      table.source.name + '.' + source.name);
  }
  column.type = column.value_type = type.stored;
  column.logical = type.logical;
  column.is_exact = source.is_exact;
}

void Sqlite_Plan::read_values(const Sqlite& file, std::function<void(std::int64_t)> progress,
                              bool is_exact) {
  Sqlite_Budget budget(file, std::move(progress));
  for (Table_Plan& table : tables) {
    if (!table.is_imported) continue;
    table.values.resize(table.columns.size());
    Sqlite_Rows rows(file, table.source, budget);
    const bool has_logical_types = std::ranges::any_of(
        table.source.columns, [](const Sqlite_Column& c) { return !c.logical_types.empty(); });
    for (; rows.next(); ++table.rows) {
      rows.add_to(table.values);
      if (has_logical_types) check_logical_types(rows, table.source.columns);
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) find_type(table, i, is_exact);
  }
  content_size = budget.used();
}

void Sqlite_Plan::note_changes(bool is_exact) {
  for (const Table_Plan& table : tables) {
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      const Sqlite_Values& values = table.values[i];
      const auto note = [&](const std::string& what, std::int64_t rows) {
        if (rows > 0)
          notes.push_back(what + ": " + table.source.name + '.' + table.columns[i].column +
                          ", in " + counted(rows, "row"));
      };
      const Type_Code type = table.columns[i].type;
      const Logical_Type& logical = table.columns[i].logical_type();
      if (type != Type_Code::string || logical.kind != Kind::plain) continue;
      note("numbers become texts", values.numbers);
      if (!is_exact) note("bytes become texts", values.bytes);  // joedb writes some texts as bytes
    }
  }
}

// ---- references ---------------------------------------------------------------------------------

void Sqlite_Plan::find_references() {
  for (Table_Plan& table : tables)
    if (table.is_imported)
      for (const Sqlite_Foreign_Key& key : table.source.foreign_keys) find_reference(table, key);
}

void Sqlite_Plan::find_reference(Table_Plan& table, const Sqlite_Foreign_Key& key) {
  const auto refuse = [&](const std::string& reason) {
    notes.push_back("no reference: " + table.source.name + '.' + absl::StrJoin(key.columns, ", ") +
                    ", " + reason);
  };
  if (key.columns.size() != 1) return refuse("because it is a key of several columns");
  if (table.source.find_column(key.columns[0]) == nullptr)
    return refuse("because it is generated, or the record id");
  const auto is_it = [&](const Table_Plan& t) { return is_same_name(t.source.name, key.table); };
  const auto found = std::find_if(tables.begin(), tables.end(), is_it);
  if (found == tables.end()) return refuse("because there is no table " + key.table);

  Column_Plan& column = table.columns[table.find(key.columns[0])];
  if (column.type == Type_Code::reference) return;  // it already refers to a table
  const Sqlite_Table& parent = found->source;
  const auto referenced = key.referenced.empty() ? parent.primary_key() : key.referenced;
  if (parent.has_ids && (referenced.empty() || is_same_name(referenced[0], sqlite_id_column)))
    column.referenced_column.reset();
  else if (referenced.size() == 1 && parent.find_column(referenced[0]) != nullptr &&
           parent.is_unique(referenced))
    column.referenced_column = found->find(referenced[0]);
  else
    return refuse("because " + parent.name + " has no such key of one column");
  if (!found->is_imported)
    notes.push_back("not imported: table " + parent.name + ", to which " + table.source.name + '.' +
                    column.column + " refers");
  if (is_same_name(key.on_delete, "SET DEFAULT"))
    notes.push_back("no rule: " + table.source.name + '.' + column.column +
                    ", ON DELETE SET DEFAULT");
  // NO ACTION is also what SQLite has for a key without an action.
  else if (!is_same_name(key.on_delete, "NO ACTION"))
    column.rule.on_delete = on_delete_of_sql(key.on_delete).value_or(Logical_Type::On_Delete::keep);
  column.type = Type_Code::reference;
  column.referenced = static_cast<std::size_t>(found - tables.begin());
}

// If other columns look up records by a column, this column must keep its values, so it cannot
// become a reference.
void Sqlite_Plan::keep_keys() {
  for (const Table_Plan& table : tables) {
    for (const Column_Plan& column : table.columns) {
      if (column.type != Type_Code::reference || !column.referenced_column) continue;
      Table_Plan& parent = tables[column.referenced];
      Column_Plan& key = parent.columns[*column.referenced_column];
      if (key.type != Type_Code::reference) continue;
      key.type = key.value_type;
      notes.push_back("no reference: " + parent.source.name + '.' + key.column +
                      ", because others refer to it");
    }
  }
}

// Sorts the tables so that each follows those to which it refers. If tables form a cycle, defers
// references of one of them.
void Sqlite_Plan::sort_tables() {
  std::vector<std::size_t> order;
  std::vector<bool> is_placed(tables.size());
  const auto waits = [&](const Table_Plan& table, const Column_Plan& column) {
    return column.type == Type_Code::reference && column.referenced_column &&
           &tables[column.referenced] != &table && tables[column.referenced].is_imported &&
           !is_placed[column.referenced];
  };
  const auto is_ready = [&](std::size_t i) {
    return !is_placed[i] && std::none_of(tables[i].columns.begin(), tables[i].columns.end(),
                                         [&](const auto& c) { return waits(tables[i], c); });
  };
  while (order.size() < tables.size()) {
    std::size_t next = 0;
    while (next < tables.size() && !is_ready(next)) ++next;
    if (next == tables.size()) {
      next = static_cast<std::size_t>(std::find(is_placed.begin(), is_placed.end(), false) -
                                      is_placed.begin());
      for (Column_Plan& column : tables[next].columns)
        column.is_deferred = waits(tables[next], column);
    }
    is_placed[next] = true;
    order.push_back(next);
  }

  std::vector<std::size_t> new_places(tables.size());
  std::vector<Table_Plan> sorted;
  for (const std::size_t i : order) {
    new_places[i] = sorted.size();
    sorted.push_back(std::move(tables[i]));
  }
  tables = std::move(sorted);
  for (Table_Plan& table : tables)
    for (Column_Plan& column : table.columns) column.referenced = new_places[column.referenced];
}

}  // namespace joedb
