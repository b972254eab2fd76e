#include <iostream>

#include "commands/interpreter.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/load.h"
#include "kernel/io/new_file.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/entry_follower.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/frame/standard_input.h"
#include "tools/frame/stop_signal.h"
#include "tools/share/client_commands.h"

namespace joedb {

namespace {

constexpr File_Grammar client_grammar{
    .default_mode = Open_Mode::shared_write, .has_server = true, .may_be_late = true};

const char* const client_details =
    R"(Commands are read from standard input; the command help lists them. Each transaction locks the
file and the connection, first reads everything that other writers have committed, and ends with a
checkpoint. Readers are never blocked.

)";

const char* const client_examples =
    "  joedb_client people.joedb\n"
    "  joedb_client people.joedb file /mnt/shared/people.joedb\n"
    "  joedb_client --recovery overwrite people.joedb\n"
    "  joedb_client people.joedb local server.sock     a copy of a server's database\n"
    "  joedb_client memory local server.sock           the same, in memory\n"
    "  joedb_client server local server.sock           without a copy\n"
    "  joedb_client people.joedb nats://a,b,c/people   a journal on three machines\n";

class Client_Tool {
 public:
  Client_Tool(const Client_Options& options, const Command_Loop::Settings& settings,
              const std::string& options_file, const Moment_Options& moment, Abstract_File& file,
              Connection& connection, const Connection_Argument& argument, Tool_Log& log)
      : options_(options),
        settings_(settings),
        options_file_(options_file),
        moment_(moment),
        file_(file),
        connection_(connection),
        argument_(argument),
        log_(log) {}

  // Returns the exit code.
  int run() {
    log_.log("creating client");
    const bool is_printing =
        options_.db != Client_Options::Db::none && options_.db != Client_Options::Db::interpreted;
    if (moment_.is_given())
      read_past();
    else if (is_printing)
      print();
    else if (file_.is_readonly())
      read();
    else if (options_.db == Client_Options::Db::interpreted)
      write_tables();
    else
      write_journal();
    return exit_code_;
  }

 private:
  Journal_Options journal_options() const {
    Journal_Options options = options_.journal_options();
    const bool is_kept = options_.recovery == Recovery::none && !is_classic();
    options.recovery = is_kept ? Recovery::keep : options_.recovery;
    options.ends_transactions = ends_transactions(file_);
    return options;
  }

  Client_Interpreters new_interpreters() const {
    return {.server = argument_.server.get(), .gives_up = argument_.has_retry_time};
  }

  void write_tables() {
    Writable_Database database(file_, journal_options(), deleted_values(),
                               read_indexes(options_file_, file_, options_.recovery));
    recover(database);
    print_snapshot_remark(database.get_database());
    Writable_Copy copy(database);
    Client_Interpreters interpreters = new_interpreters();
    interpreters.add_db_commands = [&](Command_Loop& loop) {
      add_display_commands(loop, database.get_database());
      add_blob_commands(loop, [&](Blob blob) { return database.read_blob(blob); });
    };
    interpreters.add_transaction_commands = [&](Command_Loop& loop) {
      add_commands(loop, database, command_options_,
                   [&loop] { loop.end(Command_Loop::End::rollback); });
    };
    const Offset before = database.get_journal().get_checkpoint();
    run_commands(copy, interpreters);
    end_hard(database, before);
  }

  void write_journal() {
    Bare_Journal journal(file_, journal_options());
    recover(journal);
    Writable_Copy copy(journal);
    Client_Interpreters interpreters = new_interpreters();
    interpreters.db_name = "db(blobs)";
    interpreters.transaction_name = "transaction(journal)";
    interpreters.add_db_commands = [&](Command_Loop& loop) {
      add_blob_commands(loop, [&](Blob blob) { return journal.read_blob(blob); });
    };
    interpreters.add_transaction_commands = [&](Command_Loop& loop) {
      add_journal_commands(loop, journal, command_options_,
                           [&loop] { loop.end(Command_Loop::End::rollback); });
      add_blob_commands(loop, [&](Blob blob) { return journal.read_blob(blob); });
    };
    const Offset before = journal.get_journal().get_checkpoint();
    run_commands(copy, interpreters);
    end_hard(journal, before);
  }

  // If transactions made soft checkpoints, makes a hard one. `before` is the checkpoint before the
  // first transaction.
  template <class Store>
  void end_hard(Store& store, Offset before) {
    const Writable_Journal& journal = std::as_const(store).get_journal();
    const Offset end = journal.get_checkpoint();
    if (is_classic() || journal.has_failed() || journal.ahead_of_checkpoint() > 0 ||
        end == before || journal.get_hard_checkpoint() >= end)
      return;
    store.lock_pull();
    store.prepare_checkpoint(Checkpoint_Level::hard);
    store.hard_checkpoint();
    store.unlock();
  }

  // Reads a past state. It never grows, so there is nothing to pull.
  void read_past() {
    Database database(deleted_values());
    for (Index_Definition& index : read_indexes(options_file_, file_, options_.recovery))
      database.add_index(std::move(index));
    load(database, file_, resolve(file_, moment_.get(), options_.recovery), options_.recovery);
    print_snapshot_remark(database);
    Command_Loop loop(settings_, [this] { return past_prompt("joedb_client", moment_.text()); });
    add_readonly_commands(loop, database, file_);
    run_loop(loop);
  }

  // Recovers immediately, not at the first write, because the only purpose of a session may be to
  // recover the file.
  template <class Store>
  void recover(Store& store) {
    if (options_.recovery == Recovery::none) return;
    store.lock_pull();
    store.recover();
    store.unlock();
  }

