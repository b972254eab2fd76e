#ifndef JOEDB_INTERPRETER_TABLE_TEXT_H
#define JOEDB_INTERPRETER_TABLE_TEXT_H

#include <ostream>
#include <vector>

#include "joedb/table/table.h"

namespace joedb::inline v1 {

// Which part of a table is shown, and how wide.
struct Table_View {
  std::size_t max_column_width = 25;  // 0: as wide as the values need
  index_t start = 0;                  // records [start, start + length)
  index_t length = 0;                 // 0: all records
};

// Prints a table with titles, one line per record, in the order of ids. What is too wide for its
// column ends with an ellipsis.
//
//     -----------------
//       name     height
//     -----------------
//     0 "Ann"      1.75
//     1 "Roland"   1.62
void write_table(std::ostream& out, const Table& table, const Table_View& view);

// The same for some records, in this order.
void write_records(std::ostream& out, const Table& table, std::vector<index_t> records);

// Prints a record, one line per field, or, if it is not used (a negative one never is), what there
// is to know about the records of the table.
void write_record(std::ostream& out, const Table& table, Record_Id record);

}  // namespace joedb::inline v1

#endif
