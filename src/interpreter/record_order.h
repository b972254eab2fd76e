#ifndef JOEDB_INTERPRETER_RECORD_ORDER_H
#define JOEDB_INTERPRETER_RECORD_ORDER_H

#include <vector>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/record_ids.h"

namespace joedb::inline v1 {

// Writes the entries that make the ids of a new table what those of another one are: the same are
// in use, in the same order, and the same are free, so that new rows get the same ids. They are
// about as few as those that have made the other table.
//
// Most ids are inserted in ascending order; those that were not come last.
class Record_Order {
 public:
  // `records` must outlive this object. Takes 8 bytes for each free id, and a bit for each other
  // one, unless the table is dense.
  Record_Order(Table_Id table, const Record_Ids& records);

  void write(Writable_Journal& journal) {
    write_first(journal);
    write_late(journal);
  }

 private:
  // After this, all ids exist, the late ones as free ids.
  void write_first(Writable_Journal& journal);
  void write_late(Writable_Journal& journal) const;
  void build_to(index_t end, Writable_Journal& journal);
  void insert(index_t first, index_t size, Writable_Journal& journal) const;
  void erase(index_t first, index_t size, Writable_Journal& journal) const;
  void make_free(Writable_Journal& journal);

  const Table_Id table_;
  const Record_Ids& records_;
  index_t first_late_ = Record_Ids::no_id;  // and all behind it in the list
  std::vector<bool> is_late_;
  index_t done_ = 0;  // ids below are as they shall be, but for deletions that follow
};

}  // namespace joedb::inline v1

#endif
