#ifndef JOEDB_HISTORY_BLAME_H
#define JOEDB_HISTORY_BLAME_H

#include <vector>

#include "joedb/history/changes.h"

namespace joedb::inline v1 {

// Which transaction has written each value of a table, or of one record.
//
//   const joedb::Blame blame(file, database, end, table);
//   if (const joedb::Transaction_Info* writer = blame.writer(record, field)) …
//
// The value of a field was written by its last update, by the insertion of the record, or, as a
// default value, by the addition of the field to the table, whichever is the last. It is not asked
// whether the value was another one before.
//
// The journal is decoded twice, without its values: for the writers, and for their transactions.
// The memory is about 150 bytes for each range of records that was written at once and is not
// written over, so it is proportional to the journal at most, whatever the size of the table; and
// what the transactions say that have written one.
class Blame {
 public:
  // `database` has the content at the position `end`, as load() makes it; it is only needed for the
  // time of this call. Without a record, it is about all records. Throws what load() throws,
  // Exception if the database does not have the table, std::bad_alloc.
  Blame(Abstract_File& file, const Database& database, Offset end, Table_Id table,
        Record_Id record = {}, Recovery recovery = Recovery::none);

  // Null if the record is not in use, there is no such field, or it is not what was asked about.
  const Transaction_Info* writer(Record_Id record, Field_Id field) const;
  // The last one that has inserted the record, or updated a field that is still there.
  const Transaction_Info* last_writer(Record_Id record) const;
  // The one that has inserted it.
  const Transaction_Info* inserter(Record_Id record) const;

  // All of these, in the order of the journal.
  const std::vector<Transaction_Info>& transactions() const { return transactions_; }

 private:
  class Reader;

  // Where in the journal records were written last. Positions are those where an entry ends, or any
  // inside of it.
  class Written {
   public:
    struct Range {
      index_t first;
      index_t end;
      Offset position;
    };
    // From now on it is this position for records [first, end).
    void add(index_t first, index_t end, Offset position);
    // Sorts what was added, without what was written over.
    void sort();
    // Require that nothing was added since sort(). 0: never.
    Offset at(index_t record) const;
    const std::vector<Range>& ranges() const { return ranges_; }
    // The later position of two; both are sorted.
    static Written later_of(const Written& a, const Written& b);

   private:
    void append(index_t first, index_t end, Offset position);

    std::vector<Range> ranges_;  // those up to sorted_ are sorted, and do not overlap
    std::size_t sorted_ = 0;
    std::size_t limit_ = std::size_t{1} << 20;  // when so many are there, they are sorted
  };
  struct Column {
    Offset added = 0;  // where the field was added to the table
    Written written;
  };

  bool has(Record_Id record) const;
  void find_last();
  void find_transactions(Abstract_File& file, Offset end, Table_Id table, Recovery recovery);
  const Transaction_Info* transaction(Offset position) const;

  index_t first_ = 0;  // records [first_, end_) are those that it is about
  index_t end_ = 0;
  Written inserted_;             // of records that are not in use 0
  Written last_;                 // insertions, and updates of all fields
  std::vector<Column> columns_;  // by field id
  std::vector<bool> is_field_;   // whether the field is still there
  std::vector<Transaction_Info> transactions_;
};

}  // namespace joedb::inline v1

#endif
