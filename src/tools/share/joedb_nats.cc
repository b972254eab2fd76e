#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>

#include "joedb/cluster/log_connection.h"
#include "joedb/cluster/nats_connection.h"
#include "joedb/journal/readonly_journal.h"
#include "kernel/base/backoff.h"
#include "kernel/base/counted.h"
#include "kernel/base/plain_text.h"
#include "share/cluster/log_verifier.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/json_output.h"
#include "tools/frame/nats_arguments.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

const char* const url_help =
    "URL is [--credentials FILE] [--authority FILE] [--certificate FILE --key FILE] [--monitor "
    "PORT]\n"
    "nats://[USER:PASSWORD@]HOST[:PORT][,HOST...]/DATABASE, or tls://: see docs/cluster.md\n\n";

// Options shared by all subcommands: those of the log, and the words that name the journal.
class Nats_Tool {
 public:
  explicit Nats_Tool(Options& options) {
    add_log_options(options, log_options_);
    allow_nats_words(options);
  }
  // Parses the command line. Returns false if --help was given.
  bool parse(Options& options, std::vector<std::string> arguments) {
    auto words = options.parse(std::move(arguments));
    if (!words) return false;
    words_.emplace(std::move(*words));
    argument_ = take_nats(*words_);
    argument_.log_settings.renews_lock = false;
    log_.emplace(log_options_);
    return true;
  }
  Words& words() { return *words_; }
  const Nats_Argument& argument() const { return argument_; }
  // Returns the settings, by which no thread renews the lock.
  const Log_Settings& log_settings() const { return argument_.log_settings; }
  // For commands that ignore --require: throws Usage_Error if it is given.
  void refuse_require() {
    if (log_settings().required != Durability::unknown)
      words_->fail("--require is for joedb nats status, and for clients");
  }
  const std::string& name() const { return argument_.name; }
  Tool_Log& log() { return *log_; }

 private:
  Log_Options log_options_;
  std::optional<Words> words_;
  Nats_Argument argument_;
  std::optional<Tool_Log> log_;
};

// ---- create, mirror -----------------------------------------------------------------------------

int run_create(std::vector<std::string> arguments) {
  Options options(
      {"joedb nats create [options] URL", "Creates an empty journal on a cluster of NATS servers.",
       "The journal is a JetStream stream, stored on disk, without limits, whose messages cannot "
       "be deleted\n"
       "individually. After an interruption, the command can be repeated.\n"
       "\n" +
           std::string(url_help),
       "  joedb nats create nats://a,b,c/city\n"
       "  joedb nats create --replicas 1 nats://localhost/city    one server, for tests\n"});
  std::int64_t replicas = 3;
  options.add("--replicas", replicas, "number of servers that keep it: 1, 3 or 5 (default: 3)",
              {.min = 1, .max = 5});
  Nats_Tool tool(options);
  if (!tool.parse(options, std::move(arguments))) return 0;
  tool.words().require_end();
  tool.refuse_require();
  if (replicas % 2 == 0) tool.words().fail("--replicas: 1, 3 or 5 is needed");
  Nats_Stream stream(tool.argument().address, tool.argument().settings, tool.log());
  const std::optional<Nats_Stream_State> state = stream.state();
  if (!state)
    stream.create({.replicas = static_cast<int>(replicas)});
  else if (state->replicas != replicas)
    throw Exception(tool.name() + ": there is a stream " + state->stream + " with " +
                    std::to_string(state->replicas) + " replicas");
  Nats_Log log(tool.argument().address, tool.argument().settings, tool.log());
  Log_Connection::create(log);
  const Replicated_Log::Promise promise = log.promise();
  std::cout << "made " << tool.name() << "; what is acknowledged " << text_of(promise.durability)
            << ": " << promise.reason << "\nUse it: joedb_client FILE " << tool.name() << '\n';
  return 0;
}

// Waits for the first message of a new mirror, because an empty mirror cannot be opened.
void wait_for_first_message(Nats_Tool& tool) {
  Nats_Log log(tool.argument().address, tool.argument().settings, tool.log());
  Backoff backoff(System::real(), {std::chrono::milliseconds(100)}, std::chrono::seconds(30));
  while (log.range().last == 0)
    if (!backoff.wait())
      throw Exception(tool.name() +
                      " was created, but has received nothing yet: can its servers reach " +
                      tool.argument().address.origin() + "? See joedb nats status");
}