  void read() {
    const bool has_tables = options_.db == Client_Options::Db::interpreted;
    Readonly_Journal journal(file_, options_.recovery);
    Database database(deleted_values());
    for (Index_Definition& index : read_indexes(options_file_, file_, options_.recovery))
      database.add_index(std::move(index));
    Readonly_Copy copy(journal, [&] {
      if (!has_tables) return;
      load(database, journal);
    });
    Client_Interpreters interpreters = new_interpreters();
    if (!has_tables) interpreters.db_name = "db(blobs)";
    interpreters.add_db_commands = [&](Command_Loop& loop) {
      if (has_tables) add_display_commands(loop, database);
      add_blob_commands(loop, [&](Blob blob) { return file_.read_blob(blob); });
    };
    run_commands(copy, interpreters);
  }

  void print() {
    Readonly_Journal journal(file_, options_.recovery);
    const auto follower = make_entry_follower(options_.db, file_);
    Readonly_Copy copy(journal, [&] { follower->advance(journal); });
    Client_Interpreters interpreters = new_interpreters();
    interpreters.db_name = "db(blobs)";
    interpreters.add_db_commands = [&](Command_Loop& loop) {
      add_blob_commands(loop, [&](Blob blob) { return file_.read_blob(blob); });
    };
    run_commands(copy, interpreters);
  }

  void run_commands(Local_Copy& copy, const Client_Interpreters& interpreters) {
    Client client(copy, connection_, options_.check);
    if (client.can_write()) ignore_closed_pipes();
    using End = Transaction_Settings::End;
    client.settings() = {.is_hard = options_.hard_checkpoint,
                         .end = ends_transactions(file_) ? End::timestamp : End::none,
                         .now = command_options_.now};
    Command_Loop loop(settings_, [&client] { return client_prompt(client); });
    add_client_commands(loop, client, file_, interpreters);
    run_loop(loop);
  }

  void run_loop(Command_Loop& loop) {
    const Command_Loop::End end = run_standard_input(loop, ".joedb_client_history");
    if (end == Command_Loop::End::abort) throw Exception("aborted");
    exit_code_ = exit_code(loop, end);
  }

  const Client_Options& options_;
  const Command_Loop::Settings settings_;
  const std::string& options_file_;
  const Moment_Options& moment_;
  Abstract_File& file_;
  Connection& connection_;
  const Connection_Argument& argument_;
  Tool_Log& log_;
  const Command_Options command_options_{};
  int exit_code_ = 0;
};

}  // namespace

int run_client(std::vector<std::string> arguments) {
  Options options({"joedb_client [options] FILE [CONNECTION]",
                   "Shares a database with other writers, transaction by transaction.",
                   client_details + file_help(client_grammar) + connection_help, client_examples});
  Client_Options client;
  client.db = Client_Options::Db::interpreted;
  Log_Options log_options;
  add_client_options(options, client);
  std::string options_file;
  add_index_option(options, options_file);
  std::string tail_file;
  options.add(
      "--keep-tail", tail_file,
      "first copy the data after the checkpoint, which --recovery removes, to this new file",
      kinds::file);
  Moment_Options moment;
  add_moment_options(options, moment);
  bool is_bailing = false;
  options.add_flag("--bail", is_bailing,
                   "stop at the first command that fails, and roll back its transaction");
  Colour colour = Colour::automatic;
  add_colour_option(options, colour);
  add_log_options(options, log_options);
  Source_Options source;
  add_source_options(options, source);
  add_busy_option(options);
  add_file_modes(options, client_grammar);
  add_connection_words(options);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  File_Argument file_argument = take_file(*words, client_grammar, source);
  if (moment.is_given())
    file_argument.mode = Open_Mode::read_existing;
  else if (client.recovery == Recovery::hard && !file_argument.has_mode)
    file_argument.mode = Open_Mode::write_existing;  // needs exclusive access
  Connection_Argument connection_argument = take_connection(*words, source);
  if (connection_argument.nats)
    connection_argument.nats->log_settings.on_wait = [](const std::string& owner) {
      print_notice("waiting for the lock, which " + owner +
                   " has. It is free when the holder ends its transaction, or has given no sign of "
                   "life for its --lease. Ctrl-C gives up");
    };
  if (moment.is_given() && !connection_argument.is_none())
    words->fail("--at shows FILE alone: leave out the connection");

  std::ios::sync_with_stdio(false);
  Tool_Log log(log_options);
  log_client_options(log, client);
  require_database(file_argument);
  if (is_late(file_argument)) announce_late_file(file_argument.name);
  Open_Files open(file_argument, connection_argument, log);
  Abstract_File& file = open.file();
  require_different(file_argument, connection_argument);
  // Check the file first. If it is not a database, no empty database must be created at the
  // connection.
  if (is_new(connection_argument) && !is_classic() &&
      file_argument.kind == File_Argument::Kind::file && file.get_size() > 0)
    Readonly_Journal(file, client.recovery);
  open.connect(client);
  if (!tail_file.empty()) {
    Offset size = 0;
    fill_new_file(tail_file, New_File::Existing::refuse, [&](New_File& tail) {
      tail.take_permissions(file);
      size = save_tail(file, client.recovery, tail);
    });
    log.log("kept a tail of " + std::to_string(size) + " bytes in " + tail_file);
  }
  Command_Loop::Settings settings = make_loop_settings(colour);
  settings.is_bailing = is_bailing;
  settings.is_prompting = is_interactive() || is_classic();
  const int code = name_file_in_errors(shown_name(file_argument.name), [&] {
    return Client_Tool(client, settings, options_file, moment, file, open.connection(),
                       connection_argument, log)
        .run();
  });
  if (connection_argument.server && is_late(file_argument) && !is_interactive())
    throw Exception(file_argument.name +
                    ": nothing was pulled, so that it does not exist; the command pull makes it");
  require_made(file_argument);
  return code;
}

}  // namespace joedb
