#ifndef JOEDB_SRC_TEXT_CHANGE_TEXT_H
#define JOEDB_SRC_TEXT_CHANGE_TEXT_H

#include <string>
#include <string_view>

#include "joedb/history/changes.h"

// Changes (history/changes.h) as text for people. Names, texts and comments may have any bytes:
// none of them can end its line, or reach the terminal as a control character.

namespace joedb::inline v1 {

// Returns "inserted", "table_created" and so on: the name of the enumerator.
const char* name_of(Change::Kind kind);

struct Change_Style {
  bool has_colours = false;
  // If false, only the first records of a large change are shown, and the beginning of a long text.
  bool is_complete = false;
  std::string_view indentation = {};  // printed before each line
  Record_Id record = {};              // shows only this record of a change; null: all
};

// Appends lines like these, one per record or schema change:
//
//   + person 3 name "Edsger", age 72, boss -1
//   ~ person 0 age 36 → 37
//   - person 2 name "Grace", age 85, boss 0
//   add_field person born int32
void append_change(std::string& out, const Change& change, const Change_Style& style);

// Returns the changes of a transaction in numbers:
// "+3 city, ~12 person, -1 person, schema of city".
std::string summary_text(const Transaction_Summary& summary, bool has_colours);

// Appends what append_plain (kernel/base/plain_text.h) appends, in quotes, like append_quoted
// (kernel/schema/value_text.h).
void append_shown(std::string& out, std::string_view text);
// Appends a value. A text of more than `max_size` bytes is cut between characters, and an ellipsis
// follows its closing quote.
void append_cut_value(std::string& out, const Value& value, std::size_t max_size);

}  // namespace joedb::inline v1

#endif
