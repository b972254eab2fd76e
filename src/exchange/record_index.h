#ifndef JOEDB_SRC_EXCHANGE_RECORD_INDEX_H
#define JOEDB_SRC_EXCHANGE_RECORD_INDEX_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/table/table.h"

namespace joedb {

// Thrown if two records that should be distinct have the same values. The text names the records
// and the values.
class Duplicate_Key : public Data_Error {
 public:
  explicit Duplicate_Key(const std::string& which)
      : Data_Error(which + ": this does not identify a record"), records(which) {}
  const std::string records;
};

// Finds records by the values of some fields. This is a hash table of record ids, which reads the
// values from the columns: while a record is in the table, these values must not change. NaN equals
// NaN, and 0 equals -0.
class Record_Index {
 public:
  // Indexes all records of the table, which must outlive this object. Throws Duplicate_Key if
  // two records have the same values, and Data_Error if a field is a blob.
  Record_Index(const Table& table, std::vector<Field_Id> fields);
  ~Record_Index();
  Record_Index(const Record_Index&) = delete;
  Record_Index& operator=(const Record_Index&) = delete;

  // `key` must have a value for each field. Returns null if there is no such record.
  Record_Id find(Key key) const;
  // Precondition: no record in the index has the same values.
  void insert(Record_Id record);

  // Returns "name = \"Lyon\", country = \"FR\"" for a record of the table.
  std::string key_text(Record_Id record) const;

 private:
  struct Records;

  std::unique_ptr<Records> records_;
};

}  // namespace joedb

#endif
