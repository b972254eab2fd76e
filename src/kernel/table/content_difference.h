#ifndef JOEDB_SRC_KERNEL_TABLE_CONTENT_DIFFERENCE_H
#define JOEDB_SRC_KERNEL_TABLE_CONTENT_DIFFERENCE_H

#include <string>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Returns the first difference of two databases as text like "table city, record 3, field name";
// empty if there is none. Compares schema, records in their order, the bits of their values, the
// ids that new records will get, indexes and time stamps. Trusts neither database: terminates even
// if their lists are damaged.
std::string content_difference(const Database& a, const Database& b);

}  // namespace joedb::inline v1

#endif
