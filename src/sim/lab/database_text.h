#ifndef JOEDB_SRC_SIM_LAB_DATABASE_TEXT_H
#define JOEDB_SRC_SIM_LAB_DATABASE_TEXT_H

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "joedb/format/codec.h"
#include "joedb/table/database.h"
#include "kernel/table/live_fields.h"
#include "sim/lab/hex.h"

namespace joedb::testing {

// Returns the observable state of a database as a text: tables and fields with their ids, rows in
// their order, the bits of their values, and the ids of future rows. Different states have
// different texts.
inline std::string content_text(const Database& database) {
  std::ostringstream out;
  for (const auto& table : database.tables()) {
    if (!table) {
      out << "(dropped table)\n";
      continue;
    }
    const Record_Ids& records = table->records();
    out << "table " << table->id().value() << ' ' << table->name() << ", size " << records.size()
        << ", used " << records.used_count() << ", next " << records.next_free() << '\n';
    for (const Field& field : table->fields()) {
      out << "  ";
      if (field.column)
        out << field.name << ' ' << type_name(field.column->type().code) << ' '
            << field.column->type().referenced.value() << '\n';
      else
        out << "(dropped field)\n";
    }
    for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
      out << "  " << id << ':';
      for_each_field(*table, [&](Field_Id field_id, const Field& field) {
        visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
          const T value = table->column<T>(field_id).get(id);
          std::string bytes(value_size_limit(value), '\0');
          bytes.resize(static_cast<std::size_t>(encode_value(bytes.data(), value) - bytes.data()));
          out << ' ' << hex(bytes) << '|';
        });
      });
      out << '\n';
    }
  }
  out << "schema " << hex(database.schema_entries()) << '\n';
  for (const std::string& declaration : database.declarations())
    if (declaration.starts_with("joedb: type ")) out << declaration << '\n';
  return out.str();
}

// Like content_text, but also has state that content_text does not show: the records in reverse
// order, the indexes, the time stamps, and how many more rows are allowed.
inline std::string full_content_text(const Database& database) {
  std::ostringstream out;
  out << content_text(database);
  for (const auto& table : database.tables()) {
    if (!table) continue;
    out << "backwards";
    const Record_Ids& records = table->records();
    for (index_t id = records.last(); id != Record_Ids::no_id; id = records.previous(id))
      out << ' ' << id;
    out << '\n';
  }
  // The order of indexes is not part of the content.
  std::vector<const Index*> indexes(database.indexes().begin(), database.indexes().end());
  std::sort(indexes.begin(), indexes.end(), [](const Index* a, const Index* b) {
    return a->definition().name < b->definition().name;
  });
  for (const Index* const index : indexes) {
    out << (database.is_declared(*index) ? "declared index " : "index ") << index->definition().name
        << (index->definition().is_unique ? ", unique" : "")
        << (index->is_complete() ? "" : ", incomplete") << ", size " << index->size() << ':';
    if (index->is_complete())
      for (auto cursor = index->begin(); cursor != index->end(); cursor.next())
        out << ' ' << cursor.record().value();
    out << "; has";
    const index_t end = database.table(index->definition().table).records().size();
    for (index_t id = 0; id < end; ++id)
      if (index->contains(Record_Id(id))) out << ' ' << id;
    out << '\n';
  }
  if (const auto& times = database.timestamps())
    out << "times " << times->first << ' ' << times->last << '\n';
  const Table::Budget budget = database.budget();
  out << "budget " << budget.skip << ' ' << budget.vector << '\n';
  return out.str();
}

}  // namespace joedb::testing

#endif
