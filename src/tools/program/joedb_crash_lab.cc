#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "joedb/base/log.h"
#include "sim/lab/crash_lab.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

const char* const crash_lab_details =
    R"(A workload runs on a simulated disk, which tracks what processes see, what is durable, and each
change in between. Each seed generates another workload; WORKLOAD, a file of joedbi commands, is run
instead of them.

kill: the process dies after each of its I/O operations. Everything it wrote is in the file.
power: the system fails after each I/O operation. Every subset of the unsynced changes (a sample of
thousands if there are many) reaches the disk, torn at 512 or 4096 bytes, or at every 8 bytes in
the header; where the file has grown, it has zeros, old bytes, or noise.
error: each call (open, lock, read, write, sync, truncate, size) fails, once and permanently.

The resulting file is opened in every recovery mode, and written, with up to three crashes in a row.
Every hard checkpoint must survive; the content must be exactly that of a requested checkpoint;
after an error, nothing more may be written.

"Unprovable" counts soft checkpoints that survive a power cut with other bytes than were written:
the format cannot detect this.

--network: a server and up to four clients, often with a relay between them. Connections are cut
after any byte, data is delayed, servers and clients are killed, disks fail, and clients pause while
they hold the lock. Each seed is a schedule.

--replicated-log: up to four clients with a journal on a replicated log, like a cluster of NATS
servers. Replies are lost, messages are delayed or damaged on one machine, and clients are killed or
paused.

--snapshots: processes write snapshots beside a database and are killed meanwhile, disks fail, and
snapshots and journals are modified from outside. Opening with a snapshot must always give the same
database as opening without. Each seed is a schedule.

A failure ends the run and is printed with a command that reproduces it.
)";

enum class Attack { all, kill, power, error };

std::string read_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw Exception("cannot read " + name);
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, " ");
  return text;
}

// Shows progress on a terminal once a second.
class Lab_Progress {
 public:
  ~Lab_Progress() {
    if (is_visible_) std::fputs("\r\33[K", stderr);
  }
  void show(const testing::Lab_Counts& counts) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_wanted_ || now < next_) return;
    next_ = now + std::chrono::seconds(1);
    is_visible_ = true;
    std::fprintf(stderr, "\r\33[Kseeds: %s, distinct states: %s", grouped(counts.seeds).c_str(),
                 grouped(counts.states).c_str());
  }

 private:
  const bool is_wanted_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool is_visible_ = false;
};

void print(const char* name, std::uint64_t value) {
  std::printf("%-28s%16s\n", name, grouped(value).c_str());
}

void print(const testing::Lab_Report& report, testing::Laboratory laboratory) {
  for (const auto& [name, count] : testing::counters_of(laboratory))
    print(name, report.counts.*count);
  const bool has_states =
      laboratory == testing::Laboratory::databases || laboratory == testing::Laboratory::logs;
  const std::uint64_t count = has_states ? report.counts.states : report.counts.seeds;
  print(has_states ? "states per second" : "schedules per second",
        static_cast<std::uint64_t>(static_cast<double>(count) / std::max(report.seconds, 0.001)));
  std::printf("%-28s%16.1f\n", "seconds", report.seconds);
}

}  // namespace

int run_crash_lab_command(std::vector<std::string> arguments) {
  Options options({"joedb_crash_lab [options] [WORKLOAD]",
                   "Searches for crashes and errors after which joedb loses data.",
                   crash_lab_details,
                   "  joedb crash-lab\n"
                   "  joedb crash-lab --seconds 3600\n"
                   "  joedb crash-lab --network --seconds 60\n"
                   "  joedb crash-lab workload.joedbi\n"
                   "  joedb crash-lab --seed 17 --cut 23 --image 0x2bz\n"});
  std::int64_t seed = 1, seeds = 0, seconds = 0;
  std::int64_t jobs = std::max(1U, std::thread::hardware_concurrency());
  Attack attack = Attack::all;
  bool has_wal = false, has_network = false, has_replicated_log = false, has_snapshots = false;
  testing::Lab_Settings settings;
  options.add("--seed", seed, "first seed (default: 1)");
  options.add("--seeds", seeds,
              "number of seeds (default: 20, or 20000 with --network, --replicated-log and "
              "--snapshots; no limit with --seconds)");
  options.add("--seconds", seconds, "start no seed after this time");
  options.add("--jobs", jobs, "number of threads (default: one per processor)");
  options.add_choice("--attack", attack,
                     {{"all", Attack::all},
                      {"kill", Attack::kill},
                      {"power", Attack::power},
                      {"error", Attack::error}},
                     "kind of failure to inject");
  options.add_flag("--wal", has_wal, "test write-ahead logs (joedb wal) instead of databases");
  options.add_flag("--network", has_network,
                   "test a server and its clients on a simulated network");
  options.add_flag("--replicated-log", has_replicated_log,
                   "test a simulated replicated log and its clients");
  options.add_flag("--snapshots", has_snapshots, "test databases with snapshots (joedb snapshot)");
  options.add("--cut", settings.cut,
              "reproduce a failure: the I/O operation after which it occurs, or the error");
  options.add("--image", settings.image, "reproduce a failure: the file that the crash leaves");
  options.set_words({{"WORKLOAD", "*.joedbi"}});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  std::string workload;
  if (!words->is_empty()) {
    workload = words->take_name();
    settings.script = read_file(workload);
  }
  words->require_end();
  if (seed < 0 || seeds < 0 || seconds < 0 || jobs < 1)
    words->fail("the numbers must not be negative");

  const bool is_one = !settings.cut.empty() || !workload.empty();
  const int schedules = has_network + has_replicated_log + has_snapshots;
  if (schedules > 1)
    words->fail("--network, --replicated-log and --snapshots are different laboratories");
  const bool has_schedules = schedules > 0;
  if (has_schedules && (is_one || has_wal || attack != Attack::all))
    words->fail(
        "--network, --replicated-log and --snapshots take no workload, --attack, --wal, --cut or "
        "--image");
  using testing::Laboratory;
  settings.laboratory = has_network          ? Laboratory::network
                        : has_replicated_log ? Laboratory::replicated_log
                        : has_snapshots      ? Laboratory::snapshots
                        : has_wal            ? Laboratory::logs
                                             : Laboratory::databases;
  settings.first_seed = static_cast<std::uint64_t>(seed);
  settings.seeds = static_cast<std::uint64_t>(is_one          ? 1
                                              : seeds > 0     ? seeds
                                              : seconds > 0   ? std::int64_t{1} << 62
                                              : has_schedules ? 20'000
                                                              : 20);
  settings.seconds = static_cast<double>(seconds);
  settings.jobs = static_cast<unsigned>(jobs);
  settings.attacks = {attack == Attack::all || attack == Attack::kill,
                      attack == Attack::all || attack == Attack::power,
                      attack == Attack::all || attack == Attack::error};

  Recovery_Logger::remove_logger();
  Destructor_Logger::remove_logger();  // most of these databases end with an error
  testing::Lab_Report report;
  {
    const Stop_Signal stop;
    Lab_Progress progress;
    settings.on_progress = [&](const testing::Lab_Counts& counts) {
      progress.show(counts);
      return !stop.has_come();
    };
    report = testing::run_crash_lab(settings);
  }
  print(report, settings.laboratory);
  if (!report.failure) return 0;
  std::printf("\nFAILURE: %s%sreplay: joedb crash-lab %s%s\n", report.failure->text.c_str(),
              report.failure->operations.c_str(), report.failure->replay.c_str(),
              workload.empty() ? "" : (" " + workload).c_str());
  return 1;
}

}  // namespace joedb
