#ifndef JOEDB_SRC_TEXT_CHANGE_TEXT_H
#define JOEDB_SRC_TEXT_CHANGE_TEXT_H

#include <string>
#include <string_view>

#include "joedb/history/changes.h"

// Changes (history/changes.h) as text for people. Names, texts and comments may contain any bytes.
// The output is safe: no such text can end its line, or send control characters to the terminal.

namespace joedb::inline v1 {

// Returns the name of the enumerator: "inserted", "table_created" and so on.
const char* name_of(Change::Kind kind);

struct Change_Style {
  bool has_colours = false;
  // If false, a large change shows only its first records, and a long text is truncated.
  bool is_complete = false;
  std::string_view indentation = {};  // printed before each line
  Record_Id record = {};              // show only this record of a change; null: all
};

// Appends one line per record or schema change:
//
//   + person 3 name "Edsger", age 72, boss -1
//   ~ person 0 age 36 → 37
//   - person 2 name "Grace", age 85, boss 0
//   add_field person born int32
void append_change(std::string& out, const Change& change, const Change_Style& style);
// The same for an update of one field that had another type, which its old values have.
void append_change(std::string& out, const Change& change, const Change_Style& style,
                   const Logical_Type& old_type);
// Appends the line of a field that got another type: "retype_field person age int64 (3 records)".
void append_retyping(std::string& out, const std::string& table, const Schema_Change& added,
                     const Schema_Change& dropped, const Change_Style& style);

// Returns the numbers of changes in a transaction:
// "+3 city, ~12 person, -1 person, schema of city".
std::string summary_text(const Transaction_Summary& summary, bool has_colours);

// Appends the text in quotes, like append_quoted (kernel/schema/value_text.h), with control
// characters escaped as append_plain (kernel/base/plain_text.h) does.
void append_shown(std::string& out, std::string_view text);
// Appends a value in the format of joedbi. If it is a text of more than `max_size` bytes, truncates
// it between two characters, and appends an ellipsis after the closing quote.
void append_cut_value(std::string& out, const Logical_Type& logical, const Value& value,
                      std::size_t max_size);

}  // namespace joedb::inline v1

#endif
