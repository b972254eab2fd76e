#ifndef JOEDB_SRC_TEXT_JSON_H
#define JOEDB_SRC_TEXT_JSON_H

#include <cstdint>
#include <functional>
#include <ostream>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Prints all tables as one JSON object: for each table the number of records and, for each field,
// the array of its values, in the order of the record ids.
//
//     {
//      "city":
//      {
//       "__size": 2,
//       "name": ["Lyon", "Brest"],
//       "twin": [1, -1]
//      }
//     }
//
// A reference becomes an index in these arrays, or -1 if the record does not exist. A blob becomes
// [position,size]. Two kinds of values do not exist in JSON: nan and infinities become 0, and texts
// that are not UTF-8 are truncated. A line on standard error warns of each kind. If `base64`, each
// text is the base64 of its bytes.
//
// Calls `on_progress` regularly with the number of values written so far. The total is
// count_values(database).
void write_json(const Database& database, std::ostream& out, bool base64,
                const std::function<void(std::int64_t)>& on_progress = {});
std::int64_t count_values(const Database& database);

}  // namespace joedb::inline v1

#endif
