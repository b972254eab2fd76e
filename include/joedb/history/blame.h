#ifndef JOEDB_HISTORY_BLAME_H
#define JOEDB_HISTORY_BLAME_H

#include <vector>

#include "joedb/history/changes.h"

namespace joedb::inline v1 {

// Finds the transaction that wrote each value of a table, or of one record.
//
//   const joedb::Blame blame(file, database, end, table);
//   if (const joedb::Transaction_Info* writer = blame.writer(record, field)) …
//
// The writer of a value is the last of three: the transaction that last updated it; the one that
// inserted the record; and, for a default value, the one that added the field to the table. An
// update counts even if it left the value unchanged.
//
// The journal is decoded twice, without its values: once for the positions of the writes, once for
// their transactions. Memory is about 150 bytes for each range of records that was written at once
// and not overwritten, so at most proportional to the journal, whatever the size of the table; plus
// the Transaction_Info of each writer.
class Blame {
 public:
  // `database` must have the content at position `end`, as load() makes it; it is used only during
  // this call. A null `record` stands for all records. Throws what load() throws, Exception if the
  // database does not have the table or if `end` is not a position between two entries,
  // std::bad_alloc.
  Blame(Abstract_File& file, const Database& database, Offset end, Table_Id table,
        Record_Id record = {}, Recovery recovery = Recovery::none);

  // The functions below return null if the record is not in use, if the field does not exist, or if
  // the object does not cover the record. The result is valid while this object exists.
  const Transaction_Info* writer(Record_Id record, Field_Id field) const;
  // The transaction that last inserted the record, or updated one of its fields that still exist.
  const Transaction_Info* last_writer(Record_Id record) const;
  // The transaction that inserted the record.
  const Transaction_Info* inserter(Record_Id record) const;

  // All transactions that these functions can return, in the order of the journal.
  const std::vector<Transaction_Info>& transactions() const { return transactions_; }

 private:
  class Reader;

  // Positions in the journal at which records were last written. A position identifies the
  // transaction of the write: it is after the start of the transaction and not after its end.
  class Written {
   public:
    struct Range {
      index_t first;
      index_t end;
      Offset position;
    };
    // Sets the position of records [first, end).
    void add(index_t first, index_t end, Offset position);
    // Sorts the ranges, and removes the overwritten ones.
    void sort();
    // These functions require that nothing was added since sort(). at() returns 0 for a record that
    // was never written.
    Offset at(index_t record) const;
    const std::vector<Range>& ranges() const { return ranges_; }
    // Returns, for each record, the later of its two positions. Both arguments must be sorted.
    static Written later_of(const Written& a, const Written& b);

   private:
    void append(index_t first, index_t end, Offset position);

    std::vector<Range> ranges_;  // the first sorted_ of them are sorted and do not overlap
    std::size_t sorted_ = 0;
    std::size_t limit_ = std::size_t{1} << 20;  // number of ranges at which add() sorts them
  };
  struct Column {
    Offset added = 0;  // position at which the field was added to the table
    Written written;
  };

  bool has(Record_Id record) const;
  void find_last();
  void find_transactions(Abstract_File& file, Offset end, Table_Id table, Recovery recovery);
  const Transaction_Info* transaction(Offset position) const;

  index_t first_ = 0;  // the object covers records [first_, end_)
  index_t end_ = 0;
  Written inserted_;             // 0 for records that are not in use
  Written last_;                 // the last insertion or update of any field
  std::vector<Column> columns_;  // by field id
  std::vector<bool> is_field_;   // true if the field still exists
  std::vector<Transaction_Info> transactions_;
};

}  // namespace joedb::inline v1

#endif
