#include <algorithm>
#include <charconv>

#include "cli/command.h"
#include "cli/history_change.h"
#include "cli/history_options.h"
#include "history/change_parts.h"
#include "joedb/table/load.h"

namespace joedb {

namespace {

struct Restored_Record {
  std::string table;
  Record_Id record;
  When when;
};

// Fields that were dropped since stay dropped, and those that were added since stay as they are.
Wanted_Changes find(Abstract_File& file, const Database& present, const Restored_Record& restored,
                    const Change_Options& options) {
  const Table* const table = present.find_table(restored.table);
  if (table == nullptr) throw Exception("there is no table " + restored.table);
  const Offset position = find_position(file, restored.when, options.recovery);
  Database past(options.deleted_values);
  {
    Readonly_Journal journal(file, options.recovery);
    load(past, journal, position);
    require_entry_end(journal, position);
  }
  const Record_Id record = restored.record;
  const Table* const before = past.find_table(table->id());
  if (before == nullptr || !before->is_used(record))
    throw Exception("there was no record " + std::to_string(record.value()) + " of " +
                    restored.table + " at " + restored.when.text);
  Change change =
      change_of_records(table->is_used(record) ? Change::Kind::updated : Change::Kind::inserted,
                        describe(present, *table), record.value(), 1);
  for (const Field_Description& field : change.table->fields) {
    if (before->find_field(field.id) == nullptr) continue;
    Field_Change values{field.id, Values(), read_values(*before, field.id, record.value(), 1)};
    if (change.kind == Change::Kind::updated)
      values.old_values = read_values(*table, field.id, record.value(), 1);
    change.fields.push_back(std::move(values));
  }
  Wanted_Changes wanted;
  wanted.changes.push_back(std::move(change));
  wanted.comment = "restore: " + restored.table + ' ' + std::to_string(record.value()) + " as at " +
                   restored.when.text;
  return wanted;
}

}  // namespace

int run_restore(std::vector<std::string> arguments) {
  const std::string usage = "joedb_restore [options] --at WHEN FILE TABLE RECORD";
  Options options(
      {usage, "Gives a record the values that it had once.",
       std::string("Appends a transaction that makes the record with the id RECORD as it was: it "
                   "is inserted again, if\nit was deleted, or its fields get the values that they "
                   "had. WHEN is a position, as joedb_log\nshows them, a time: \"2026-01-31\", "
                   "\"2026-01-31 12:00\" (GMT), yesterday, \"2 hours ago\", or a tag.\n\n") +
           file_help(history_change_grammar),
       "  joedb_restore --at yesterday people.joedb person 3\n"
       "  joedb_restore --at 137 --dry-run people.joedb person 3\n"});
  History_Change command;
  std::optional<std::string> when;
  options.add("--at", when, "the state that the record is taken from", Value_Kind{"WHEN", ""});
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
  return change_by_history(
      file, command,
      [&](Abstract_File& opened, const Database& present, const Change_Options& change_options) {
        return find(opened, present, restored, change_options);
      });
}

}  // namespace joedb
