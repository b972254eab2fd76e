#ifndef JOEDB_SRC_TEXT_HISTORY_TEXT_H
#define JOEDB_SRC_TEXT_HISTORY_TEXT_H

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "history/log_view.h"
#include "history/requests.h"
#include "text/change_text.h"
#include "text/shown_changes.h"

namespace joedb::inline v1 {

// Prints transactions as text for people.
class History_Text : public Transaction_Output {
 public:
  struct Style {
    bool has_colours = false;
    bool is_complete = false;        // as in Change_Style
    Record_Id record = {};           // show only this record; null: all
    std::size_t position_width = 0;  // width of the column with positions
    const Tags* tags = nullptr;      // tags to show with transactions; must outlive this object
  };
  // `out` must outlive this object.
  History_Text(std::ostream& out, const Style& style) : out_(out), style_(style) {}

  // Prints one line.
  void print(const Transaction_Summary& summary) override;
  // Prints one line, then the changes.
  void print(const Transaction& transaction) override;
  // Prints all properties of the transaction, one per line, and then the changes.
  void print_all(const Transaction& transaction);
  // Prints only the changes.
  void print_changes(const std::vector<Change>& changes, std::string_view indentation,
                     Change_List list = Change_List::transaction);
  // Prints the changes of a plan, which must be possible. If `written` is not null, first prints
  // the line of this transaction, which has written the changes.
  void print_plan(const Plan& plan, const Transaction_Info* written);
  // Prints the difference of two states: if has_changes, the changes; then one line per table.
  void print_difference(const std::vector<Change>& changes, bool has_changes);

  // Prints a line: if has_record, the record id; the field and its value; the transaction.
  void print(const Blame_Line& blame_line, bool has_record);

  // Returns the line that print() begins with: the position, the time, the tags, the author, and
  // the first line of the first comment.
  std::string line(const Transaction_Info& info) const;
  // Returns those tags of Style::tags that are in this transaction.
  std::vector<std::string> tags_of(const Transaction_Info& info) const;

 private:
  void print(const Transaction_Info& info, const std::vector<Change>& changes);
  std::string headings(const Transaction_Info& info) const;

  std::ostream& out_;
  const Style style_;
  bool is_first_ = true;
};

// Returns for each table how many records were changed, and how often the table or its fields were.
std::vector<Table_Summary> summaries_of(const std::vector<Change>& changes);

// Returns the list of tags, sorted by name. Each line has a name, a position, and the time and
// author of the tag.
std::string tag_list_text(const Tags& tags);

}  // namespace joedb::inline v1

#endif
