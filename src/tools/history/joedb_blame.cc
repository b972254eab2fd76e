#include "joedb/table/load.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/standard_input.h"
#include "tools/history/history_output.h"

namespace joedb {

namespace {

struct Blame_Command {
  Blamed blamed;
  std::optional<When> when;
  bool is_json = false;
  bool is_complete = false;
  Colour colour = Colour::automatic;
  Recovery recovery = Recovery::none;
};

void print_json_line(std::ostream& out, const Blame_Line& line) {
  Json json{{"record", line.record.value()}};
  if (line.field != nullptr) {
    json["field"] = line.field->name;
    json["value"] = json_of(line.field->column->logical(), line.value[0]);
  }
  json["transaction"] = line.writer == nullptr ? Json(nullptr) : json_of(*line.writer);
  print_json(json, out);
}

void print_blame(Abstract_File& file, const Blame_Command& command, std::ostream& out) {
  Readonly_Journal journal(file, command.recovery);
  const Offset end = command.when ? find_position(file, *command.when, command.recovery)
                                  : journal.get_checkpoint();
  Database database;
  load(database, journal, end);
  require_entry_end(journal, end);
  History_Text text(
      out, {.has_colours = has_colours(command.colour), .is_complete = command.is_complete});
  for_each_blame_line(file, database, end, command.blamed, command.recovery,
                      [&](const Blame_Line& line) {
                        if (command.is_json) return print_json_line(out, line);
                        text.print(line, !command.blamed.record);
                      });
}

const char* const blame_details =
    R"(Each line shows what was written and by which transaction: its end position, time, author and
comment, as in joedb_log. For a table, there is one line per record, with the last transaction that
wrote to it; for a record, one line per value.

)";

}  // namespace

int run_blame(std::vector<std::string> arguments) {
  Options options({"joedb_blame [options] FILE TABLE [RECORD [FIELD]]",
                   "Shows which transactions wrote the values of a table.", blame_details,
                   "  joedb_blame people.joedb person\n"
                   "  joedb_blame people.joedb person 3\n"
                   "  joedb_blame --at '2 hours ago' people.joedb person 3 age\n"});
  Blame_Command command;
  std::optional<std::string> when;
  Source_Options source;
  bool ignore_header = false;
  options.add_flag("--fields", command.blamed.has_fields, "for a table: print one line per value");
  options.add("--at", when, "use the state at this position, time or tag", Value_Kind{"WHEN", ""});
  options.add_flag("--all", command.is_complete, "show long texts in full");
  options.add_flag("--json", command.is_json, "print one JSON object per line");
  add_colour_option(options, command.colour);
  add_recovery_option(options, command.recovery);
  options.add_flag("--ignore-header", ignore_header, "same as --recovery ignore_header");
  add_source_options(options, source);
  add_utc_option(options);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  command.blamed.table = words->take_name();
  if (!words->is_empty()) command.blamed.record = parse_record(words->take_name());
  if (!words->is_empty()) command.blamed.field = words->take_last_name();
  words->require_end();
  if (command.blamed.has_fields && command.blamed.record)
    words->fail("--fields is not needed for a record: all its fields are shown");
  if (when) command.when = parse_when(*when, "--at");
  if (ignore_header) command.recovery = Recovery::ignore_header;
  const auto file = open_source(name, source);
  name_file_in_errors(file->get_name(), [&] {
    print_paged(!command.is_json, [&](std::ostream& out) { print_blame(*file, command, out); });
  });
  return 0;
}

}  // namespace joedb
