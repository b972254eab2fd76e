#ifndef JOEDB_CLI_HISTORY_OUTPUT_H
#define JOEDB_CLI_HISTORY_OUTPUT_H

#include <ostream>
#include <string>
#include <vector>

#include "interpreter/change_text.h"
#include "joedb/history/changes.h"
#include "joedb/history/tags.h"

// Transactions on standard output, as text and as JSON.

namespace joedb {

class History_Output {
 public:
  struct Settings {
    bool is_json = false;
    bool has_colours = false;
    bool is_complete = false;
    Record_Id record;                // only this one; null: all
    std::size_t position_width = 0;  // of the column of positions
    const Tags* tags = nullptr;      // to be shown with the transactions; must outlive it
  };
  // `out` must outlive it.
  History_Output(std::ostream& out, const Settings& settings) : out_(out), settings_(settings) {}

  // A line.
  void print(const Transaction_Summary& summary);
  // A line, then the changes.
  void print(const Transaction& transaction);
  // All that a transaction says of itself, a line each, then the changes.
  void print_all(const Transaction& transaction);
  // Only the changes, as text.
  void print_changes(const Transaction& transaction) { print_changes(transaction.changes, ""); }
  // What print() begins with: the position, the time, the tags, the author, and the first line of
  // the first comment.
  std::string line(const Transaction_Info& info) const;

  struct State {
    std::string file;
    Offset position = 0;
  };
  // What differs between two states: the changes, if they are wanted, then a line for each table,
  // or an object.
  void print_difference(const State& from, const State& to, const std::vector<Change>& changes,
                        bool has_changes);

 private:
  std::vector<std::string> tags_of(const Transaction_Info& info) const;
  std::string headings(const Transaction_Info& info) const;
  void print_changes(const std::vector<Change>& changes, std::string_view indentation);
  void print_json(const Transaction& transaction);

  std::ostream& out_;
  const Settings settings_;
  bool is_first_ = true;
};

}  // namespace joedb

#endif
