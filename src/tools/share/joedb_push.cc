#include "kernel/io/file_watch.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/entry_end.h"
#include "tools/frame/entry_follower.h"
#include "tools/frame/json_output.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

// A handler that finds the end of the last entry that ends at or before `position`.
struct Find_Entry_End {
  using Sees_Integrity_Entries = void;
  template <class Entry>
  void operator()(const Entry& entry) {
    const Offset entry_end = end_of_entry(entry, journal);
    if (entry_end <= position) end = entry_end;
  }
  const Readonly_Journal& journal;
  const Offset position;
  Offset end = journal_start;
};

// Copies a journal, up to its checkpoint, to a connection.
class Pusher {
 public:
  // If `connection` is null, nothing is pushed. `server` is its server; null if it has none. With
  // `ends_hard`, each push is hard, whatever the options say.
  Pusher(Readonly_Journal& journal, Connection* connection, Connector* server,
         const Client_Options& options, Offset until, bool ends_hard)
      : journal_(journal),
        connection_(connection),
        server_(server),
        options_(options),
        until_(until),
        ends_hard_(ends_hard) {}

  // Releases the lock, except after an error: then closing the connection releases it.
  ~Pusher() {
    if (connection_ != nullptr && std::uncaught_exceptions() == 0) connection_->unlock();
  }
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  bool has_reached_end() const { return journal_.get_checkpoint() >= until_; }

  void compare_and_lock() {
    if (connection_ == nullptr) return;
    const Offset compared = compare();
    const Offset old = connection_->get_checkpoint();
    lock(*connection_, server_, journal_.get_file(), compared);
    if (connection_->get_checkpoint() != old) compare();
  }
  // Takes the lock by an empty push, and keeps it: no one else can push while this tool runs.
  static void lock(Connection& connection, Connector* server, const Abstract_File& file,
                   Offset end) {
    const Lock_Notice notice(server);
    try {
      connection.push(file, end, Checkpoint_Level::soft, Connection::After_Push::keep_lock);
    } catch (const Conflict&) {
      if (!connection.can_push_without_lock()) throw;
      // Others have pushed since the checkpoint was read, perhaps while this tool waited.
      connection.unlock();
      connection.pull({.from = end, .takes_lock = true}, [](const Abstract_File&, Offset) {});
    }
  }

  // The range of bytes that the connection has received.
  struct Pushed {
    Offset start;
    Offset end;
  };
  Pushed push() {
    if (connection_ == nullptr) return {journal_start, journal_start};
    const Offset start = connection_->get_checkpoint();
    push_from_checkpoint();
    return {start, connection_->get_checkpoint()};
  }

 private:
  // Compares the common part. Returns its end.
  Offset compare() {
    const Offset end = std::min(journal_.get_checkpoint(), connection_->get_checkpoint());
    connection_->compare(journal_.get_file(), journal_start, end, options_.check);
    return end;
  }

  void push_from_checkpoint() {
    const Offset end = std::min(until_, journal_.get_checkpoint());
    if (end <= connection_->get_checkpoint()) return;
    Progress progress("pushing", connection_->get_checkpoint(), end,
                      options_.db == Client_Options::Db::none ? Progress::Output::nothing
                                                              : Progress::Output::printing);
    connection_->push(Progress_File(journal_.get_file(), progress),
                      end < journal_.get_checkpoint() ? entry_end_before(end) : end, level(),
                      Connection::After_Push::keep_lock);
  }

  Checkpoint_Level level() const {
    return options_.hard_checkpoint || ends_hard_ ? Checkpoint_Level::hard : Checkpoint_Level::soft;
  }

  // Returns the end of the last entry that ends at or before `position`, because an incomplete
  // entry would make the copy unreadable.
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
  Connector* const server_;
  const Client_Options& options_;
  const Offset until_;
  const bool ends_hard_;
};

// Maximum delay after a stop signal, and after a change that a file watch does not report: the
// checkpoint is written after its entries.
constexpr std::chrono::milliseconds follow_interval{200};

const char* const push_details =
    R"(The data that the connection already has must match FILE (see --check). If the connection has more,
nothing is copied. Only entries before the checkpoint of FILE are copied; thus a push makes a clean
copy of a file with an aborted transaction.

)";

// Prints one line, and flushes it, because with --follow, a program may wait for it.
void print(const Pusher::Pushed& pushed) {
  print_json({{"pushed", pushed.end - pushed.start}, {"checkpoint", pushed.end}});
  finish_standard_output();
}

}  // namespace

