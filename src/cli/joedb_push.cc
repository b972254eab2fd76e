#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/entry_follower.h"
#include "cli/output.h"
#include "cli/stop_signal.h"

namespace joedb {

namespace {

// The end of the last entry that ends at `position`, or before.
struct Find_Entry_End {
  using Sees_Integrity_Entries = void;
  template <class Entry>
  void operator()(const Entry&) {
    const Offset entry_end = journal.get_replay_position();
    if (entry_end <= position) end = entry_end;
  }
  const Readonly_Journal& journal;
  const Offset position;
  Offset end = journal_start;
};

// Copies a journal to a connection, as far as it has come.
class Pusher {
 public:
  // `connection` may be null: then nothing is pushed.
  Pusher(Readonly_Journal& journal, Connection* connection, const Client_Options& options,
         Offset until)
      : journal_(journal), connection_(connection), options_(options), until_(until) {}

  bool has_reached_end() const { return journal_.get_checkpoint() >= until_; }

  void push() {
    if (connection_ == nullptr) return;
    const Locked locked(*connection_);
    connection_->refresh();
    const Abstract_File& file = journal_.get_file();
    check_content(file, journal_.get_checkpoint(), *connection_, options_.check);
    const Offset end = std::min(until_, journal_.get_checkpoint());
    if (end <= connection_->get_checkpoint()) return;
    connection_->push(file, end < journal_.get_checkpoint() ? entry_end_before(end) : end,
                      options_.hard_checkpoint ? Checkpoint_Level::hard : Checkpoint_Level::soft);
  }

 private:
  class Locked {
   public:
    explicit Locked(Connection& connection) : connection_(connection) { connection_.lock(); }
    ~Locked() { connection_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    Connection& connection_;
  };

  // Half an entry would make the copy unreadable: where the last whole one ends.
  Offset entry_end_before(Offset position) const {
    Readonly_Journal journal(journal_.get_file(), options_.recovery);
    Find_Entry_End find{journal, position};
    journal.replay(find, position);
    if (find.end < position)
      std::fprintf(stderr,
                   "--until: %lld is inside an entry: pushing up to %lld, where it begins\n",
                   static_cast<long long>(position), static_cast<long long>(find.end));
    return find.end;
  }

  Readonly_Journal& journal_;
  Connection* const connection_;
  const Client_Options& options_;
  const Offset until_;
};

const char* const details =
    R"(What the connection already has must be the same, see --check. If it has more, nothing happens.
Only what is before the checkpoint of FILE is copied, so that this makes a clean copy of a file
in which a transaction was aborted.

)";

}  // namespace

int run_push(std::vector<std::string> arguments) {
  const File_Grammar grammar{Open_Mode::read_existing, false, false};
  Options options({"joedb_push [options] FILE [CONNECTION]",
                   "Copies the journal of a database to a connection.",
                   details + file_help(grammar) + connection_help,
                   "  joedb_push people.joedb file backup.joedb\n"
                   "  joedb_push --follow people.joedb file backup.joedb\n"
                   "  joedb_push --recovery ignore_header broken.joedb file rescued.joedb\n"
                   "  joedb_push --follow --db dump_tail people.joedb\n"});
  bool follow = false;
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
  options.add_flag("--follow", follow,
                   "go on as the file grows, until SIGINT, SIGTERM, or the position of --until");
  options.add("--until", until, "go no further than this position: to the last entry before it",
              {.min = journal_start});
  bool ignores_signature = false;
  options.add_flag("--signature", ignores_signature,
                   "with --recovery ignore_header: the first bytes of FILE need not be those of a "
                   "joedb file");
  Client_Options client;
  add_client_options(options, client);
  Log_Options log_options;
  add_log_options(options, log_options);
  add_file_modes(options, connection_grammar);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const File_Argument file_argument = take_file(*words, grammar);
  const Connection_Argument connection_argument = take_connection(*words);

  if (ignores_signature) {
    if (client.recovery != Recovery::ignore_header)
      words->fail("--signature is for --recovery ignore_header");
    client.recovery = Recovery::ignore_signature;
    std::fprintf(stderr,
                 "warning: %s is read as a joedb file of version 5, whatever its first bytes are. "
                 "Look at what is copied: joedb_verify, joedb_logdump\n",
                 file_argument.name.c_str());
  }

  Tool_Log log(log_options);
  log_client_options(log, client);
  const std::unique_ptr<Abstract_File> file = open_file(file_argument, log);
  require_different(file_argument, connection_argument);
  // Else an empty database would be left where the source cannot be read.
  if (is_new(connection_argument) && !is_classic())
    name_file_in_errors(file_argument.name, [&] {
      Readonly_Journal(*file, client.recovery).replay(Ignore_Entries(), until);
    });
  const Open_Connection open = open_connection(connection_argument, client, log);
  log.log("creating client");
  Readonly_Journal journal(*file, client.recovery);
  const auto follower = make_entry_follower(client.db, *file);
  Pusher pusher(journal, open.connection.get(), client, until);
  follower->advance(journal);
  try {
    pusher.push();
  } catch (const Content_Mismatch& error) {
    if (is_classic()) throw;
    throw Exception(file_argument.name + " and " + connection_argument.file->name +
                    " have diverged: they differ between positions " + std::to_string(error.start) +
                    " and " + std::to_string(error.end) + ". Push to another file");
  }
  if (const auto* to = dynamic_cast<const File_Connection*>(open.connection.get()))
    print_saved_tail(to->get_saved_tail());
  if (!follow) return 0;

  log.log("joedb_push invoked with --follow: waiting for data");
  Stop_Signal stop;
  while (!stop.has_come() && !pusher.has_reached_end()) {
    stop.sleep(std::chrono::seconds(1));
    if (journal.pull() == 0) continue;
    follower->advance(journal);
    pusher.push();
  }
  return 0;
}

}  // namespace joedb
