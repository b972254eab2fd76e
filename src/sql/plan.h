#ifndef JOEDB_SRC_SQL_PLAN_H
#define JOEDB_SRC_SQL_PLAN_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace joedb {

// How a cursor finds records. xBestIndex chooses the plan, and passes it to xFilter as text.
//
// The conditions and the order are mandatory. The access is only a hint: if the content has
// changed, so that the index cannot be used, the cursor scans the table and sorts the records.
struct Plan {
  static constexpr int record_id = -1;  // used as the number of a column

  enum class Access { scan, record_ids, index, own_index };
  Access access = Access::scan;
  // Number of the index (Virtual_Table::planned_index), for Access::index.
  int index = 0;

  // The conditions, one for each argument of xFilter, in order.
  struct Condition {
    int column = 0;
    unsigned char op = 0;  // SQLITE_INDEX_CONSTRAINT_…
    bool is_list = false;  // the argument has all values of an IN operator
  };
  std::vector<Condition> conditions;

  struct Term {
    int column = 0;
    bool is_descending = false;
  };
  // The columns that SQLite will read. Bit i is column i, for i up to 62. Bit 63 is all other
  // columns.
  std::uint64_t used_columns = 0;

  // The required order of the records. For Access::own_index, records with equal values need only
  // be adjacent.
  std::vector<Term> order;

  std::string text() const;
  // The text must be from text().
  static Plan parse(std::string_view text);
};

}  // namespace joedb

#endif
