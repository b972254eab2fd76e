#include <vector>

#include "commands/commands.h"
#include "kernel/base/counted.h"
#include "kernel/base/time.h"
#include "kernel/table/declaration.h"
#include "text/columns.h"
#include "text/display_width.h"
#include "text/dump.h"

namespace joedb::inline v1 {

namespace {

// Returns a text like "unique city_by_name (name)".
std::string index_text(const Index& index, const Table& table) {
  const Index_Definition& definition = index.definition();
  std::string text = (definition.is_unique ? "unique " : "") + definition.name + " (";
  for (const Field_Id id : definition.fields) {
    const Field* const field = table.find_field(id);
    if (!text.ends_with('(')) text += ", ";
    text += field != nullptr ? field->name : "?";
  }
  return text + ')';
}

// Prints a table. Its first row is the heading.
void print_grid(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                const Display& display) {
  Text_Columns grid{std::vector<Text_Columns::Column>(rows.front().size())};
  for (const auto& row : rows) grid.fit(row);
  for (const auto& row : rows) {
    display.check();
    const bool is_heading = display.has_colours && &row == &rows.front();
    if (is_heading) out << colour::heading;
    out << grid.line(row);
    if (is_heading) out << colour::end;
    out << '\n';
  }
}

}  // namespace

void describe(std::ostream& out, const Database& database, const Display& display) {
  const std::vector<const Table*> tables = live_tables(database);
  if (tables.empty()) {
    out << "no tables\n";
  } else {
    std::vector<std::vector<std::string>> rows{{"table", "records", "fields"}};
    for (const Table* table : tables) {
      std::string fields;
      for_each_field(*table, [&](Field_Id, const Field& field) {
        fields.append(fields.empty() ? "" : ", ").append(field.name);
      });
      rows.push_back({table->name(), std::to_string(table->records().used_count()), fields});
    }
    print_grid(out, rows, display);
  }
  if (database.timestamps())
    out << "time stamps: from " << time_text(database.timestamps()->first) << " to "
        << time_text(database.timestamps()->last) << '\n';
}

void describe(std::ostream& out, const Database& database, const Table& table,
              const Display& display) {
  const Record_Ids& records = table.records();
  out << table.name() << ": " << counted(records.used_count(), "record");
  if (records.size() != records.used_count()) out << ", ids below " << records.size();
  out << '\n';
  std::vector<std::vector<std::string>> rows{{"field", "type"}};
  for_each_field(table, [&](Field_Id, const Field& field) {
    rows.push_back({field.name, type_text(database, *field.column, "a table that was dropped")});
  });
  print_grid(out, rows, display);
  for (const auto& index : table.indexes()) out << "index: " << index_text(*index, table) << '\n';
  for (const Table* other : live_tables(database))
    for_each_field(*other, [&](Field_Id, const Field& field) {
      const Type& type = field.column->type();
      if (type.code == Type_Code::reference && type.referenced == table.id())
        out << "referenced by: " << other->name() << ' ' << field.name << '\n';
    });
}

}  // namespace joedb::inline v1
