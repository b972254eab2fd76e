#ifndef JOEDB_INTERPRETER_BLAME_TEXT_H
#define JOEDB_INTERPRETER_BLAME_TEXT_H

#include <functional>
#include <optional>
#include <string>

#include "joedb/history/blame.h"
#include "joedb/table/database.h"

// What blame shows, for the tool and for joedbi.

namespace joedb::inline v1 {

// Of what the writers are wanted: of a table, a record, or one of its values.
struct Blamed {
  std::string table;
  std::optional<Record_Id> record = {};
  std::string field = {};   // empty: all
  bool has_fields = false;  // of a table: a line for each value
};

struct Blame_Line {
  Record_Id record;
  const Field* field = nullptr;  // null: the line is about the whole record
  Values value = {};             // one, of a field
  const Transaction_Info* writer = nullptr;
};

// Calls f(line) for each line. `database` is the content of the file up to `end`. Throws Exception
// if there is no such table, record or field; what Blame throws, and what f() throws.
void for_each_blame_line(Abstract_File& file, const Database& database, Offset end,
                         const Blamed& blamed, Recovery recovery,
                         const std::function<void(const Blame_Line&)>& f);

// What a line says in front of the transaction: "3", "3 name \"Ada\"". The id of the record is left
// out where all lines are of one; long texts are cut unless it is complete.
std::string blame_text(const Blame_Line& line, bool has_record, bool is_complete);

}  // namespace joedb::inline v1

#endif
