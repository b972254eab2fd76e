#include "tools/frame/command.h"
#include "tools/frame/history_options.h"
#include "tools/history/history_change.h"

namespace joedb {

static const char* const restore_details =
    R"(Appends a transaction that restores the record with the id RECORD: a deleted record is inserted
again; an existing one gets its former values. If it was deleted and its id is in use again, that is
a conflict: then nothing is written, unless --ours or --theirs is given. WHEN is a position, as shown
by joedb_log; a time: "2026-01-31", "2026-01-31 12:00", yesterday, "2 hours ago"; or a tag.

)";

int run_restore(std::vector<std::string> arguments) {
  const std::string usage = "joedb_restore [options] FILE TABLE RECORD --at WHEN";
  Options options({usage, "Restores a record to an earlier version.",
                   std::string(restore_details) + file_help(history_change_grammar),
                   "  joedb_restore --at yesterday people.joedb person 3\n"
                   "  joedb_restore --at 137 --dry-run people.joedb person 3\n"});
  History_Change command;
  std::optional<std::string> when;
  options.add("--at", when, "restore the version of the record at this position, time or tag",
              Value_Kind{"WHEN", ""});
  add_conflict_options(options, command);
  add_history_change_options(options, command);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const File_Argument file = take_file(*words, history_change_grammar);
  Restored_Record restored;
  restored.table = words->take_name();
  restored.record = parse_record(words->take_last_name());
  if (!when) words->fail("--at is missing");
  restored.when = parse_when(*when, "--at");
  return change_by_history(file, command,
                           [&](Abstract_File& opened, const Database& present, Recovery recovery) {
                             return restore_changes(opened, present, restored, recovery);
                           });
}

}  // namespace joedb
