#ifndef JOEDB_SRC_TEXT_DUMP_H
#define JOEDB_SRC_TEXT_DUMP_H

#include <algorithm>
#include <vector>

#include "joedb/table/database.h"
#include "kernel/table/declaration.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/record_runs.h"

// The content of a database as entries, for example for the handlers of entry_text.h. Dropped
// tables and fields are left out, and the others are renumbered without gaps; records keep their
// ids.

namespace joedb::inline v1 {

// Passes all tables, then all fields, then all declared indexes, to the handler. If a referenced
// table was dropped, the reference becomes a reference to table 0,
// and has no rule.
template <class Handler>
void dump_schema(const Database& database, Handler&& handler) {
  std::vector<Table_Id> new_ids(database.tables().size() + 1);
  std::uint16_t next_id = 0;
  for (const Table* table : live_tables(database)) {
    handler(Create_Table{table->name()});
    new_ids[table->id().value()] = Table_Id(++next_id);
  }
  for (const Table* table : live_tables(database)) {
    for_each_field(*table, [&](Field_Id, const Field& field) {
      Type type = field.column->type();
      const std::size_t referenced = type.referenced.value();
      type.referenced = referenced < new_ids.size() ? new_ids[referenced] : Table_Id();
      handler(Add_Field{new_ids[table->id().value()], field.name, type});
      Logical_Type logical = field.column->logical();
      if (type.referenced.is_null()) logical.on_delete = Logical_Type::On_Delete::keep;
      if (logical.is_plain()) return;
      const std::string declaration =
          type_declaration(table->name(), field.name, type.code, logical);
      handler(Comment{declaration});
    });
  }
  for (const Table* table : live_tables(database))
    for (const std::string& declaration : index_declarations(database, *table))
      handler(Comment{declaration});
}

// Passes each table to the handler: all records, then all values, field by field. Large tables are
// split into parts. This limits the number of records that have no values yet, as readers require
// (Database::free_rows_of_journal).
inline constexpr index_t rows_per_part = index_t{1} << 22;
template <class Handler>
void dump_data(const Database& database, Handler&& handler) {
  std::uint16_t next_id = 0;
  for (const Table* table : live_tables(database)) {
    const Table_Id table_id(++next_id);
    const Record_Ids& records = table->records();
    table->expect_scan();
    for (index_t begin = 0; begin < records.size(); begin += rows_per_part) {
      const index_t end = std::min(begin + rows_per_part, records.size());
      for_each_run(records, begin, end, [&](index_t first, index_t size) {
        handler(Insert_Vector{table_id, Record_Id(first), size});
      });
      std::uint16_t next_field = 0;
      for_each_field(*table, [&](Field_Id, const Field& field) {
        const Field_Id field_id(++next_field);
        visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
          const auto& column = static_cast<const Column<T>&>(*field.column);
          for_each_run(records, begin, end, [&](index_t first, index_t size) {
            for (index_t id = first; id < first + size; ++id)
              handler(Update<T>{table_id, Record_Id(id), field_id, column.get(id)});
          });
        });
      });
    }
  }
}

}  // namespace joedb::inline v1

#endif
