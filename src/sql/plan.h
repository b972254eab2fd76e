#ifndef JOEDB_SRC_SQL_PLAN_H
#define JOEDB_SRC_SQL_PLAN_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace joedb {

// How a cursor finds its records. xBestIndex chooses the plan, and passes it to xFilter as a text.
//
// The conditions and the order are binding. The access is advice: if the content has changed since,
// so that an index is useless, the cursor scans and sorts.
struct Plan {
  static constexpr int record_id = -1;  // used as the number of a column

  enum class Access { scan, record_ids, index, own_index };
  Access access = Access::scan;
  // Position in Table::indexes(), for Access::index.
  int index = 0;

  // One for each argument of xFilter, in order.
  struct Condition {
    int column = 0;
    unsigned char op = 0;  // SQLITE_INDEX_CONSTRAINT_…
    bool is_list = false;  // the argument has all values of an IN
  };
  std::vector<Condition> conditions;

  struct Term {
    int column = 0;
    bool is_descending = false;
  };
  // Columns that SQLite will read: a bit for each column up to 62, and the highest bit for all
  // columns from 63 on.
  std::uint64_t used_columns = 0;

  // Order of the records. For Access::own_index, only: records with equal values are adjacent.
  std::vector<Term> order;

  std::string text() const;
  // Requires a text that text() has returned.
  static Plan parse(std::string_view text);
};

}  // namespace joedb

#endif
