#include <iostream>

#include "commands/interpreter.h"
#include "joedb/table/load.h"
#include "tools/exchange/sql_command.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/frame/standard_input.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

constexpr File_Grammar file_grammar{.default_mode = Open_Mode::write_existing_or_create_new,
                                    .has_shared = false,
                                    .may_be_late = true};

const char* const joedbi_details =
    R"(Commands are read from standard input; the command help lists them. The session is one transaction,
divided by checkpoints: it ends with a time stamp and a hard checkpoint, which survives a power cut.
The command abort ends it without them, and leaves the entries written so far after the checkpoint;
rollback discards them. A command that fails changes nothing and is reported on standard output; the
next command is run, and the exit code of a script is 1. With --at, a past state is shown, and
nothing can be written.

)";

const char* const joedbi_examples =
    "  joedbi people.joedb\n"
    "  joedbi --bail people.joedb < commands.txt\n"
    "  joedbi --at 2026-01-31 people.joedb\n"
    "  joedbi --options people.joedbc people.joedb\n"
    "  echo 'table person' | joedbi --read people.joedb\n";

using End = Command_Loop::End;

End run_loop(Command_Loop& loop) { return run_standard_input(loop, ".joedbi_history"); }

struct Content_Options {
  std::string options_file;
  Recovery recovery = Recovery::none;
  bool has_no_seals = false;
  Moment_Options moment;
};

End run_readonly(Abstract_File& file, Command_Loop& loop, const Content_Options& content) {
  Database database(deleted_values());
  Offset end = 0;
  for (Index_Definition& index : read_indexes(content.options_file, file, content.recovery))
    database.add_index(std::move(index));
  if (content.moment.is_given()) {
    const Moment moment = resolve(file, content.moment.get(), content.recovery);
    end = find_moment(file, moment, content.recovery);
    load(database, file, at(end), content.recovery);
  } else {
    Readonly_Journal journal(file, content.recovery);
    load(database, journal);
    end = journal.get_replay_position();
  }
  print_snapshot_remark(database);
  add_readonly_commands(loop, database, file);
  add_history_commands(loop, database, file, end, {});
  add_sql_commands(loop, database, file);
  return run_loop(loop);
}

void roll_back(Writable_Database& database) {
  const bool has_written = database.ahead_of_checkpoint() > 0;
  database.rollback();
  if (has_written) std::cerr << "everything after the last checkpoint was rolled back\n";
}

End run_on(Abstract_File& file, Command_Loop& loop, Command_Options options,
           const Content_Options& content) {
  if (file.is_readonly()) return run_readonly(file, loop, content);
  Journal_Options journal_options = content.recovery;
  journal_options.has_seals = !content.has_no_seals;
  journal_options.ends_transactions = ends_transactions(file);
  Writable_Database database(file, journal_options, deleted_values(),
                             read_indexes(content.options_file, file, content.recovery));
  if (content.recovery != Recovery::none) database.recover();
  print_snapshot_remark(database.get_database());
  options.before_checkpoint = [&database] { end_transaction(database); };
  add_commands(loop, database, options);
  add_history_commands(loop, database, options);
  add_sql_commands(loop, database.get_database(), file, [&database] { database.flush(); });
  ignore_closed_pipes();
  End end;
  try {
    end = run_loop(loop);
    if (end == End::end_of_input || end == End::quit) {
      end_transaction(database);
      database.checkpoint(is_classic() ? Checkpoint_Level::soft : Checkpoint_Level::hard);
    }
  } catch (...) {
    try {
      roll_back(database);
    } catch (...) {  // not even that: report the first error
    }
    throw;
  }
  if (end == End::abort) throw Exception("aborted");
  if (end == End::error) roll_back(database);
  return end;
}

}  // namespace

int run_interpreter(std::vector<std::string> arguments) {
  Options options({"joedbi [options] FILE", "Runs commands on a database.",
                   joedbi_details + file_help(file_grammar), joedbi_examples});
  bool is_bailing = false;
  std::int64_t max_record_id = 0;
  Log_Options log_options;
  options.add_flag(
      "--bail", is_bailing,
      "stop at the first command that fails: roll back to the last checkpoint, and exit with 1");
  options.add("--max-record-id", max_record_id,
              "limit on record ids and on the sizes of vectors (default: 16 million rows without "
              "values, or the number of bytes in the journal)");
  Content_Options content;
  add_index_option(options, content.options_file);
  add_recovery_option(options, content.recovery);
  add_seals_option(options, content.has_no_seals);
  add_moment_options(options, content.moment);
  Colour colour = Colour::automatic;
  add_colour_option(options, colour);
  add_log_options(options, log_options);
  Source_Options source;
  add_source_options(options, source);
  add_busy_option(options);
  add_file_modes(options, file_grammar);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  File_Argument file_argument = take_file(*words, file_grammar, source);
  words->require_end();
  if (content.moment.is_given()) file_argument.mode = Open_Mode::read_existing;

  std::ios::sync_with_stdio(false);
  Tool_Log log(log_options);
  const bool is_source = file_argument.kind == File_Argument::Kind::source;
  if (is_source && !file_argument.has_mode)
    std::cerr << shown_name(file_argument.name) << ": can only be read\n";
  require_database(file_argument);
  if (is_late(file_argument)) announce_late_file(file_argument.name);
  Command_Loop::Settings settings = make_loop_settings(colour);
  settings.is_bailing = is_bailing;
  const std::string prompt =
      !content.moment.is_given() ? "joedbi" : past_prompt("joedbi", content.moment.text());
  Command_Loop loop(settings, [&] { return prompt; });
  const End end = name_file_in_errors(shown_name(file_argument.name), [&] {
    const auto file = open_file(file_argument, log);
    return run_on(*file, loop, {.max_record_id = max_record_id, .has_limit_option = true}, content);
  });
  if (end == End::abort) throw Exception("aborted");
  const int code = exit_code(loop, end);
  require_made(file_argument);
  return code;
}

}  // namespace joedb
