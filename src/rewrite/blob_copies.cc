#include "rewrite/blob_copies.h"

#include "rewrite/entry_copier.h"
#include "text/dump.h"

namespace joedb::inline v1 {

void Blob_Copies::need_all(const Database& database) {
  for (const Table* const table : live_tables(database))
    for_each_field(*table, [&](Field_Id, const Field& field) {
      if (field.column->type().code != Type_Code::blob) return;
      const auto& column = static_cast<const Column<Blob>&>(*field.column);
      for_each_run(table->records(), [&](index_t first, index_t size) {
        for (index_t row = first; row < first + size; ++row) need(column.get(row));
      });
    });
}

void Blob_Copies::copy(const Abstract_File& from, Writable_Journal& to) {
  for (std::size_t i = 0; i < map_.size(); ++i)
    if (is_needed_[i]) map_.set_to(i, copy_blob(from, map_.from(i), to).get_position());
}

Blob_Copies::Unused Blob_Copies::unused() const {
  Unused result;
  for (std::size_t i = 0; i < map_.size(); ++i) {
    if (is_needed_[i]) continue;
    ++result.count;
    result.bytes += map_.from(i).get_size();
  }
  return result;
}

}  // namespace joedb::inline v1
