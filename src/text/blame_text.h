#ifndef JOEDB_SRC_TEXT_BLAME_TEXT_H
#define JOEDB_SRC_TEXT_BLAME_TEXT_H

#include <functional>
#include <optional>
#include <string>

#include "joedb/history/changes.h"
#include "joedb/table/database.h"

// The output of blame, for the tool and for joedbi.

namespace joedb::inline v1 {

// The object of a blame: a table, a record, or one value of a record.
struct Blamed {
  std::string table;
  std::optional<Record_Id> record = {};
  std::string field = {};   // empty: all fields
  bool has_fields = false;  // for a table: one line per value
};

struct Blame_Line {
  Record_Id record;
  const Field* field = nullptr;  // null: the line is about the whole record
  Values value = {};             // one value, if the line is about a field
  const Transaction_Info* writer = nullptr;
};

// Calls f(line) for each line. `database` is the content of the file up to `end`. Throws Exception
// if the table, record or field does not exist, and what Blame and f() throw.
void for_each_blame_line(Abstract_File& file, const Database& database, Offset end,
                         const Blamed& blamed, Recovery recovery,
                         const std::function<void(const Blame_Line&)>& f);

// Returns the part of a line before the transaction: "3", "3 name \"Ada\"". Omits the record id
// unless has_record. Cuts long texts unless is_complete.
std::string blame_text(const Blame_Line& line, bool has_record, bool is_complete);

}  // namespace joedb::inline v1

#endif
