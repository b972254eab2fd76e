#include <chrono>

#include "kernel/io/file_watch.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/output.h"
#include "tools/frame/stop_signal.h"
#include "tools/history/history_output.h"

namespace joedb {

namespace {

struct Log_Command {
  History_Options history;
  Log_Request request;
};

// Prints new transactions when they are written, until the user stops the program.
void follow(Log_View& view, const std::string& name, History_Output& printer) {
  constexpr std::chrono::milliseconds max_wait{500};
  File_Watch watch(name);
  Stop_Signal stop;
  finish_standard_output();
  while (!stop.has_come())
    if (view.follow(printer))
      finish_standard_output();
    else
      watch.wait(max_wait);
}

void log(Abstract_File& file, const Log_Command& command) {
  const History_Options& history = command.history;
  Log_Request request = command.request;
  request.changes = history.for_file(file);
  const Record_Id record = request.changes.record;
  Log_View view(file, std::move(request));
  const bool is_following = command.request.is_followed;
  print_paged(!history.is_json && !is_following, [&](std::ostream& out) {
    History_Output printer(out, history,
                           {.record = record,
                            .position_width = std::to_string(view.end()).size(),
                            .tags = &view.tags()});
    view.print(printer);
    if (is_following) follow(view, file.get_name(), printer);
  });
  view.require_complete();
}

const char* const log_details =
    R"(A transaction is shown by its end position in the journal, its time, author and comment, and the
numbers of records inserted (+), updated (~) and deleted (-). Tools end their transactions with time
stamps. A journal without time stamps is divided at comments.

WHEN is a position; a time: "2026-01-31", "2026-01-31 12:00", yesterday, "2 hours ago"; or a
tag. The tags (joedb_tag) at the end of a transaction are shown in parentheses.
)";

}  // namespace

int run_log(std::vector<std::string> arguments) {
  Options options({"joedb_log [options] FILE",
                   "Shows the transactions of a database, newest first.", log_details,
                   "  joedb_log people.joedb\n"
                   "  joedb_log -p --table person --record 3 people.joedb\n"
                   "  joedb_log --since '2 hours ago' people.joedb\n"
                   "  joedb_log --follow people.joedb\n"});
  Log_Command command;
  Log_Request& request = command.request;
  options.add_flag("-p,--changes", request.has_changes,
                   "show the changes, with old and new values");
  std::optional<std::string> since, until;
  options.add("--since", since,
              "only transactions after this position or tag, or not before this time",
              Value_Kind{"WHEN", ""});
  options.add("--until", until, "only transactions up to this position, tag or time",
              Value_Kind{"WHEN", ""});
  std::optional<std::int64_t> max;
  options.add("-n,--max", max, "show only the newest N transactions");
  options.add_flag("--reverse", request.is_reverse, "show the oldest transaction first");
  options.add_flag("--follow", request.is_followed,
                   "show the last transactions (10, or --max), oldest first, then new transactions "
                   "as they are written, until Ctrl-C");
  add_history_options(options, command.history);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_last_name();
  command.history.check(*words);
  if (since) request.since = parse_when(*since, "--since");
  if (until) request.until = parse_when(*until, "--until");
  constexpr std::int64_t max_followed = 10;
  if (request.is_followed && !max) max = max_followed;
  if (max) request.max = static_cast<std::size_t>(*max);
  if (request.is_followed && request.until) words->fail("--follow and --until exclude each other");
  const auto file = open_source(name, command.history.source);
  if (request.is_followed && dynamic_cast<File*>(file.get()) == nullptr)
    throw Exception(shown_name(name) + ": only a file of this machine can be followed");
  name_file_in_errors(file->get_name(), [&] { log(*file, command); });
  return 0;
}

}  // namespace joedb
