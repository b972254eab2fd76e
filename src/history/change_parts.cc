#include "history/change_parts.h"

#include <utility>

#include "kernel/table/live_fields.h"

namespace joedb::inline v1 {

Field_Description describe(const Database& database, Field_Id id, const Field& field) {
  const Type type = field.column->type();
  const Table* const referenced = database.find_table(type.referenced);
  return {id, field.name, type, referenced != nullptr ? referenced->name() : "",
          field.column->shared_logical()};
}

Description describe(const Database& database, const Table& table) {
  std::vector<Field_Description> fields;
  for_each_field(table, [&](Field_Id id, const Field& field) {
    fields.push_back(describe(database, id, field));
  });
  return describe(table.id(), table.name(), std::move(fields));
}

Description describe(Table_Id id, std::string name, std::vector<Field_Description> fields) {
  auto result = std::make_shared<Table_Description>();
  result->id = id;
  result->name = std::move(name);
  result->fields = std::move(fields);
  return result;
}

Values read_values(const Column_Base& column, index_t first, index_t size) {
  Values values(column.type().code);
  values.append(column, first, size);
  return values;
}

Values part_of(const Values& values, index_t first, index_t size) {
  Values result(values.type());
  result.append(values, first, size);
  return result;
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

Change inserted_records(Description table, const Table& rows, index_t first, index_t size) {
  Change result = change_of_records(Change::Kind::inserted, table, first, size);
  for (const Field_Description& field : table->fields)
    result.fields.push_back(
        {field.id, Values(field.type.code), read_values(rows, field.id, first, size)});
  return result;
}

Change deleted_records(Description table, const Table& rows, index_t first, index_t size) {
  Change result = inserted_records(std::move(table), rows, first, size);
  result.kind = Change::Kind::deleted;
  for (Field_Change& field : result.fields) std::swap(field.old_values, field.new_values);
  return result;
}

Change lost_values(Description table, index_t first, Values values) {
  const Field_Description& field = table->fields.front();
  Change result = change_of_records(Change::Kind::updated, table, first, values.size());
  result.fields.push_back({field.id, std::move(values), Values(field.type.code)});
  return result;
}

}  // namespace joedb::inline v1