int run_push(std::vector<std::string> arguments) {
  const File_Grammar grammar{Open_Mode::read_existing, false, false, true};
  Options options({"joedb_push [options] FILE [CONNECTION]",
                   "Copies the journal of a database to a connection.",
                   push_details + file_help(grammar) + connection_help,
                   "  joedb_push people.joedb file backup.joedb\n"
                   "  joedb_push --follow people.joedb file backup.joedb\n"
                   "  joedb_push https://example.com/people.joedb.zst file people.joedb\n"
                   "  joedb_push --recovery ignore_header broken.joedb file rescued.joedb\n"
                   "  joedb_push --follow --db dump_tail people.joedb\n"});
  bool follow = false;
  std::optional<std::string> until_text;
  options.add_flag(
      "--follow", follow,
      "keep copying as the file grows, until SIGINT, SIGTERM, or the position of --until");
  options.add("--until", until_text,
              "stop at this position (at the last entry before it), time or tag of FILE",
              Value_Kind{"WHEN", ""});
  bool ignores_signature = false;
  options.add_flag("--signature", ignores_signature,
                   "with --recovery ignore_header: accept a FILE that does not begin with the "
                   "signature of a joedb file");
  bool is_json = false;
  options.add_flag("--json", is_json,
                   "print a JSON object that describes the push; with --follow, one per push");
  Client_Options client;
  add_client_options(options, client);
  Log_Options log_options;
  add_log_options(options, log_options);
  options.offer(0, {{"server", "no local file, only the connection's"}});
  Source_Options source;
  add_source_options(options, source);
  add_busy_option(options);
  add_connection_words(options);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const File_Argument file_argument = take_file(*words, grammar, source);
  Connection_Argument connection_argument = take_connection(*words, source);
  if (follow && file_argument.kind == File_Argument::Kind::source)
    throw Exception(shown_name(file_argument.name) +
                    ": only a file of this machine, or a server, can be followed");
  if (follow) serve_connection(connection_argument);
  if (is_json && client.db != Client_Options::Db::none)
    words->fail("--json and --db exclude each other: both print to standard output");

  std::optional<When> wanted_end;
  if (until_text) wanted_end = parse_when(*until_text, "--until");
  if (wanted_end && wanted_end->moment && wanted_end->moment->kind == Moment::Kind::position &&
      wanted_end->moment->value < journal_start)
    words->fail("--until: " + *until_text + " is out of range: at least " +
                std::to_string(journal_start));

  if (ignores_signature) {
    if (client.recovery != Recovery::ignore_header)
      words->fail("--signature needs --recovery ignore_header");
    client.recovery = Recovery::ignore_signature;
    std::fprintf(stderr,
                 "warning: %s is read as a joedb file of version 5, although its signature may be "
                 "damaged. Check the copy: joedb_verify, joedb_logdump\n",
                 shown_name(file_argument.name).c_str());
  }

  Tool_Log log(log_options);
  log_client_options(log, client);
  Open_Files open(file_argument, connection_argument, log);
  Abstract_File& file = open.file();
  require_different(file_argument, connection_argument);
  Offset until = std::numeric_limits<Offset>::max();
  if (wanted_end)
    until = name_file_in_errors(shown_name(file_argument.name), [&] {
      // A position may be after the end of the file, so it is not checked.
      const Moment moment = resolve(file, *wanted_end, client.recovery);
      if (moment.kind == Moment::Kind::position) return moment.value;
      return find_moment(file, moment, client.recovery);
    });
  // Read the source first. If it is unreadable, no empty database must be created at the
  // connection.
  if (is_new(connection_argument) && !is_classic())
    name_file_in_errors(shown_name(file_argument.name), [&] {
      Readonly_Journal(file, client.recovery).replay(Ignore_Entries(), until);
    });
  open.connect_copy(client);
  log.log("creating client");
  // The journal of a server is only read: nothing is pushed to the server.
  const bool is_server = file_argument.kind == File_Argument::Kind::server;
  if (is_server && client.db != Client_Options::Db::none)
    Pusher::lock(open.connection(), connection_argument.server.get(), file,
                 open.connection().get_checkpoint());
  Readonly_Journal journal(file, client.recovery);
  const auto follower = make_entry_follower(client.db, file);
  Pusher pusher(journal, open.is_connected() && !is_server ? &open.connection() : nullptr,
                connection_argument.server.get(), client, until,
                !follow && !is_classic() && open.file_connection() != nullptr);
  try {
    pusher.compare_and_lock();
    follower->advance(journal);
    const Pusher::Pushed pushed = pusher.push();
    open.finish_copy();
    if (is_json) print(pushed);
  } catch (const Content_Mismatch& error) {
    if (is_classic()) throw;
    throw Exception(shown_name(file_argument.name) + " and " + connection_argument.name() +
                    " have diverged: they differ from position " + std::to_string(error.start) +
                    " on. Push to another file");
  }
  if (is_server) open.connection().unlock();
  if (!follow) return 0;

  log.log("joedb_push invoked with --follow: waiting for data");
  Stop_Signal stop;
  std::optional<File_Watch> watch;
  if (file_argument.kind == File_Argument::Kind::file) watch.emplace(file_argument.name);
  while (!stop.has_come() && !pusher.has_reached_end()) {
    if (journal.pull() == 0) {
      if (is_server)
        ask_until_signal(follow_interval, [&] {
          open.connection().pull({journal.get_checkpoint(), follow_interval},
                                 [](const auto&, Offset) {});
        });
      else if (watch)
        watch->wait(follow_interval);
      else
        stop.sleep(follow_interval);
      continue;
    }
    follower->advance(journal);
    const Pusher::Pushed pushed = pusher.push();
    if (is_json && pushed.end > pushed.start) print(pushed);
  }
  return 0;
}

}  // namespace joedb
