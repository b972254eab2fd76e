#ifndef JOEDB_INTERPRETER_HISTORY_TEXT_H
#define JOEDB_INTERPRETER_HISTORY_TEXT_H

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/change_text.h"
#include "joedb/history/tags.h"

namespace joedb::inline v1 {

// Transactions as text for people.
class History_Text {
 public:
  struct Style {
    bool has_colours = false;
    bool is_complete = false;        // as of Change_Style
    Record_Id record = {};           // only this one; null: all
    std::size_t position_width = 0;  // of the column of positions
    const Tags* tags = nullptr;      // to be shown with the transactions; must outlive it
  };
  // `out` must outlive it.
  History_Text(std::ostream& out, const Style& style) : out_(out), style_(style) {}

  // A line.
  void print(const Transaction_Summary& summary);
  // A line, then the changes.
  void print(const Transaction& transaction);
  // All that a transaction says of itself, a line each, then the changes.
  void print_all(const Transaction& transaction);
  // Only the changes.
  void print_changes(const std::vector<Change>& changes, std::string_view indentation);
  // What differs between two states: the changes, if they are wanted, then a line for each table.
  void print_difference(const std::vector<Change>& changes, bool has_changes);

  // What print() begins with: the position, the time, the tags, the author, and the first line of
  // the first comment.
  std::string line(const Transaction_Info& info) const;
  // Those of the style.
  std::vector<std::string> tags_of(const Transaction_Info& info) const;

 private:
  std::string headings(const Transaction_Info& info) const;

  std::ostream& out_;
  const Style style_;
  bool is_first_ = true;
};

// By table, how many records were changed, and how often the table itself or a field of it.
std::vector<Table_Summary> summaries_of(const std::vector<Change>& changes);

// A line for each tag, by name: the name, the position, and when and by whom it was made.
std::string tag_list_text(const Tags& tags);

}  // namespace joedb::inline v1

#endif
