#ifndef JOEDB_CLI_HISTORY_OPTIONS_H
#define JOEDB_CLI_HISTORY_OPTIONS_H

#include <optional>
#include <string>
#include <variant>

#include "cli/parser.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "joedb/history/changes.h"
#include "joedb/journal/moment.h"

// What the tools have in common that show the history of a database.

namespace joedb {

// A place in the history, as users write it: a position, which is a number, or a time, as
// parse_time (base/time.h) reads it. Throws Usage_Error if it is neither; `option` is for the
// message.
Moment parse_moment(const std::string& text, const std::string& option);

// The same, but nothing if it is neither.
std::optional<Moment> find_moment_in(const std::string& text);

// The id of a record. Throws Usage_Error if it is none.
Record_Id parse_record(const std::string& text);

struct History_Options {
  Recovery recovery = Recovery::none;
  bool ignore_header = false;
  std::string table;
  std::optional<std::int64_t> record;
  bool is_complete = false;
  bool is_json = false;
  Colour colour = Colour::automatic;
  Source_Options source;

  // What is read of the file. Throws Exception if it never had the table.
  Change_Options for_file(Abstract_File& file) const;
  // Throws Usage_Error for options that exclude each other.
  void check(const Words& words) const;
};
// --table, --record, --all, --json, --color, --recovery, --ignore_header, --max_size, --timeout
void add_history_options(Options& options, History_Options& history);

}  // namespace joedb

#endif
