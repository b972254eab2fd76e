#ifndef JOEDB_SRC_TOOLS_HISTORY_HISTORY_OUTPUT_H
#define JOEDB_SRC_TOOLS_HISTORY_HISTORY_OUTPUT_H

#include <ostream>
#include <string>
#include <vector>

#include "text/history_text.h"
#include "tools/frame/json_output.h"

// Prints transactions as text or as JSON.

namespace joedb {

// A null reference becomes null, a blob [position, size].
Json json_of(const Value& value);
// Position, time, author and comments of a transaction, without its changes.
Json json_of(const Transaction_Info& info);
// The part of `change` about one record; with a null `record`, all of it.
Json json_of(const Change& change, Record_Id record);

class History_Output {
 public:
  struct Settings {
    bool is_json = false;
    History_Text::Style style = {};
  };
  // `out` must outlive this object.
  History_Output(std::ostream& out, const Settings& settings)
      : out_(out), settings_(settings), text_(out, settings.style) {}

  // Like the functions of History_Text, or one JSON object on a line.
  void print(const Transaction_Summary& summary);
  void print(const Transaction& transaction);
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
  const Settings settings_;
  History_Text text_;
};

}  // namespace joedb

#endif
