#ifndef JOEDB_SRC_TOOLS_FRAME_HISTORY_OPTIONS_H
#define JOEDB_SRC_TOOLS_FRAME_HISTORY_OPTIONS_H

#include <optional>
#include <string>

#include "joedb/history/changes.h"
#include "tools/frame/database_options.h"
#include "tools/frame/parser.h"
#include "tools/frame/source.h"
#include "tools/frame/terminal.h"

// Options that the history commands share.

namespace joedb {

// Parses a record id. Throws Usage_Error if it is invalid.
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

  // Returns the options for reading changes of the file. Throws Exception if the file never had the
  // table.
  Change_Options for_file(Abstract_File& file) const;
  // Throws Usage_Error if a required option is missing, or if options exclude each other.
  void check(const Words& words) const;
};
// Adds --table, --record, --all, --json, --color, --recovery, --ignore-header, --max-size,
// --timeout and --utc.
void add_history_options(Options& options, History_Options& history);

}  // namespace joedb

#endif