int run_mirror(std::vector<std::string> arguments) {
  Options options({"joedb nats mirror [options] URL?stream=NAME",
                   "Creates a mirror of a journal, for many readers.",
                   "The mirror is a stream named NAME on the servers of the URL, and follows the "
                   "journal. They must be\n"
                   "able to reach the servers of the journal: in the same cluster, or as a leaf "
                   "node with the same\n"
                   "JetStream domain. Clients read the mirror with the same URL.\n"
                   "\n" +
                       std::string(url_help),
                   "  joedb nats mirror 'nats://d/city?stream=city_d'\n"
                   "  joedb_client city.joedb 'nats://d/city?stream=city_d'\n"});
  std::int64_t replicas = 1;
  options.add("--replicas", replicas, "number of servers that keep it: 1, 3 or 5 (default: 1)",
              {.min = 1, .max = 5});
  Nats_Tool tool(options);
  if (!tool.parse(options, std::move(arguments))) return 0;
  tool.words().require_end();
  tool.refuse_require();
  if (tool.argument().address.stream == tool.argument().address.origin())
    tool.words().fail("the URL needs the name of the mirror: " + tool.name() + "?stream=NAME");
  Nats_Stream stream(tool.argument().address, tool.argument().settings, tool.log());
  stream.create_mirror(static_cast<int>(replicas));
  wait_for_first_message(tool);
  std::cout << "made " << tool.name() << '\n';
  return 0;
}

// ---- status -------------------------------------------------------------------------------------

std::int64_t seconds_since(const Nats_Stream_State::Peer& peer) {
  return std::chrono::duration_cast<std::chrono::seconds>(peer.active).count();
}

// Returns for how long a server has been silent, as text; empty if unknown. A new leader that has
// not heard from a server reports a duration of many years.
std::string time_of_silence(const Nats_Stream_State::Peer& peer) {
  const bool is_known = peer.active < std::chrono::hours(24 * 365);
  return is_known ? " for " + std::to_string(seconds_since(peer)) + " s" : "";
}

Json json_of(const Nats_Stream_State& state) {
  Json peers = Json::array();
  for (const Nats_Stream_State::Peer& peer : state.peers)
    peers.push_back({{"name", peer.name},
                     {"current", peer.is_current},
                     {"offline", peer.is_offline},
                     {"silent", peer.is_silent()},
                     {"heard", seconds_since(peer)},
                     {"lag", peer.lag}});
  return {{"stream", state.stream},       {"created", state.created},     {"first", state.first},
          {"last", state.last},           {"missing", state.missing()},   {"bytes", state.bytes},
          {"replicas", state.replicas},   {"leader", state.leader},       {"followers", peers},
          {"mirror_of", state.mirror_of}, {"atomic", state.allows_atomic}};
}

void print(const std::string& name, const Nats_Stream_State& state,
           const Log_Connection::Status& journal, const Replicated_Log::Promise& promise) {
  std::cout << name << '\n'
            << "  journal     checkpoint " << journal.checkpoint << '\n'
            << "  messages    " << state.first << " to " << state.last << ", " << state.bytes
            << " bytes\n";
  if (state.missing() > 0)
    std::cout << "  MISSING     " << state.missing() << " messages: see joedb nats verify\n";
  if (!state.mirror_of.empty())
    std::cout << "  mirror      of " << state.mirror_of << ", " << state.mirror_lag
              << " messages behind\n";
  std::cout << "  servers     " << counted(state.replicas, "replica");
  if (!state.leader.empty()) std::cout << "; leader " << state.leader;
  for (const Nats_Stream_State::Peer& peer : state.peers)
    std::cout << "; " << peer.name
              << (peer.is_offline    ? " OFFLINE"
                  : peer.is_silent() ? " SILENT" + time_of_silence(peer)
                  : peer.is_current  ? " current"
                                     : " " + std::to_string(peer.lag) + " operations behind");
  std::cout << "\n  durability  what is acknowledged " << text_of(promise.durability) << ": "
            << promise.reason << '\n'
            << "  lock        "
            << (journal.lock_owner.empty() ? "free" : "of " + journal.lock_owner) << '\n';
  if (!journal.archive.empty())
    std::cout << "  archive     " << plain(journal.archive) << ", up to position "
              << journal.archive_end << '\n';
}

