#ifndef JOEDB_SRC_REWRITE_RECORD_ORDER_H
#define JOEDB_SRC_REWRITE_RECORD_ORDER_H

#include <vector>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/column.h"

namespace joedb::inline v1 {

// Writes entries that give a new table the same ids as another table: the same ids are in use, in
// the same order, and the same ids are free, so that new records get the same ids. The number of
// entries is about the number of entries that made the other table.
//
// Most ids are inserted in ascending order. The other ids are called late: they are inserted last.
class Record_Order {
 public:
  // `records` must outlive this object. If the table is not dense, the constructor allocates one
  // bit per id, and write() temporarily allocates 8 bytes per free id.
  Record_Order(Table_Id table, const Record_Ids& records);

  void write(Writable_Journal& journal) {
    write_first(journal);
    write_late(journal);
  }

 private:
  // Creates all ids. The late ids are then free.
  void write_first(Writable_Journal& journal);
  void write_late(Writable_Journal& journal) const;
  void build_to(index_t end, Writable_Journal& journal);
  void insert(index_t first, index_t size, Writable_Journal& journal) const;
  void erase(index_t first, index_t size, Writable_Journal& journal) const;
  void make_free(Writable_Journal& journal);

  const Table_Id table_;
  const Record_Ids& records_;
  index_t first_late_ = Record_Ids::no_id;  // this id and those after it in the list are late
  std::vector<bool> is_late_;
  index_t done_ = 0;  // ids below are in their final state, except for later deletions
};

}  // namespace joedb::inline v1

#endif
