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

// A null reference becomes null, a blob [position, size].
Json json_of(const Value& value);
// Position, time, author and comments of a transaction, without its changes.
Json json_of(const Transaction_Info& info);
// The part of `change` about one record; with a null `record`, all of it.
Json json_of(const Change& change, Record_Id record);

class History_Output : public Transaction_Output {
 public:
  // `out` must outlive this object. The options set the colours of `style`, and is_complete.
  History_Output(std::ostream& out, const History_Options& options, History_Text::Style style = {});

  // Like the functions of History_Text, or one JSON object on a line.
  void print(const Transaction_Summary& summary) override;
  void print(const Transaction& transaction) override;
  void print_all(const Transaction& transaction);

  struct State {
    std::string file;
    Offset position = 0;
  };
  // Prints the differences between two states, or one JSON object.
  void print_difference(const State& from, const State& to, const std::vector<Change>& changes,
                        bool has_changes);

 private:
  void print_json(const Transaction& transaction);

  std::ostream& out_;
  const bool is_json_;
  const History_Text::Style style_;
  History_Text text_;
};

// Calls print(stream) with a stream to standard output or, on a terminal, to the pager. Returns
// when the user has left the pager, which may end print() early.
void print_paged(bool may_page, const std::function<void(std::ostream&)>& print);

}  // namespace joedb

#endif
