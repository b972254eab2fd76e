#include <algorithm>
#include <array>

#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/past_name.h"

namespace joedb {

namespace {

// Commands that read files by open_source, and write no file.
constexpr std::array<std::string_view, 12> readers{
    "log", "show",  "diff",   "blame",  "logdump",   "to_json",
    "sql", "stats", "export", "verify", "sha256sum", "interpreter"};

const Command& find_reader(const std::string& name) {
  const Command* const command = find_command(all_commands(), name);
  if (command == nullptr)
    throw Usage_Error("unknown command: " + name + suggested_command(name, all_commands()));
  if (std::find(readers.begin(), readers.end(), command->name) != readers.end()) return *command;
  std::string names;
  for (const std::string_view reader : readers) (names += names.empty() ? "" : ", ") += reader;
  throw Usage_Error(name + " is not a command that only reads: expected one of " + names);
}

// Returns the position of the state.
Offset find_end(const std::string& name, const When& when) {
  const auto file = open_source(name, {});
  return name_file_in_errors(file->get_name(), [&] {
    const Moment moment = resolve(*file, when);
    const Offset end = find_moment(*file, moment);
    if (moment.kind == Moment::Kind::position) {
      Readonly_Journal journal(*file);
      replay_with_progress(journal, Ignore_Entries(), "reading " + file->get_name(), end);
      require_entry_end(journal, end);
    }
    return end;
  });
}

const char* const at_details =
    R"(WHEN is a position of the journal, as shown by joedb_log; a time: "2026-01-31",
"2026-01-31 12:00", yesterday, "2 hours ago"; or a tag. COMMAND is a joedb command that only
reads: log, show, diff, blame, logdump, to_json, sql, stats, export, verify, sha256sum, interpreter.
FILE is passed to COMMAND as its first argument; give only the remaining arguments and options.
COMMAND sees FILE as it was at WHEN: the file ends there and is read-only. Nothing is copied.
)";

}  // namespace

int run_at(std::vector<std::string> arguments) {
  Options options({"joedb_at [options] FILE WHEN COMMAND [ARGUMENT...]",
                   "Runs a command on a past state of a database.", at_details,
                   "  joedb_at people.joedb 2026-01-31 to_json\n"
                   "  joedb_at people.joedb yesterday sql 'SELECT count(*) FROM person'\n"
                   "  joedb_at people.joedb 129 diff backup.joedb\n"});
  add_utc_option(options);
  options.set_words({kinds::database, kinds::text, kinds::text});
  std::vector<Offered_Word> offered;
  for (const std::string_view reader : readers)
    offered.push_back({std::string(reader), find_command(all_commands(), reader)->help});
  options.offer(2, offered);
  // The arguments after COMMAND are those of COMMAND.
  constexpr int own_word_count = 3;
  auto own_end = arguments.begin();
  for (int words = 0; own_end != arguments.end() && words < own_word_count; ++own_end)
    if (!own_end->starts_with('-')) ++words;
  std::vector<std::string> rest(own_end, arguments.end());
  arguments.erase(own_end, arguments.end());
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  const When when = parse_when(words->take_name(), "WHEN");
  const Command* command = &find_reader(words->take_last_name());
  if (command->subcommands != nullptr && !rest.empty()) {
    if (const Command* const found = find_command(command->subcommands(), rest.front())) {
      command = found;
      rest.erase(rest.begin());
    }
  }
  const Offset end = find_end(name, when);
  rest.insert(rest.begin(), name);
  if (command->run == run_interpreter)  // it does not open files by open_source
    rest.insert(rest.begin(), {"--until", std::to_string(end)});
  set_past(name, end);
  return command->run(std::move(rest));
}

}  // namespace joedb
