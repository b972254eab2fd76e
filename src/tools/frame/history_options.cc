#include "tools/frame/history_options.h"

#include "kernel/base/parse_number.h"
#include "tools/frame/arguments.h"
#include "tools/frame/standard_input.h"

namespace joedb {

Record_Id parse_record(const std::string& text) {
  const auto id = parse_number<index_t>(text);
  if (!id || *id < 0) throw Usage_Error("RECORD: " + text + ": expected the id of a record");
  return Record_Id(*id);
}

void add_history_options(Options& options, History_Options& history) {
  options.add("--table", history.table,
              "only changes of the table with this present or former name",
              Value_Kind{"TABLE", ""});
  options.add("--record", history.record, "with --table: only changes of the record with this id");
  options.add_flag("--all", history.is_complete,
                   "show all records of large changes, and long texts in full");
  options.add_flag("--json", history.is_json, "print one JSON object per transaction");
  add_colour_option(options, history.colour);
  add_recovery_option(options, history.recovery);
  options.add_flag("--ignore-header", history.ignore_header, "same as --recovery ignore_header");
  add_source_options(options, history.source);
  add_utc_option(options);
}

void History_Options::check(const Words& words) const {
  if (record && table.empty()) words.fail("--record needs --table");
}

Change_Options History_Options::for_file(Abstract_File& file) const {
  Change_Options options;
  options.recovery = ignore_header ? Recovery::ignore_header : recovery;
  if (table.empty()) return options;
  options.tables = tables_named(file, table, options.recovery);
  if (options.tables.empty()) throw Exception("has never had a table " + table);
  if (record) options.record = Record_Id(*record);
  return options;
}

}  // namespace joedb
