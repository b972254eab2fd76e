#include "interpreter/merge.h"

#include "interpreter/dump.h"
#include "table/schema_text.h"

namespace joedb::inline v1 {

static index_t size_of(const Table& table) { return table.records().size(); }

void Merged_Database::add(const std::string& name, const Database& added) {
  if (!has_schema_) {
    take_schema(added);
    first_name_ = name;
  } else if (added.schema_entries() != database_.schema_entries()) {
    throw Exception(name + " does not have the same schema as " + first_name_ + ": " +
                    schema_difference(added.schema_entries(), "in " + name,
                                      database_.schema_entries(), "in " + first_name_));
  }
  for (const Table* from : live_tables(added)) add_records(added, *from);
  for (const Table* from : live_tables(added)) shifts_[from->id().value()] += size_of(*from);
}

void Merged_Database::take_schema(const Database& from) {
  decode_entries(from.schema_entries(), database_);
  shifts_.resize(from.tables().size() + 1);
  has_schema_ = true;
}

void Merged_Database::add_records(const Database& added, const Table& from) {
  constexpr Table::Budget no_limit{index_t{1} << 48, index_t{1} << 48};
  Table& to = *database_.find_table(from.id());
  const index_t shift = shifts_[from.id().value()];
  for_each_run(from.records(), [&](index_t first, index_t size) {
    const Record_Id record(shift + first);
    to.prepare_insert_vector(record, size, no_limit);
    to.insert_vector(record, size);
  });
  for (std::size_t i = 0; i < from.fields().size(); ++i) {
    const Column_Base* const column = from.fields()[i].column.get();
    if (column == nullptr) continue;
    visit_type(column->type().code, [&]<class T>(std::type_identity<T>) {
      add_values(added, from.records(), static_cast<const Column<T>&>(*column),
                 static_cast<Column<T>&>(*to.fields()[i].column), shift);
    });
  }
}

template <class T>
void Merged_Database::add_values(const Database& added, const Record_Ids& records,
                                 const Column<T>& from, Column<T>& to, index_t shift) {
  for_each_run(records, [&](index_t first, index_t size) {
    for (index_t id = first; id < first + size; ++id) {
      if constexpr (std::is_same_v<T, Record_Id>)
        to.set(shift + id, shifted(from.get(id), added.find_table(from.type().referenced)));
      else
        to.set(shift + id, from.get(id));
    }
  });
}

// A reference that leads behind the end of its table would lead to a record of the next file.
Record_Id Merged_Database::shifted(Record_Id reference, const Table* table) const {
  if (table == nullptr || reference.is_null()) return reference;
  if (reference.value() < 0 || reference.value() >= size_of(*table)) return Record_Id();
  return reference + shifts_[table->id().value()];
}

}  // namespace joedb::inline v1
