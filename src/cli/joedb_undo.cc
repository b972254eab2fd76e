#include "cli/command.h"
#include "cli/history_change.h"
#include "cli/history_options.h"

namespace joedb {

namespace {

// "undo: WHY", and for what was undone before "redo: WHY".
std::string comment_of(const Transaction_Info& info) {
  constexpr std::string_view undo = "undo: ", redo = "redo: ";
  if (info.comments.empty())
    return std::string(undo) + "the transaction at " + std::to_string(info.end);
  const std::string& comment = info.comments.front();
  if (comment.starts_with(undo)) return std::string(redo) + comment.substr(undo.size());
  if (comment.starts_with(redo)) return std::string(undo) + comment.substr(redo.size());
  return std::string(undo) + comment;
}

Transaction_Summary find(Abstract_File& file, const std::optional<When>& when,
                         const Change_Options& options) {
  Change_Options all;
  all.recovery = options.recovery;
  if (when) {
    const Offset position = resolve(file, *when, options.recovery).value;
    if (auto found = find_transaction(file, position, all)) return *std::move(found);
    throw Exception("no transaction has the position " + std::to_string(position));
  }
  std::optional<Transaction_Summary> found;
  for (const Transaction_Summary& summary : Summaries(file, all))
    if (!summary.tables.empty()) found = summary;
  if (!found) throw Exception("has no transactions that have changed anything");
  return *std::move(found);
}

Wanted_Changes opposite(Abstract_File& file, const std::optional<When>& when,
                        const Change_Options& options) {
  const Transaction_Summary transaction = find(file, when, options);
  Wanted_Changes wanted;
  wanted.changes = net_changes(file, transaction.end, transaction.begin, options);
  if (wanted.changes.empty())
    throw Exception("the transaction at " + std::to_string(transaction.end) +
                    " has changed no records, tables or fields");
  wanted.comment = comment_of(transaction);
  wanted.has_valid_data = transaction.is_complete && !transaction.has_own_time;
  return wanted;
}

// "A..B": from the position, time or tag A to B; without them, from the beginning, to the end.
struct Range_Of_Moments {
  std::string text;
  std::optional<When> from, to;
};

Range_Of_Moments parse_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos) throw Usage_Error(text + ": expected A..B, two positions, times or tags");
  const std::string from = text.substr(0, dots), to = text.substr(dots + 2);
  Range_Of_Moments range;
  range.text = text;
  if (!from.empty()) range.from = parse_when(from, "A..B");
  if (!to.empty()) range.to = parse_when(to, "A..B");
  return range;
}

// The position; it must not divide a transaction.
Offset position_of(Abstract_File& file, const When& when, const Change_Options& options) {
  const Offset position = find_position(file, when, options.recovery);
  const auto found = find_transaction(file, position, options);
  if (found && found->end != position)
    throw Exception("the position " + std::to_string(position) +
                    " is inside of the transaction from " + std::to_string(found->begin) + " to " +
                    std::to_string(found->end));
  return position;
}

Wanted_Changes opposite(Abstract_File& file, const Range_Of_Moments& range,
                        const Change_Options& options) {
  Change_Options all;
  all.recovery = options.recovery;
  const Offset from = range.from ? position_of(file, *range.from, all) : journal_start;
  const Offset to = range.to ? position_of(file, *range.to, all)
                             : Readonly_Journal(file, options.recovery).get_checkpoint();
  if (from > to) throw Exception(range.text + ": the first is behind the second");
  Wanted_Changes wanted;
  wanted.changes = net_changes(file, to, from, options);
  if (wanted.changes.empty()) throw Exception(range.text + ": nothing was changed there");
  wanted.comment = "revert: " + range.text;
  return wanted;
}

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
                   "it, the last transaction with changes is taken.\n\n") +
           conflict_details + file_help(history_change_grammar),
       "  joedb_undo people.joedb\n"
       "  joedb_undo --dry-run people.joedb 137\n"
       "  joedb_undo --theirs --message 'that was wrong' people.joedb 137\n"});
  History_Change command;
  add_conflict_options(options, command);
  add_history_change_options(options, command);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
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
        return opposite(opened, when, change_options);
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
  const Range_Of_Moments range = parse_range(words->take_last_name());
  return change_by_history(
      file, command,
      [&](Abstract_File& opened, const Database&, const Change_Options& change_options) {
        return opposite(opened, range, change_options);
      });
}

}  // namespace joedb
