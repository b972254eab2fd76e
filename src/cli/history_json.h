#ifndef JOEDB_CLI_HISTORY_JSON_H
#define JOEDB_CLI_HISTORY_JSON_H

#include "cli/json_output.h"
#include "joedb/history/transaction.h"

namespace joedb {

// A null reference is null, a blob [position, size].
Json json_of(const Value& value);
// Where, when, by whom and why, without the changes.
Json json_of(const Transaction_Info& info);
// Of one record of the change; null: all.
Json json_of(const Change& change, Record_Id record);

}  // namespace joedb

#endif
