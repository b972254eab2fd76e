#ifndef JOEDB_TEXT_TABLE_TEXT_H
#define JOEDB_TEXT_TABLE_TEXT_H

#include <ostream>
#include <vector>

#include "joedb/table/table.h"

namespace joedb::inline v1 {

// The part of a table that is shown, and the width of its columns.
struct Table_View {
  std::size_t max_column_width = 25;  // in terminal columns; 0 means no limit
  index_t start = 0;                  // records [start, start + length)
  index_t length = 0;                 // 0 means all records, whatever `start` is
};

// Prints a table with a title, and one line per record in ascending order of ids. A value that is
// too wide for its column is cut, and ends with an ellipsis. Errors set the state of `out`.
//
//     -----------------
//       name     height
//     -----------------
//     0 "Ann"      1.75
//     1 "Roland"   1.62
void write_table(std::ostream& out, const Table& table, const Table_View& view);

// Prints the given records in the same form, in the given order. All of them must be in use.
void write_records(std::ostream& out, const Table& table, std::vector<index_t> records);

// Prints a record, one line per field. If the id is not in use, for example negative, prints
// information about the records of the table instead.
void write_record(std::ostream& out, const Table& table, Record_Id record);

}  // namespace joedb::inline v1

#endif
