#ifndef JOEDB_SRC_EXCHANGE_ROW_WRITER_H
#define JOEDB_SRC_EXCHANGE_ROW_WRITER_H

#include <memory>
#include <vector>

#include "exchange/cell.h"
#include "joedb/table/writable_database.h"

namespace joedb {

// Takes values for one field of a table, one at a time, and writes them to records.
class Column_Writer {
 public:
  virtual ~Column_Writer() = default;

  // Takes a value. The text of the cell must not change until the value is replaced. Throws
  // Cell_Error.
  virtual void read(const Cell& cell) = 0;
  // Takes the default value of the type; in an optional field, the missing value.
  virtual void reset() = 0;
  // Returns true if the record already has this value. Floats are equal if their bits are, or if
  // both are nan; blobs are equal if their bytes are.
  virtual bool is_stored(Record_Id record) const = 0;
  // Writes the value to a record, which must be in use. Throws the exceptions of
  // Writable_Database::update.
  virtual void write(Record_Id record) = 0;
  // Returns the value as part of a key. It is valid until the value is replaced. Throws Data_Error
  // for a blob.
  virtual Key_Part key() const = 0;
};

// Writes rows to a table. Give values to the columns first, then insert a record, or update one.
class Row_Writer {
 public:
  // The table must exist, and must not get new fields during the lifetime of this object.
  Row_Writer(Writable_Database& database, Table_Id table);

  const Table& table() const { return table_; }
  // Throws Data_Error if there is no such field.
  Column_Writer& column(Field_Id field);

  // Inserts a record with the current values of all columns. A null `record` means the id that
  // generated code would use. Throws the exceptions of Writable_Database::write. After
  // Unique_Violation, the record exists, so the caller must roll back.
  Record_Id insert(Record_Id record = {});
  void reset();

 private:
  Writable_Database& database_;
  Table& table_;
  std::vector<std::unique_ptr<Column_Writer>> columns_;  // by field id; null for dropped fields
};

}  // namespace joedb

#endif
