#ifndef JOEDB_SRC_KERNEL_TABLE_LIVE_FIELDS_H
#define JOEDB_SRC_KERNEL_TABLE_LIVE_FIELDS_H

#include <cstdint>

#include "joedb/table/table.h"

namespace joedb::inline v1 {

// Calls f(id, field) for each field that was not dropped, in the order of the ids.
template <class F>
void for_each_field(const Table& table, F&& f) {
  std::uint16_t id = 0;
  for (const Field& field : table.fields()) {
    ++id;
    if (field.column) f(Field_Id(id), field);
  }
}

}  // namespace joedb::inline v1

#endif
