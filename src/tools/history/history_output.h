#ifndef JOEDB_SRC_TOOLS_HISTORY_HISTORY_OUTPUT_H
#define JOEDB_SRC_TOOLS_HISTORY_HISTORY_OUTPUT_H

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "text/history_text.h"
#include "tools/frame/history_options.h"
#include "tools/frame/json_output.h"

// Prints transactions as text or as JSON.

namespace joedb {

// Returns a value as JSON. A null reference and a missing value become null; a blob becomes
// [position, size]; a value of a logical type, also a decimal, the text of append_logical().
Json json_of(const Logical_Type& logical, const Value& value);
// Returns position, time, author and comments of a transaction, without its changes.
Json json_of(const Transaction_Info& info);
// Returns the part of `change` that is about `record`; all of it if `record` is null.
Json json_of(const Change& change, Record_Id record);

class History_Output : public Transaction_Output {
 public:
  // `out` must outlive this object. `options` override the colours and is_complete of `style`.
  History_Output(std::ostream& out, const History_Options& options, History_Text::Style style = {});

  // These functions print like those of History_Text; with --json, they print an object on one
  // line.
  void print(const Transaction_Summary& summary) override;
  void print(const Transaction& transaction) override;
  void print_all(const Transaction& transaction);

  struct State {
    std::string file;
    Offset position = 0;
  };
  // Prints the differences between two states; with --json, as one object.
  void print_difference(const State& from, const State& to, const std::vector<Change>& changes,
                        bool has_changes);

 private:
  void print_json(const Transaction& transaction);

  std::ostream& out_;
  const bool is_json_;
  const History_Text::Style style_;
  History_Text text_;
};

// Calls print(stream). The stream goes to standard output or, on a terminal, to the pager. Returns
// when the user has quit the pager. If the user quits early, print() also ends early.
void print_paged(bool may_page, const std::function<void(std::ostream&)>& print);

}  // namespace joedb

#endif
