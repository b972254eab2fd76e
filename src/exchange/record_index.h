#ifndef JOEDB_EXCHANGE_RECORD_INDEX_H
#define JOEDB_EXCHANGE_RECORD_INDEX_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/table/table.h"

namespace joedb {

// Finds records by the values of some fields. It is a hash table of record ids that compares
// through the columns, so the values of a record in it must not change. NaN equals itself, and 0
// equals -0.
class Record_Index {
 public:
  // Has all records of the table, which must outlive the index. Throws Data_Error if two of them
  // have the same values, or a field is a blob.
  Record_Index(const Table& table, std::vector<Field_Id> fields);
  ~Record_Index();
  Record_Index(const Record_Index&) = delete;
  Record_Index& operator=(const Record_Index&) = delete;

  // The key has a value for each field. Null if there is no such record.
  Record_Id find(Key key) const;
  // Requires that no record has its values.
  void insert(Record_Id record);

  // "name = \"Lyon\", country = \"FR\"", of a record of the table.
  std::string key_text(Record_Id record) const;

 private:
  struct Records;

  std::unique_ptr<Records> records_;
};

}  // namespace joedb

#endif
