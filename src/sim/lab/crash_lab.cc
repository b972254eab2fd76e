#include "sim/lab/crash_lab.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/lab/world.h"

namespace joedb::testing {

namespace {

using Counts = Lab_Counts;

constexpr Lab_Counter disk_counters[] = {
    {"workloads", &Counts::seeds},
    {"moments of a crash", &Counts::cuts},
    {"calls that failed", &Counts::faults},
    {"files left by crashes", &Counts::images},
    {"distinct crash states", &Counts::states},
    {"recoveries", &Counts::recoveries},
    {"unprovable soft checkpoints", &Counts::unprovable},
};

constexpr Lab_Counter network_counters[] = {
    {"schedules", &Counts::seeds},
    {"of them with a relay", &Counts::relays},
    {"of them with a shared file", &Counts::shared},
    {"connections", &Counts::connections},
    {"connections that were cut", &Counts::cuts},
    {"servers killed", &Counts::kills},
    {"power cuts", &Counts::power_cuts},
    {"disks that failed", &Counts::disk_faults},
    {"clients killed", &Counts::client_kills},
    {"pushes", &Counts::pushes},
    {"acknowledged transactions", &Counts::acknowledged},
    {"pushes without a reply", &Counts::found_again},
    {"conflicts", &Counts::conflicts},
    {"copies that diverged", &Counts::mismatches},
    {"locks that were lost", &Counts::lock_losses},
};

constexpr Lab_Counter log_counters[] = {
    {"schedules", &Counts::seeds},
    {"answers that were lost", &Counts::cuts},
    {"messages that came late", &Counts::found_again},
    {"clients killed", &Counts::client_kills},
    {"acknowledged transactions", &Counts::acknowledged},
    {"conflicts", &Counts::conflicts},
    {"copies that diverged", &Counts::mismatches},
};

constexpr Lab_Counter snapshot_counters[] = {
    {"schedules", &Counts::seeds},
    {"snapshots written", &Counts::written},
    {"snapshots kept", &Counts::kept},
    {"not written beside another", &Counts::refused},
    {"failures", &Counts::failed},
    {"changes from outside", &Counts::changed},
    {"journals with the same samples", &Counts::twins},
    {"processes killed", &Counts::kills},
    {"power cuts", &Counts::power_cuts},
    {"openings compared", &Counts::compared},
    {"of them with a snapshot", &Counts::used},
    {"of them with one unfit", &Counts::unfit},
    {"databases that went on", &Counts::continued},
};

std::unique_ptr<World> make_world(const World::Context& context) {
  switch (context.settings.laboratory) {
    case Laboratory::logs:
      return make_wal_world(context);
    case Laboratory::network:
      return make_network_world(context);
    case Laboratory::replicated_log:
      return make_replicated_log_world(context);
    case Laboratory::snapshots:
      return make_snapshot_world(context);
    default:
      return make_database_world(context);
  }
}

Lab_Failure failure_of(const World& world, std::uint64_t seed, const std::exception& error) {
  const std::string kind = world.kind();
  return {seed,
          "seed " + std::to_string(seed) + (kind.empty() ? "" : " (" + kind + ")") + ": " +
              error.what() + "\n" + world.details(),
          world.replay(), world.operations()};
}

// Explores seeds in several threads until a seed fails.
class Explorer {
 public:
  explicit Explorer(const Lab_Settings& settings) : settings_(settings) {}

  Lab_Report run() {
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < settings_.jobs; ++i) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (first_error_) std::rethrow_exception(first_error_);
    report_.seconds = seconds();
    return report_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void work() {
    while (!stops_) {
      const std::uint64_t number = next_++;
      if (number >= settings_.seeds) return;
      if (settings_.seconds > 0 && seconds() >= settings_.seconds) return;
      try {
        explore(settings_.first_seed + number);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!first_error_) first_error_ = std::current_exception();
        stops_ = true;
      }
    }
  }

  // Throws if the error is a mistake of the user.
  void explore(std::uint64_t seed) {
    const std::unique_ptr<World> world = make_world({settings_, seed});
    std::optional<Lab_Failure> failure;
    try {
      world->run();
    } catch (const std::exception& error) {
      if (world->is_of_user(error)) throw;
      failure = failure_of(*world, seed, error);
    }
    Lab_Counts counts = world->counts();
    counts.seeds = 1;
    counts.states = states_.insert(world->states());
    const std::lock_guard lock(mutex_);
    for (const Lab_Counter& counter : counters_of(settings_.laboratory))
      report_.counts.*counter.count += counts.*counter.count;
    if (failure) {
      stops_ = true;
      if (!report_.failure || seed < report_.failure->seed) report_.failure = failure;
    }
    if (settings_.on_progress && !settings_.on_progress(report_.counts)) stops_ = true;
  }

  const Lab_Settings& settings_;
  const Clock::time_point start_ = Clock::now();
  Shared_State_Set states_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stops_ = false;
  std::mutex mutex_;  // guards `report_` and `first_error_`
  Lab_Report report_;
  std::exception_ptr first_error_;
};

}  // namespace

std::span<const Lab_Counter> counters_of(Laboratory laboratory) {
  switch (laboratory) {
    case Laboratory::network:
      return network_counters;
    case Laboratory::replicated_log:
      return log_counters;
    case Laboratory::snapshots:
      return snapshot_counters;
    default:
      return disk_counters;
  }
}

Lab_Report run_crash_lab(const Lab_Settings& settings) { return Explorer(settings).run(); }

std::string trace_of(const Lab_Settings& settings, std::uint64_t seed) {
  const auto world = make_world({settings, seed, true});
  try {
    world->run();
  } catch (const std::exception&) {
  }
  return world->trace();
}

}  // namespace joedb::testing
