#ifndef SQL_PLAN_H
#define SQL_PLAN_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace joedb {

// How a cursor finds its records: what xBestIndex has chosen, and xFilter is told, as a text.
//
// The conditions and the order are promises that hold in any case. The access is advice: where the
// content has changed since, so that an index is of no use, the cursor scans and sorts.
struct Plan {
  static constexpr int record_id = -1;  // instead of the number of a column

  enum class Access { scan, record_ids, index, own_index };
  Access access = Access::scan;
  // Of Table::indexes(), for Access::index.
  int index = 0;

  // For each argument of xFilter, in their order.
  struct Condition {
    int column = 0;
    unsigned char op = 0;  // SQLITE_INDEX_CONSTRAINT_…
    bool is_list = false;  // all values of an IN
  };
  std::vector<Condition> conditions;

  struct Term {
    int column = 0;
    bool is_descending = false;
  };
  // Columns that SQLite will ask for: a bit for each, and the highest one for all from 63 on.
  std::uint64_t used_columns = 0;

  // The records come in this order…
  std::vector<Term> order;
  // …or, for Access::own_index, only those with equal values one behind the other.

  std::string text() const;
  // Requires what text() has returned.
  static Plan parse(std::string_view text);
};

}  // namespace joedb

#endif
