#include "rewrite/pack.h"

namespace joedb::inline v1 {

void pack_schema(const Database& database, Writable_Journal& journal) {
  decode_entries(database.schema_entries(), [&]<class Entry>(const Entry& entry) {
    // Schema entries have neither blobs nor values.
    if constexpr (!std::is_same_v<Entry, Blob_Data> && !requires { entry.values; })
      journal.append(entry);
  });
  for (const std::string& declaration : database.declarations())
    journal.append(Comment{declaration});
}

void append_insertion(Table_Id table, index_t first, index_t size, Writable_Journal& journal) {
  if (size == 1)
    journal.append(Insert{table, Record_Id(first)});
  else
    journal.append(Insert_Vector{table, Record_Id(first), size});
}

// Readers limit the number of rows by the size of the journal, so that a small file cannot exhaust
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

static void pack_records(const Database& database, const Blob_Copies& blobs,
                         Writable_Journal& journal) {
  for (const Table* table : live_tables(database))
    for_each_run(*table, [&](index_t first, index_t size) {
      pack_run(*table, first, size, journal,
               [&]<class T>(std::type_identity<T>, Field_Id id, const Field& field) {
                 const auto& column = static_cast<const Column<T>&>(*field.column);
                 if constexpr (has_fixed_size<T> && !std::is_same_v<T, Blob>) {
                   const std::span<const T> values(column.data() + first,
                                                   static_cast<std::size_t>(size));
                   if (size > 1)
                     return journal.append_vector<T>(table->id(), Record_Id(first), id, values);
                 }
                 append_values<T>(table->id(), first, id, size, journal, [&](std::int64_t i) {
                   if constexpr (std::is_same_v<T, Blob>)
                     return blobs.moved(column.get(first + i));
                   else
                     return column.get(first + i);
                 });
               });
    });
  require_readable(database, journal.get_position());
}

void pack(const Database& database, Writable_Journal& journal) {
  pack_schema(database, journal);
  pack_records(database, {}, journal);
}

void pack(const Database& database, const Abstract_File& file, Blob_Copies& blobs,
          Writable_Journal& journal) {
  pack_schema(database, journal);
  blobs.need_all(database);
  blobs.copy(file, journal);
  pack_records(database, blobs, journal);
}

}  // namespace joedb::inline v1