int run_status(std::vector<std::string> arguments) {
  Options options(
      {"joedb nats status [options] URL",
       "Prints the state of a journal on a cluster of NATS servers.",
       "The exit code is 1 if messages are missing, if a server is offline, or if the leader has "
       "heard nothing\n"
       "from it for more than 5 seconds (five heartbeats); with --require process, machine or "
       "power "
       "before the\n"
       "URL, also if the settings of the cluster guarantee less.\n"
       "\n" +
           std::string(url_help),
       "  joedb nats status nats://a,b,c/city\n"
       "  joedb nats status --require power nats://a,b,c/city\n"});
  bool is_json = false;
  add_json_option(options, is_json);
  Nats_Tool tool(options);
  if (!tool.parse(options, std::move(arguments))) return 0;
  tool.words().require_end();
  Nats_Log log(tool.argument().address, tool.argument().settings, tool.log());
  Log_Connection connection(log, tool.log(), System::real(), tool.log_settings());
  const Log_Connection::Status journal = connection.status();
  const Nats_Stream_State state = log.state();
  const Replicated_Log::Promise& promise = connection.promise();
  if (is_json) {
    Json json = json_of(state);
    json["checkpoint"] = journal.checkpoint;
    json["durability"] = promise.durability == Durability::power     ? "power"
                         : promise.durability == Durability::machine ? "machine"
                         : promise.durability == Durability::process ? "process"
                                                                     : "unknown";
    json["reason"] = promise.reason;
    json["lock"] = journal.lock_owner;
    json["archive"] = journal.archive;
    json["archive_end"] = journal.archive_end;
    print_json(json);
  } else {
    print(tool.name(), state, journal, promise);
  }
  bool is_good = state.missing() == 0;
  for (const Nats_Stream_State::Peer& peer : state.peers)
    is_good = is_good && !peer.is_offline && !peer.is_silent();
  return is_good ? 0 : 1;
}

// ---- verify -------------------------------------------------------------------------------------

// A file that is compared with a log, up to the checkpoint of the file.
struct Journal_File {
  explicit Journal_File(const std::string& name)
      : file(open_source(name, {})), journal(*file), end(journal.get_checkpoint()) {}
  const std::unique_ptr<Abstract_File> file;
  Readonly_Journal journal;
  const Offset end;
};

// Calls f(). If it throws Content_Mismatch, throws an Exception that names the file and the
// journal.
template <class F>
auto compare_copies(const Nats_Tool& tool, const Journal_File& file, const char* advice, F f) {
  try {
    return f();
  } catch (const Content_Mismatch&) {
    throw Exception(file.file->get_name() + " and " + tool.name() + " have diverged" + advice);
  }
}

Log_Report verify(Nats_Tool& tool, Replicated_Log& log, const Journal_File* file) {
  std::optional<Progress> progress;
  return verify_log(log, tool.log(), file != nullptr ? file->file.get() : nullptr,
                    file != nullptr ? file->end : 0,
                    [&](Replicated_Log::Number number, Replicated_Log::Number last) {
                      if (!progress)
                        progress.emplace("verifying " + tool.name(), number, last,
                                         Progress::Output::nothing, Progress::Unit::entries);
                      progress->update(number);
                    });
}

