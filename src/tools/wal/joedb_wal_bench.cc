#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <thread>

#include "joedb/base/types.h"
#include "joedb/wal/log.h"
#include "kernel/base/parse_number.h"
#include "tools/frame/stop_signal.h"
#include "tools/wal/joedb_wal.h"

namespace joedb {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Settings {
  std::int64_t entries = 100'000;
  std::int64_t size = 100;
  std::int64_t every = 0;  // entries per sync; 0: one sync at the end
  std::int64_t preallocate = 0;
  std::int64_t threads = 1;
};

struct Result {
  std::int64_t entries = 0;
  double seconds = 0;
  std::uint64_t syncs = 0;
  std::vector<double> waits;  // duration of each wait for a sync, in milliseconds
};

// The bytes of the entries. Consecutive entries differ, if there is room for a number.
class Payload {
 public:
  explicit Payload(std::int64_t size) : bytes_(static_cast<std::size_t>(size), '.') {}
  const std::string& next() {
    ++number_;
    if (bytes_.size() >= sizeof number_) store(bytes_.data(), number_);
    return bytes_;
  }

 private:
  std::string bytes_;
  std::uint64_t number_ = 0;
};

template <class F>
double milliseconds_of(F f) {
  const auto start = Clock::now();
  f();
  return Milliseconds(Clock::now() - start).count();
}

Result run_alone(wal::Writer log, const Settings& settings, const Stop_Signal& stop) {
  Result result;
  Payload payload(settings.size);
  Progress progress("writing", 0, settings.entries, Progress::Output::nothing,
                    Progress::Unit::entries);
  const auto sync = [&] { result.waits.push_back(milliseconds_of([&] { log.sync(); })); };
  while (result.entries < settings.entries && !stop.has_come()) {
    log.append(payload.next());
    ++result.entries;
    if (settings.every > 0 && result.entries % settings.every == 0) sync();
    if (result.entries % 64 == 0) progress.update(result.entries);
  }
  if (log.durable_sequence() + 1 < log.position().sequence) sync();
  result.syncs = result.waits.size();
  return result;
}

Result run_threads(wal::Writer writer, const Settings& settings, const Stop_Signal& stop) {
  wal::Async_Writer log(std::move(writer));
  const auto count = static_cast<std::size_t>(settings.threads);
  std::vector<Result> results(count);
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::int64_t> begun{0};
  Progress progress("writing", 0, settings.entries, Progress::Output::nothing,
                    Progress::Unit::entries);
  const auto work = [&](std::size_t i) {
    Result& result = results[i];
    try {
      Payload payload(settings.size);
      while (!stop.has_come() && begun++ < settings.entries) {
        ++result.entries;
        if (i == 0 && result.entries % 16 == 0) progress.update(begun);
        if (settings.every > 0 && result.entries % settings.every == 0)
          result.waits.push_back(milliseconds_of([&] { log.append(payload.next()); }));
        else
          log.append_async(payload.next(), [](wal::Position, const std::exception_ptr&) {});
      }
    } catch (const std::exception&) {
      errors[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work, i);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  Result all;
  const double last = milliseconds_of([&] { log.wait(); });
  for (const Result& result : results) {
    all.entries += result.entries;
    all.waits.insert(all.waits.end(), result.waits.begin(), result.waits.end());
  }
  if (all.waits.empty()) all.waits.push_back(last);
  all.syncs = log.syncs();
  log.close();
  return all;
}

// The destructor removes the file, unless `is_kept`.
class Temporary {
 public:
  Temporary(std::string name, bool is_kept) : name_(std::move(name)), is_kept_(is_kept) {}
  ~Temporary() {
    std::error_code ignored;
    if (!is_kept_) std::filesystem::remove(name_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

 private:
  const std::string name_;
  const bool is_kept_;
};

Result run(const std::string& name, const Settings& settings, bool keep) {
  require_new(name);
  auto file = std::make_unique<File>(name, Open_Mode::create_new);
  const Temporary temporary(name, keep);
  wal::Options options;
  options.preallocate = settings.preallocate;
  wal::Writer log(std::move(file), options);
  const Stop_Signal stop;
  const auto start = Clock::now();
  Result result = settings.threads == 1 ? run_alone(std::move(log), settings, stop)
                                        : run_threads(std::move(log), settings, stop);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

// Returns the smallest element that is not less than a fraction `part` of all elements.
double quantile(const std::vector<double>& sorted, double part) {
  const auto n = static_cast<double>(sorted.size());
  return sorted[static_cast<std::size_t>(std::max(std::ceil(part * n) - 1, 0.0))];
}

void print(const Settings& settings, Result result) {
  const double seconds = std::max(result.seconds, 1e-9);
  const auto entries = static_cast<double>(result.entries);
  std::printf("entries:         %lld of %lld bytes, by %lld %s\n",
              static_cast<long long>(result.entries), static_cast<long long>(settings.size),
              static_cast<long long>(settings.threads),
              settings.threads == 1 ? "thread" : "threads");
  std::printf("seconds:         %.3f\n", result.seconds);
  std::printf("entries/s:       %.0f\n", entries / seconds);
  std::printf("MB/s:            %.1f\n",
              entries * static_cast<double>(settings.size) / seconds / 1e6);
  std::printf("syncs:           %llu\n", static_cast<unsigned long long>(result.syncs));
  if (result.waits.empty()) return;
  std::sort(result.waits.begin(), result.waits.end());
  std::printf("wait for a sync: median %.3f ms, 99 %% %.3f ms\n", quantile(result.waits, 0.5),
              quantile(result.waits, 0.99));
}

void print_as_json(const Settings& settings, Result result) {
  const double seconds = std::max(result.seconds, 1e-9);
  const auto entries = static_cast<double>(result.entries);
  Json json{{"entries", result.entries},
            {"size", settings.size},
            {"threads", settings.threads},
            {"seconds", result.seconds},
            {"entries_per_second", entries / seconds},
            {"bytes_per_second", entries * static_cast<double>(settings.size) / seconds},
            {"syncs", result.syncs},
            {"milliseconds_of_a_sync", nullptr}};
  if (!result.waits.empty()) {
    std::sort(result.waits.begin(), result.waits.end());
    json["milliseconds_of_a_sync"] = {{"median", quantile(result.waits, 0.5)},
                                      {"p99", quantile(result.waits, 0.99)}};
  }
  print_json(json);
}

std::int64_t entries_of_sync(const std::string& text, const Words& words) {
  if (text == "never") return 0;
  if (text == "each") return 1;
  const std::int64_t n = parse_number<std::int64_t>(text).value_or(0);
  if (n < 1) words.fail("--sync: never, each, or a number of entries, not " + text);
  return n;
}

}  // namespace

int run_wal_bench(std::vector<std::string> arguments) {
  Options options(
      {"joedb wal bench [options] FILE",
       "Measures the write speed of a new log, on the disk of FILE.",
       R"(FILE must not exist, and is removed at the end. With several threads, an Async_Writer syncs the
entries that they append while the disk is busy as one group; the time measured is how long a thread
waits until its own entry is durable.
)",
       "  joedb wal bench new.wal\n"
       "  joedb wal bench --sync each --entries 1000 --preallocate 1048576 new.wal\n"
       "  joedb wal bench --sync each --entries 10000 --threads 16 new.wal\n"});
  Settings settings;
  std::string sync = "never";
  bool keep = false;
  options.add("--entries", settings.entries, "number of entries (default: 100000)");
  options.add("--size", settings.size, "size of each entry, in bytes (default: 100)");
  options.add("--sync", sync,
              "when to sync: never (only at the end, the default), each (after each entry), or "
              "after this many entries, in each thread");
  options.add("--preallocate", settings.preallocate,
              "preallocate the file, in steps of N bytes (default: 0)");
  options.add("--threads", settings.threads, "number of threads that append (default: 1)");
  bool is_json = false;
  add_json_option(options, is_json);
  options.add_flag("--keep", keep, "do not remove the file");
  options.set_words({kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = take_log(*words);
  settings.every = entries_of_sync(sync, *words);
  if (settings.entries < 1) words->fail("--entries: at least 1");
  if (settings.size < 0 || settings.size > static_cast<std::int64_t>(wal::max_entry_size))
    words->fail("--size: 0 to " + std::to_string(wal::max_entry_size));
  if (settings.threads < 1 || settings.threads > 1000) words->fail("--threads: 1 to 1000");
  Result result = run(name, settings, keep);
  is_json ? print_as_json(settings, std::move(result)) : print(settings, std::move(result));
  return 0;
}

}  // namespace joedb
