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
// The memory is 8 bytes for each value, of all records that the table has or ever had, and what the
// transactions say that have written one.
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
  struct Column {
    Offset added = 0;             // where the field was added to the table
    std::vector<Offset> written;  // empty: never
  };

  bool has(Record_Id record) const;
  std::size_t row(Record_Id record) const {
    return static_cast<std::size_t>(record.value() - first_);
  }
  Offset position(std::size_t row, const Column& column) const;
  void find_transactions(Abstract_File& file, Offset end, Table_Id table, Recovery recovery);
  const Transaction_Info* transaction(Offset position) const;

  // Positions are those where an entry ends, or any inside of it; 0: none.
  index_t first_ = 0;             // the record of row 0
  std::vector<Offset> inserted_;  // by row; of records that are not in use 0
  std::vector<Column> columns_;   // by field id
  std::vector<bool> is_field_;    // whether the field is still there
  std::vector<Transaction_Info> transactions_;
};

}  // namespace joedb::inline v1

#endif
