#ifndef JOEDB_SRC_SQL_COLLATION_H
#define JOEDB_SRC_SQL_COLLATION_H

#include <string_view>

#include "joedb/schema/type.h"
#include "sql/sqlite_api.h"

// How SQL compares the texts that it shows for times, durations and UUIDs. Texts that mean the same
// are equal, in whatever form they are. A text that means nothing is compared by its bytes.

namespace joedb {

// A collating sequence of SQLite.
struct Collation {
  const char* name = nullptr;  // null: BINARY
  int (*compare)(std::string_view a, std::string_view b) = nullptr;
};

// Returns the collating sequence of the columns of a logical type.
const Collation& collation_of(const Logical_Type& logical);

// Compares texts as in a column of this type. Returns a negative number, 0, or a positive number.
int compare_texts(const Logical_Type& logical, std::string_view a, std::string_view b);

// Makes the collating sequences known to a connection. Returns an SQLite result code.
int register_collations(sqlite3* connection);

}  // namespace joedb

#endif
