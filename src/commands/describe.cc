#include <algorithm>
#include <vector>

#include "commands/commands.h"
#include "joedb/base/time.h"
#include "kernel/base/counted.h"
#include "text/display_width.h"
#include "text/dump.h"

namespace joedb::inline v1 {

namespace {

std::string type_text(const Type& type, const Database& database) {
  std::string text(type_name(type.code));
  if (type.code != Type_Code::reference) return text;
  const Table* const table = database.find_table(type.referenced);
  return "references " + (table != nullptr ? table->name() : "a table that was dropped");
}

// Returns "unique city_by_name (name)".
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

// A text table in which each column is as wide as its widest cell. The first row is the heading.
class Grid {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::ostream& out, const Display& display) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], display_width(row[i]));
    for (const auto& row : rows_) {
      display.check();
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i)
        line.append(row[i]).append(widths[i] - display_width(row[i]) + 2, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      const bool is_heading = display.has_colours && &row == &rows_.front();
      if (is_heading) out << colour::heading;
      out << line;
      if (is_heading) out << colour::end;
      out << '\n';
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

void describe(std::ostream& out, const Database& database, const Display& display) {
  const std::vector<const Table*> tables = live_tables(database);
  if (tables.empty()) {
    out << "no tables\n";
  } else {
    Grid grid;
    grid.add({"table", "records", "fields"});
    for (const Table* table : tables) {
      std::string fields;
      for_each_live_field(*table, [&](Field_Id, const Field& field) {
        fields.append(fields.empty() ? "" : ", ").append(field.name);
      });
      grid.add({table->name(), std::to_string(table->records().used_count()), fields});
    }
    grid.print(out, display);
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
  Grid grid;
  grid.add({"field", "type"});
  for_each_live_field(table, [&](Field_Id, const Field& field) {
    grid.add({field.name, type_text(field.column->type(), database)});
  });
  grid.print(out, display);
  for (const auto& index : table.indexes()) out << "index: " << index_text(*index, table) << '\n';
  for (const Table* other : live_tables(database))
    for_each_live_field(*other, [&](Field_Id, const Field& field) {
      const Type& type = field.column->type();
      if (type.code == Type_Code::reference && type.referenced == table.id())
        out << "referenced by: " << other->name() << ' ' << field.name << '\n';
    });
}

}  // namespace joedb::inline v1
