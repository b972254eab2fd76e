#ifndef JOEDB_INTERPRETER_CHANGE_TEXT_H
#define JOEDB_INTERPRETER_CHANGE_TEXT_H

#include <string>
#include <string_view>

#include "joedb/history/transaction.h"

// Changes (history/transaction.h) as text for people. Whatever bytes names, texts and comments
// have, none of them ends its line or reaches the terminal as a control character.

namespace joedb::inline v1 {

struct Change_Style {
  bool has_colours = false;
  // Without this, of a change of many records only the first ones are shown, and of a long text the
  // beginning.
  bool is_complete = false;
  std::string_view indentation = {};  // before each line
  Record_Id record = {};              // only this one of a change; null: all
};

// Appends lines like these, one for each record, or change of the schema:
//
//   + person 3 name "Edsger", age 72, boss -1
//   ~ person 0 age 36 → 37
//   - person 2 name "Grace", age 85, boss 0
//   add_field person born int32
void append_change(std::string& out, const Change& change, const Change_Style& style);

// "+3 city, ~12 person, -1 person, schema of city": what a transaction has changed.
std::string summary_text(const Transaction_Summary& summary, bool has_colours);

// Appends a text without quotes: control characters, line ends among them, those that change the
// direction of a text, and bytes that are not UTF-8 become a backslash and three octal digits each
// byte.
void append_plain(std::string& out, std::string_view text);
// The same in quotes, as append_quoted (schema/value_text.h) does.
void append_shown(std::string& out, std::string_view text);

}  // namespace joedb::inline v1

#endif
