#ifndef JOEDB_SRC_KERNEL_TABLE_LIVE_FIELDS_H
#define JOEDB_SRC_KERNEL_TABLE_LIVE_FIELDS_H

#include <cstdint>
#include <string>
#include <vector>

#include "joedb/table/database.h"

// The tables and fields that were not dropped, in the order of their ids.

namespace joedb::inline v1 {

inline std::vector<const Table*> live_tables(const Database& database) {
  std::vector<const Table*> result;
  for (const auto& table : database.tables())
    if (table) result.push_back(table.get());
  return result;
}

// Calls f(id, field) for each field.
template <class F>
void for_each_field(const Table& table, F&& f) {
  std::uint16_t id = 0;
  for (const Field& field : table.fields()) {
    ++id;
    if (field.column) f(Field_Id(id), field);
  }
}

inline std::vector<std::string> table_names(const Database& database) {
  std::vector<std::string> names;
  for (const Table* table : live_tables(database)) names.push_back(table->name());
  return names;
}

inline std::vector<std::string> field_names(const Table& table) {
  std::vector<std::string> names;
  for_each_field(table, [&](Field_Id, const Field& field) { names.push_back(field.name); });
  return names;
}

}  // namespace joedb::inline v1

#endif
