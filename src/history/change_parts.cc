#include "history/change_parts.h"

#include <utility>

namespace joedb::inline v1 {

Field_Description describe(const Database& database, Field_Id id, const Field& field) {
  const Type type = field.column->type();
  const Table* const referenced = database.find_table(type.referenced);
  return {id, field.name, type, referenced != nullptr ? referenced->name() : ""};
}

Description describe(const Database& database, const Table& table) {
  auto result = std::make_shared<Table_Description>();
  result->id = table.id();
  result->name = table.name();
  for (std::size_t i = 0; i < table.fields().size(); ++i)
    if (const Field& field = table.fields()[i]; field.column)
      result->fields.push_back(
          describe(database, Field_Id(static_cast<std::uint16_t>(i + 1)), field));
  return result;
}

Description describe(Table_Id id, std::string name) {
  auto result = std::make_shared<Table_Description>();
  result->id = id;
  result->name = std::move(name);
  return result;
}

Values read_values(const Column_Base& column, index_t first, index_t size) {
  Values values(column.type().code);
  values.append(column, first, size);
  return values;
}

Change change_of_records(Change::Kind kind, Description table, index_t first, index_t size) {
  Change change;
  change.kind = kind;
  change.table = std::move(table);
  change.record = Record_Id(first);
  change.size = size;
  return change;
}

Change change_of_schema(Change::Kind kind, Description table, Schema_Change schema) {
  Change change;
  change.kind = kind;
  change.table = std::move(table);
  change.schema = std::make_shared<const Schema_Change>(std::move(schema));
  return change;
}

}  // namespace joedb::inline v1
