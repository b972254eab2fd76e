#ifndef JOEDB_SRC_KERNEL_TABLE_CONTENT_DIFFERENCE_H
#define JOEDB_SRC_KERNEL_TABLE_CONTENT_DIFFERENCE_H

#include <string>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Returns the first difference of two databases as a text such as "table city, record 3, field
// name"; empty if there is none. Compares schemas, the order of records, the bits of values, the
// ids that new records will get, indexes and time stamps. Terminates even if the lists of records
// are damaged.
std::string content_difference(const Database& a, const Database& b);

}  // namespace joedb::inline v1

#endif