int run_verify_log(std::vector<std::string> arguments) {
  Options options({"joedb nats verify [options] URL [FILE]",
                   "Reads a whole journal from a cluster, and checks every message.",
                   "Sequence numbers must be contiguous, each message must match its checksum, and "
                   "the hash in each push\n"
                   "must match all bytes before it. FILE, a copy, is compared byte by byte. A "
                   "message that is damaged on\n"
                   "one server is read from another, and counted.\n"
                   "\n" +
                       std::string(url_help),
                   "  joedb nats verify nats://a,b,c/city\n"
                   "  joedb nats verify nats://a,b,c/city city.joedb\n"});
  bool is_json = false;
  add_json_option(options, is_json);
  Nats_Tool tool(options);
  if (!tool.parse(options, std::move(arguments))) return 0;
  tool.refuse_require();
  std::optional<Journal_File> file;
  if (!tool.words().is_empty()) file.emplace(tool.words().take_last_name());
  Nats_Log log(tool.argument().address, tool.argument().settings, tool.log());
  const Log_Report report =
      file ? compare_copies(tool, *file, "", [&] { return verify(tool, log, &*file); })
           : verify(tool, log, nullptr);
  if (is_json) {
    print_json({{"first", report.first},
                {"messages", report.messages},
                {"pushes", report.pushes},
                {"abandoned_pieces", report.abandoned_pieces},
                {"damaged", report.damaged},
                {"start", report.start},
                {"checkpoint", report.end},
                {"compared", report.compared_end}});
  } else {
    std::cout << tool.name() << ": good: " << report.messages << " messages, " << report.pushes
              << " pushes, positions " << report.start << " to " << report.end << '\n';
    if (report.is_compared)
      std::cout << "the same as the file up to position " << report.compared_end << '\n';
    if (report.abandoned_pieces > 0)
      std::cout << report.abandoned_pieces
                << " messages belong to pushes whose writer has ended in the middle: they do not "
                   "count\n";
    if (report.damaged > 0)
      std::cout << report.damaged
                << " messages were damaged on a server, and read from another: see "
                   "docs/cluster.md, Repair\n";
  }
  return report.damaged > 0 ? 1 : 0;
}

// ---- repair, archive ----------------------------------------------------------------------------

// Throws Exception if the file has less than the journal of the cluster. If `is_forced`, only
// prints how much will be lost.
void require_long_enough(Nats_Tool& tool, const Journal_File& file, bool is_forced) {
  Offset end = 0;
  try {
    Nats_Log old(tool.argument().address, tool.argument().settings, tool.log());
    end = newest_end(old, tool.log());
  } catch (const Disconnection& error) {
    if (!is_forced) throw;
    std::cerr << error.what() << '\n';
    return;
  }
  if (file.end >= end) return;
  const std::string difference = file.file->get_name() + " ends at position " +
                                 std::to_string(file.end) + ", and the journal of the cluster at " +
                                 std::to_string(end);
  if (!is_forced)
    throw Exception(difference +
                    ": find a copy that has as much, or give up the difference with --force");
  std::cerr << difference << ": the difference is lost\n";
}

int run_repair(std::vector<std::string> arguments) {
  Options options(
      {"joedb nats repair [options] URL FILE", "Restores a journal on a cluster from a copy.",
       "FILE is the copy of any client. If the cluster has lost its disks, the journal is created "
       "again; if\n"
       "the cluster has less than FILE, the rest is pushed. A damaged or diverged journal is "
       "replaced only\n"
       "with --replace, and only by a FILE that has at least as much: stop all clients first, and "
       "use the\n"
       "longest copy. With --force, a shorter FILE, too, replaces it, or a journal that cannot be "
       "read at all:\n"
       "what only the cluster has is lost then. After a journal was replaced, its mirrors must be "
       "created again.\n"
       "\n" +
           std::string(url_help),
       "  joedb nats repair nats://a,b,c/city city.joedb\n"
       "  joedb nats repair --replace nats://a,b,c/city city.joedb\n"});
  bool is_replacing = false;
  bool is_forced = false;
  std::int64_t replicas = 3;
  options.add_flag("--replace", is_replacing, "remove the journal of the cluster first");
  options.add_flag("--force", is_forced,
                   "like --replace, also if FILE has less than the cluster, or if the journal of "
                   "the cluster cannot be read");
  options.add("--replicas", replicas, "number of servers for a new journal: 1, 3 or 5 (default: 3)",
              {.min = 1, .max = 5});
  Nats_Tool tool(options);
  if (!tool.parse(options, std::move(arguments))) return 0;
  tool.refuse_require();
  if (tool.argument().address.stream != tool.argument().address.origin())
    tool.words().fail("a mirror cannot be repaired: leave out ?stream=");
  Journal_File file(tool.words().take_last_name());
  Nats_Stream stream(tool.argument().address, tool.argument().settings, tool.log());
  std::optional<Nats_Stream_State> state = stream.state();
  if (state && (is_replacing || is_forced)) {
    require_long_enough(tool, file, is_forced);
    // Read the whole file first, so that the journal is not removed if the file cannot be read.
    replay_with_progress(file.journal, Ignore_Entries(), "reading " + file.file->get_name());
    file.journal.rewind();
    stream.remove();
    state.reset();
  }
  if (!state) stream.create({.replicas = static_cast<int>(replicas)});
  Nats_Log log(tool.argument().address, tool.argument().settings, tool.log());
  if (log.range().last == 0) Log_Connection::create(log);
  Log_Connection connection(log, tool.log());
  const Offset start = connection.get_checkpoint();
  compare_copies(tool, file, ": --replace replaces the one of the cluster", [&] {
    connection.compare(*file.file, journal_start, std::min(start, file.end), Content_Check::full);
  });
  // Push in parts, because a push is atomic: if it is interrupted, the complete parts remain.
  constexpr Offset part = Offset{1} << 25;
  Progress progress("filling " + tool.name(), start, file.end);
  Offset end = start;
  file.journal.replay(Ignore_Entries(), start);
  while (end < file.end) {
    file.journal.replay(Ignore_Entries(), std::min(file.end, end + part));
    end = file.journal.get_replay_position();
    connection.push(*file.file, end, Checkpoint_Level::hard, Connection::After_Push::keep_lock);
    progress.update(end);
  }
  connection.unlock();
  std::cout << tool.name() << ": checkpoint " << connection.get_checkpoint() << ", "
            << std::max<Offset>(end - start, 0) << " bytes were pushed\n";
  return 0;
}

