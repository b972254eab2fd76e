#include "commands/interpreter.h"

#include <sstream>

namespace joedb::inline v1 {

void add_commands(Command_Loop& loop, Writable_Database& database, const Command_Options& options,
                  std::function<void()> after_rollback) {
  add_journal_commands(loop, database, options, std::move(after_rollback));
  add_display_commands(loop, database.get_database());
  add_data_commands(loop, database, options);
  add_schema_commands(loop, database);
  add_blob_commands(loop, [&database](Blob blob) { return database.read_blob(blob); });
}

void add_readonly_commands(Command_Loop& loop, const Database& database,
                           const Abstract_File& file) {
  add_display_commands(loop, database);
  add_blob_commands(loop, [&file](Blob blob) { return file.read_blob(blob); });
}

bool run_text(std::string_view text, Writable_Database& database) {
  Command_Loop loop({.is_echoing = false, .is_prompting = false, .is_bailing = true},
                    [] { return std::string(); });
  add_commands(loop, database, {});
  std::ostringstream nowhere;
  Text_Line_Source lines(text, nowhere);
  const Command_Loop::End end = loop.run(lines, nowhere);
  if (end == Command_Loop::End::error) throw Exception(loop.failures().message());
  if (end == Command_Loop::End::abort) throw Exception("aborted");
  return end == Command_Loop::End::end_of_input;
}

}  // namespace joedb::inline v1
