#ifndef JOEDB_SRC_EXCHANGE_ROW_WRITER_H
#define JOEDB_SRC_EXCHANGE_ROW_WRITER_H

#include <memory>
#include <vector>

#include "exchange/cell.h"
#include "joedb/table/writable_database.h"

namespace joedb {

// Takes cells for one field of a table, one at a time, and writes their values to records.
class Column_Writer {
 public:
  virtual ~Column_Writer() = default;

  // Takes a value. Texts of the cell must not change until the last use of the value. Throws
  // Cell_Error.
  virtual void read(const Cell& cell) = 0;
  // Takes the default value of the type.
  virtual void reset() = 0;
  // Returns true if the record has this value already. Compares floats by their bits, but nan
  // equals nan; compares blobs by their bytes.
  virtual bool is_stored(Record_Id record) const = 0;
  // Writes the value to a record, which must be in use. Throws what Writable_Database::update
  // throws.
  virtual void write(Record_Id record) = 0;
  // Returns the value as part of a key, valid as long as the value. Throws Data_Error for a blob.
  virtual Key_Part key() const = 0;
};

// Writes rows to a table: give values to columns, then insert them, or update a record.
class Row_Writer {
 public:
  // The table must exist, and must not get new fields during the lifetime of this object.
  Row_Writer(Writable_Database& database, Table_Id table);

  const Table& table() const { return table_; }
  // Throws Data_Error if there is no such field.
  Column_Writer& column(Field_Id field);

  // Inserts a record with the current values of all columns: with this id or, for the null id, the
  // id that generated code would use. Throws the exceptions of Writable_Database::write. After
  // Unique_Violation the record exists, and the caller must roll back.
  Record_Id insert(Record_Id record = {});
  void reset();

 private:
  Writable_Database& database_;
  Table& table_;
  std::vector<std::unique_ptr<Column_Writer>> columns_;  // by field id; null for dropped fields
};

}  // namespace joedb

#endif
