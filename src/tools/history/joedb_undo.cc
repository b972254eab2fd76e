#include <ctime>

#include "tools/frame/command.h"
#include "tools/frame/history_options.h"
#include "tools/history/history_change.h"

namespace joedb {

namespace {

constexpr const char* conflict_details =
    R"(Values that have changed since are conflicts: then nothing is written, unless --ours or --theirs
resolves them. Deleted records are restored with their ids, so that references to them are valid
again. Dropped tables and fields are restored with their values, but get new ids. Blobs stay where
they are.

)";

}  // namespace

int run_undo(std::vector<std::string> arguments) {
  const std::string usage = "joedb_undo [options] FILE [POSITION]";
  Options options({usage, "Undoes a transaction.",
                   std::string("Appends a transaction that undoes another one. The history is "
                               "preserved, and the undo can be undone\n"
                               "in turn. POSITION is the end of the transaction, as shown by "
                               "joedb_log, any position inside it, or a\n"
                               "tag; the default is the last transaction with changes. Tables and "
                               "fields are dropped only with\n"
                               "--schema; at a terminal, you are asked before more than half of "
                               "the records of a table are deleted.\n"
                               "\n") +
                       conflict_details + file_help(history_change_grammar),
                   "  joedb_undo people.joedb\n"
                   "  joedb_undo --dry-run people.joedb 137\n"
                   "  joedb_undo --theirs --message 'that was wrong' people.joedb 137\n"});
  History_Change command;
  command.may_drop = false;
  bool is_sure = false;
  add_conflict_options(options, command);
  options.add_flag("--schema", command.may_drop,
                   "also drop tables and fields that the transaction created");
  options.add_flag("--yes", is_sure,
                   "do not ask for confirmation before most of a table is deleted");
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
  return change_by_history(file, command,
                           [&](Abstract_File& opened, const Database&, Recovery recovery) {
                             return undo_changes(opened, when, recovery);
                           });
}

int run_revert(std::vector<std::string> arguments) {
  Options options({"joedb_revert [options] FILE A..B", "Undoes a range of transactions.",
                   std::string("Appends one transaction that undoes all transactions after A, up "
                               "to B. A and B are positions where a\n"
                               "transaction ends, as shown by joedb_log; times: \"2026-01-31\", "
                               "\"2 hours ago\"; or tags. A defaults to\n"
                               "the beginning, B to the end.\n"
                               "\n") +
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
  const Moment_Range range =
      usage([&] { return parse_range(words->take_last_name(), std::time(nullptr)); });
  return change_by_history(file, command,
                           [&](Abstract_File& opened, const Database&, Recovery recovery) {
                             return revert_changes(opened, range, recovery);
                           });
}

}  // namespace joedb
