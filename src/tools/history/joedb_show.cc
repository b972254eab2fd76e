#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/history/history_output.h"

namespace joedb {

namespace {

void show(Abstract_File& file, const std::optional<When>& when, const History_Options& history) {
  const Change_Options options = history.for_file(file);
  const Transaction transaction = read_transaction(file, when, options);
  const Tags tags = read_tags(file, options.recovery);
  print_paged(!history.is_json, [&](std::ostream& out) {
    History_Output(out, history, {.record = options.record, .tags = &tags}).print_all(transaction);
  });
}

const char* const show_details =
    R"(WHEN is a position of the journal, as shown by joedb_log, or a tag: it selects the transaction that
ends there or contains it. A time ("2026-01-31", "2026-01-31 12:00", yesterday, "2 hours ago")
selects the last transaction up to then. The default is the last transaction.

Changes of records are marked + for inserted, ~ for updated, and - for deleted; schema changes are
shown as joedbi commands.
)";

}  // namespace

int run_show(std::vector<std::string> arguments) {
  Options options({"joedb_show [options] FILE [WHEN]",
                   "Shows a transaction of a database with all its changes.", show_details,
                   "  joedb_show people.joedb\n"
                   "  joedb_show people.joedb 137\n"
                   "  joedb_show --table person people.joedb yesterday\n"});
  History_Options history;
  add_history_options(options, history);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  std::optional<When> when;
  if (!words->is_empty()) when = parse_when(words->take_last_name(), "WHEN");
  history.check(*words);
  const auto file = open_source(name, history.source);
  name_file_in_errors(file->get_name(), [&] { show(*file, when, history); });
  return 0;
}

}  // namespace joedb
