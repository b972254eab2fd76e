#ifndef JOEDB_SRC_KERNEL_TABLE_RECORD_RUNS_H
#define JOEDB_SRC_KERNEL_TABLE_RECORD_RUNS_H

#include "joedb/table/table.h"

namespace joedb::inline v1 {

// Calls f(first, size) for each run of used ids in [begin, end), in ascending order.
template <class F>
void for_each_run(const Record_Ids& records, index_t begin, index_t end, F&& f) {
  if (records.is_dense()) {
    if (begin < end) f(begin, end - begin);
    return;
  }
  while (begin < end) {
    index_t first = begin;
    while (first < end && !records.is_used(first)) ++first;
    begin = first;
    while (begin < end && records.is_used(begin)) ++begin;
    if (first < begin) f(first, begin - first);
  }
}
template <class F>
void for_each_run(const Record_Ids& records, F&& f) {
  for_each_run(records, 0, records.size(), f);
}
// The same for all records of a table whose values are about to be read in order.
template <class F>
void for_each_run(const Table& table, F&& f) {
  table.expect_scan();
  for_each_run(table.records(), f);
}

}  // namespace joedb::inline v1

#endif