int run_archive(std::vector<std::string> arguments) {
  Options options(
      {"joedb nats archive [options] URL FILE",
       "Removes from a journal on a cluster the part that FILE has.",
       "FILE is a complete copy that will not change, for example one made by joedb_push. All its "
       "bytes are\n"
       "compared before anything is removed. Clients that need the removed part read it from FILE, "
       "at the\n"
       "path or URL given by --place. Clients that already have that part are not affected.\n"
       "\n" +
           std::string(url_help),
       "  joedb_push city.joedb file /mnt/archive/city-2026.joedb\n"
       "  joedb nats archive nats://a,b,c/city /mnt/archive/city-2026.joedb\n"
       "  joedb nats archive --place https://example.com/city-2026.joedb.zst \\\n"
       "      nats://a,b,c/city city-2026.joedb\n"});
  std::string place;
  options.add("--place", place,
              "path or URL at which clients find FILE (default: the path of FILE)");
  Nats_Tool tool(options);
  if (!tool.parse(options, std::move(arguments))) return 0;
  const std::string name = tool.words().take_last_name();
  Journal_File file(name);
  if (place.empty()) place = is_url(name) ? name : std::filesystem::absolute(name).string();
  Nats_Stream stream(tool.argument().address, tool.argument().settings, tool.log());
  Nats_Log log(tool.argument().address, tool.argument().settings, tool.log());
  Log_Connection connection(log, tool.log(), System::real(), tool.log_settings());
  const Replicated_Log::Number kept = compare_copies(tool, file, ": nothing was removed", [&] {
    return connection.append_archive(*file.file, file.end, place);
  });
  stream.shorten(kept);
  const Log_Connection::Status status = connection.status();
  std::cout << tool.name() << ": what is before position " << status.archive_end << " is in "
            << place << "; the first message is " << log.range().first << '\n';
  return 0;
}

constexpr Command subcommands[] = {
    {"create", nullptr, "create an empty journal on a cluster", run_create},
    {"status", nullptr, "print servers, durability, lock and archive", run_status},
    {"verify", nullptr, "read a journal and check every message", run_verify_log},
    {"repair", nullptr, "restore a journal from a copy", run_repair},
    {"archive", nullptr, "remove the part of a journal that a file has", run_archive},
    {"mirror", nullptr, "create a mirror for many readers", run_mirror},
};

}  // namespace

std::span<const Command> nats_commands() { return subcommands; }

int run_nats(std::vector<std::string> arguments) {
  return run_subcommand({"joedb nats", "Manages a journal that is replicated on several machines.",
                         "To set up the servers, see docs/cluster.md.\n"},
                        subcommands, std::move(arguments));
}

}  // namespace joedb
