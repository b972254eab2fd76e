#include "rewrite/pack.h"

#include "text/dump.h"

namespace joedb::inline v1 {

void pack_schema(const Database& database, Writable_Journal& journal) {
  decode_entries(database.schema_entries(), [&]<class Entry>(const Entry& entry) {
    // Schema entries hold neither blobs nor values.
    if constexpr (!std::is_same_v<Entry, Blob_Data> && !requires { entry.values; })
      journal.append(entry);
  });
}

static void pack_run(const Table& table, index_t first, index_t size, Writable_Journal& journal) {
  const Record_Id record(first);
  if (size == 1)
    journal.append(Insert{table.id(), record});
  else
    journal.append(Insert_Vector{table.id(), record, size});
  std::uint16_t id = 0;
  for (const Field& field : table.fields()) {
    const Field_Id field_id(++id);
    if (!field.column) continue;
    visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
      const auto& column = static_cast<const Column<T>&>(*field.column);
      if (size == 1) {
        journal.append(Update<T>{table.id(), record, field_id, column.get(first)});
      } else if constexpr (has_fixed_size<T>) {
        const std::span<const T> values(column.data() + first, static_cast<std::size_t>(size));
        journal.append_vector<T>(table.id(), record, field_id, values);
      } else {
        journal.append_vector<T>(table.id(), record, field_id, size,
                                 [&](std::int64_t i) { return column.get(first + i); });
      }
    });
  }
}

// Readers limit the number of rows by the size of the journal, so that a few bytes cannot take all
// memory.
void require_readable(const Database& database, Offset position) {
  index_t left = Database::free_rows_of_journal(position);
  for (const Table* table : live_tables(database)) {
    left -= table->records().size();
    if (left < 0)
      throw Data_Error("table " + table->name() + " has records up to " +
                       std::to_string(table->records().size() - 1) +
                       ", too far apart for a file of " + std::to_string(position) +
                       " bytes: it could not be read");
  }
}

void pack(const Database& database, Writable_Journal& journal) {
  pack_schema(database, journal);
  for (const Table* table : live_tables(database))
    for_each_run(*table,
                 [&](index_t first, index_t size) { pack_run(*table, first, size, journal); });
  require_readable(database, journal.get_position());
}

}  // namespace joedb::inline v1
