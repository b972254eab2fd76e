#ifndef JOEDB_CLI_HISTORY_JSON_H
#define JOEDB_CLI_HISTORY_JSON_H

#include "joedb/history/transaction.h"
#include "tools/frame/json_output.h"

namespace joedb {

// A null reference becomes null, a blob [position, size].
Json json_of(const Value& value);
// Position, time, author and comments of a transaction, without its changes.
Json json_of(const Transaction_Info& info);
// The part of `change` about one record; with a null `record`, all of it.
Json json_of(const Change& change, Record_Id record);

}  // namespace joedb

#endif
