#include <ctime>

#include "cli/command.h"
#include "cli/history_change.h"
#include "cli/history_options.h"

namespace joedb {

namespace {

constexpr const char* conflict_details =
    R"(What has changed since is a conflict: then nothing is written, unless --ours or --theirs says what
to do. Deleted records come back with their ids, and references to them are good again. Tables
and fields that were dropped are made again with their values, but have new ids. Blobs stay where
they are.

)";

}  // namespace

int run_undo(std::vector<std::string> arguments) {
  const std::string usage = "joedb_undo [options] FILE [POSITION]";
  Options options(
      {usage, "Takes a transaction of a database back.",
       std::string("Appends the opposite of a transaction, as a new one: nothing of the history "
                   "is lost, and an undo is\nundone by another one. POSITION is the end of the "
                   "transaction, as joedb_log shows it, or any\nposition inside, or a tag; without "
                   "it, the last transaction with changes is taken. Tables and fields are dropped "
                   "only with --schema;\nat a terminal, you are asked before more than half of the "
                   "records of a table are deleted.\n\n") +
           conflict_details + file_help(history_change_grammar),
       "  joedb_undo people.joedb\n"
       "  joedb_undo --dry-run people.joedb 137\n"
       "  joedb_undo --theirs --message 'that was wrong' people.joedb 137\n"});
  History_Change command;
  command.may_drop = false;
  bool is_sure = false;
  add_conflict_options(options, command);
  options.add_flag("--schema", command.may_drop,
                   "drop tables and fields that the transaction has made");
  options.add_flag("--yes", is_sure,
                   "do not ask, at a terminal, before most of a table is deleted");
  add_history_change_options(options, command);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  command.asks = !is_sure;
  const File_Argument file = take_file(*words, history_change_grammar);
  std::optional<When> when;
  if (!words->is_empty()) {
    when = parse_when(words->take_last_name(), "POSITION");
    if (when->moment && when->moment->kind != Moment::Kind::position)
      throw Usage_Error("POSITION: " + when->text +
                        ": expected a number, as joedb_log shows it, or a tag");
  }
  return change_by_history(
      file, command,
      [&](Abstract_File& opened, const Database&, const Change_Options& change_options) {
        return wanted_by_undo(opened, when, change_options);
      });
}

int run_revert(std::vector<std::string> arguments) {
  Options options(
      {"joedb_revert [options] FILE A..B", "Takes several transactions of a database back.",
       std::string(
           "Appends the opposite of all transactions behind A, up to B, as one new "
           "transaction. A and B are\npositions where a transaction ends, as joedb_log "
           "shows them, times: \"2026-01-31\",\n\"2 hours ago\", or tags. Without A, it is from "
           "the beginning, without B, to the end.\n\n") +
           conflict_details + file_help(history_change_grammar),
       "  joedb_revert people.joedb 137..\n"
       "  joedb_revert --dry-run people.joedb '2 hours ago..'\n"
       "  joedb_revert --ours people.joedb 137..212\n"});
  History_Change command;
  add_conflict_options(options, command);
  add_history_change_options(options, command);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const File_Argument file = take_file(*words, history_change_grammar);
  const Range_Of_Whens range =
      usage([&] { return parse_range(words->take_last_name(), std::time(nullptr)); });
  return change_by_history(
      file, command,
      [&](Abstract_File& opened, const Database&, const Change_Options& change_options) {
        return wanted_by_revert(opened, range, change_options);
      });
}

}  // namespace joedb
