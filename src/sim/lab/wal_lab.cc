#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "joedb/io/memory_file.h"
#include "joedb/wal/copies.h"
#include "joedb/wal/log.h"
#include "joedb/wal/segments.h"
#include "sim/lab/sim_file.h"
#include "sim/lab/simulation.h"
#include "wal/recovery.h"
#include "wal/segment_list.h"

namespace joedb::testing {

namespace {

using wal::Format;

// The files after a crash, by name.
using Image = Sim_Directory::Contents;

// ---- promises -----------------------------------------------------------------------------------

// Requests to a log and their acknowledgements, by time. The time is the number of operations so
// far.
class Promises_Of_Log {
 public:
  enum Mark {
    appended,         // the entry and all earlier entries were passed to the log
    flushed,          // acknowledged: a killed process does not lose them
    durable,          // acknowledged: a power cut does not lose them
    rotation_asked,   // the entries before this entry are no longer needed
    rotation_done,    // after a kill, no reader returns the entries before this entry
    rotation_durable  // after a power cut, no reader returns the entries before this entry
  };

  // For a log that begins with these entries, all of them durable.
  Promises_Of_Log(std::uint64_t first, std::vector<std::string> entries)
      : first_(first), entries_(std::move(entries)) {
    const std::uint64_t last = first + entries_.size() - 1;
    for (const Mark mark : {appended, flushed, durable}) note(mark, last, 0);
    for (const Mark mark : {rotation_asked, rotation_done, rotation_durable}) note(mark, first, 0);
  }

  // Returns the promises for a process that continues after entry `last`; later entries are lost.
  Promises_Of_Log after_crash(std::uint64_t last) const {
    Promises_Of_Log next = *this;
    next.entries_.resize(std::min(entries_.size(), last + 1 - first_));
    for (auto& [time, value] : next.marks_[appended]) value = std::min(value, next.last());
    return next;
  }

  void append(std::string entry) { entries_.push_back(std::move(entry)); }
  std::uint64_t last() const { return first_ + entries_.size() - 1; }
  const std::string* entry(std::uint64_t sequence) const {
    return sequence >= first_ && sequence <= last() ? &entries_[sequence - first_] : nullptr;
  }

  void note(Mark mark, std::uint64_t value, std::size_t time) {
    marks_[mark].push_back({time, value});
  }
  std::uint64_t at(Mark mark, std::size_t time) const {
    std::uint64_t value = 0;
    for (const auto& [t, v] : marks_[mark])
      if (t <= time) value = std::max(value, v);
    return value;
  }

 private:
  std::uint64_t first_;
  std::vector<std::string> entries_;
  std::array<std::vector<std::pair<std::size_t, std::uint64_t>>, 6> marks_;
};

// The entries that a reader returns.
struct Shown {
  std::uint64_t first = 1;  // sequence of the first entry
  std::vector<std::string> entries;
  std::string refusal;  // error, if the log could not be read
  std::uint64_t last() const { return first + entries.size() - 1; }
};

// ---- workloads ----------------------------------------------------------------------------------

enum class Kind { file, async, copies, segments };

struct Setup {
  Kind kind = Kind::file;
  wal::Options options;
  wal::Segment_Options segments;
  std::size_t copies = 3;
  std::size_t needed = 2;
  std::uint64_t slowness = 0;  // seed for the times when copies are slow; 0 means never
  std::size_t sector = 512;
  bool is_concurrent = false;  // only for segments: several programs at the same time
};

constexpr const char* kind_names[] = {"file", "async", "copies", "segments"};
constexpr const char* file_name = "log";

std::string copy_name(std::size_t i) { return "copy " + std::to_string(i); }

Setup choose_setup(Random& random) {
  Setup setup;
  setup.kind = static_cast<Kind>(random.below(4));
  constexpr std::size_t buffers[] = {1, 100, 1000, 4096, 65536};
  setup.options.buffer_size = buffers[random.below(5)];
  constexpr Offset steps[] = {0, 0, 512, 4096, 10000};
  setup.options.preallocate = steps[random.below(5)];
  constexpr std::size_t sectors[] = {64, 512, 4096};
  setup.sector = sectors[random.below(3)];
  setup.segments = {.segment_size = wal::log_start + static_cast<Offset>(100 + random.below(3000)),
                    .spare_segments = random.below(3)};
  if (setup.kind == Kind::copies) setup.needed = 1 + random.below(3);
  if (setup.kind == Kind::file || setup.kind == Kind::copies) {
    if (random.below(4) == 0)
      setup.options.sync = wal::Sync_Policy::every_entries(1 + random.below(3));
    if (random.below(4) == 0) setup.options.sync.bytes = 50 + random.below(1000);
    if (random.below(4) == 0)
      setup.options.batch_size = static_cast<Offset>(100 + random.below(2000));
  }
  if (setup.kind == Kind::file && random.below(4) == 0) {
    setup.options.format = Format::cwal;
    setup.options.preallocate = 0;
  }
  if (setup.kind == Kind::segments) setup.is_concurrent = random.flip();
  return setup;
}

std::string text_of(const Setup& setup) {
  const wal::Options& options = setup.options;
  std::string text = options.format == Format::cwal ? "format of CWal, buffer " : "buffer ";
  text += std::to_string(options.buffer_size) + ", preallocate " +
          std::to_string(options.preallocate) + ", batches " + std::to_string(options.batch_size) +
          ", sector " + std::to_string(setup.sector);
  if (setup.kind == Kind::copies) text += ", needed " + std::to_string(setup.needed);
  if (setup.kind == Kind::copies && setup.slowness != 0) text += ", slow copies";
  if (setup.kind == Kind::segments)
    text += ", segments " + std::to_string(setup.segments.segment_size) + ", spare " +
            std::to_string(setup.segments.spare_segments);
  if (setup.is_concurrent) text += ", several programs at once";
  return text;
}

// Returns a random entry. Many entries have the same size or the same bytes.
std::string choose_entry(Random& random, std::size_t least) {
  constexpr std::size_t sizes[] = {0, 1, 8, 8, 8, 40, 40, 100, 600, 2000};
  std::size_t size = sizes[random.below(10)];
  if (random.below(8) == 0) size = random.below(200);
  std::string entry(std::max(size, least), random.flip() ? 'a' : static_cast<char>(random.next()));
  if (random.flip())
    for (char& c : entry) c = static_cast<char>(random.next());
  return entry;
}

// Returns a function that makes each copy slow for some operations, then fast for some operations,
// and so on.
std::function<bool(std::size_t)> choose_slow_copies(std::uint64_t seed) {
  return [random = Random(seed), slow = std::uint64_t{0}](std::size_t copy) mutable {
    if (random.below(6) == 0) slow ^= std::uint64_t{1} << copy;
    return (slow >> copy & 1) != 0;
  };
}

std::unique_ptr<Abstract_File> open_copies(Sim_Directory& directory, const Setup& setup,
                                           Open_Mode mode, std::uint64_t missing) {
  std::vector<std::unique_ptr<Abstract_File>> files;
  for (std::size_t i = 0; i < setup.copies; ++i) {
    if ((missing >> i & 1) != 0) {
      files.push_back(nullptr);
      continue;
    }
    try {
      files.push_back(directory.open(copy_name(i), mode));
    } catch (const Io_Error&) {
      files.push_back(nullptr);
    }
  }
  wal::Copies_Options options{.needed = setup.needed, .has_threads = false};
  if (setup.slowness != 0) {
    options.max_lag_bytes = 3000;
    options.is_slow = choose_slow_copies(setup.slowness + directory.time());
  }
  return std::make_unique<wal::Copies>(std::move(files), mode, std::move(options));
}

// Opens a log that is a single file or several copies. `missing` is a bit set of the copies that
// cannot be opened.
std::unique_ptr<Abstract_File> open_log(Sim_Directory& directory, const Setup& setup,
                                        Open_Mode mode, std::uint64_t missing = 0) {
  return setup.kind == Kind::copies ? open_copies(directory, setup, mode, missing)
                                    : directory.open(file_name, mode);
}

template <class Reader>
void read_all(Reader& reader, Shown& shown) {
  shown.first = reader.position().sequence;
  while (const auto entry = reader.next()) {
    if (entry->position.sequence != shown.last() + 1)
      throw std::runtime_error("a reader shows entry " + std::to_string(entry->position.sequence) +
                               " after entry " + std::to_string(shown.last()));
    shown.entries.emplace_back(entry->text());
  }
}

// `missing` is a bit set of the copies that cannot be opened.
Shown read(const Image& image, const Setup& setup, std::uint64_t missing = 0) {
  Sim_Directory directory(image);
  Shown shown;
  try {
    if (setup.kind == Kind::segments) {
      wal::Segmented_Reader reader(directory);
      read_all(reader, shown);
    } else if (setup.kind == Kind::copies || !image.empty()) {
      // A new log of several copies exists only if all its files exist.
      const auto file = open_log(directory, setup, Open_Mode::read_existing, missing);
      wal::Reader reader(*file);
      read_all(reader, shown);
    }
  } catch (const Exception& error) {
    shown.refusal = error.what();
  }
  return shown;
}

// A process that opens a log, performs random operations, and ends.
class Log_Scenario {
 public:
  // `missing` is a bit set of the copies that cannot be opened.
  Log_Scenario(Sim_Directory& directory, const Setup& setup, Promises_Of_Log& promises,
               Random& random, std::uint64_t missing = 0)
      : directory_(directory),
        setup_(setup),
        promises_(promises),
        random_(random),
        missing_(missing) {}

  // Throws the exceptions of the log. Throws std::runtime_error if a rule is violated.
  void run(std::size_t steps) {
    switch (setup_.kind) {
      case Kind::file:
      case Kind::copies: {
        wal::Options options = setup_.options;
        options.on_batch = [this] { ask_rotation(promises_.last()); };
        wal::Writer log(
            open_log(directory_, setup_, Open_Mode::write_existing_or_create_new, missing_),
            options);
        return run(log, steps);
      }
      case Kind::segments: {
        wal::Segmented_Writer log(directory_, setup_.options, setup_.segments);
        return run(log, steps);
      }
      case Kind::async: {
        wal::Async_Writer log(wal::Writer(
            open_log(directory_, setup_, Open_Mode::write_existing_or_create_new), setup_.options));
        return run_async(log, steps);
      }
    }
  }

  // The same, but the log is open already.
  template <class Log>
  void run(Log& log, std::size_t steps) {
    if (log.position().sequence != promises_.last() + 1)
      throw std::runtime_error("a writer begins with entry " +
                               std::to_string(log.position().sequence) + ", and a reader finds " +
                               std::to_string(promises_.last()) + " entries");
    promises_.note(P::durable, log.durable_sequence(), directory_.time());
    try {
      for (; steps > 0; --steps) {
        step(log);
        promises_.note(P::durable, log.durable_sequence(), directory_.time());
      }
      if (random_.flip()) {
        log.close();
        promises_.note(P::flushed, promises_.last(), directory_.time());
      }
    } catch (const Exception& error) {
      require_stopped(log, error);
      throw;
    }
  }

 private:
  using P = Promises_Of_Log;

  void ask_rotation(std::uint64_t first) {
    promises_.note(P::rotation_asked, first, directory_.time());
  }

  template <class Log>
  void step(Log& log) {
    const std::size_t choice = random_.below(16);
    if (choice < 10) {
      std::string entry = choose_entry(random_, setup_.options.format == Format::cwal ? 1 : 0);
      promises_.append(entry);
      promises_.note(P::appended, promises_.last(), directory_.time());
      const std::uint64_t oldest = oldest_of(log);
      const wal::Position position = log.append(entry);
      if (position.sequence != promises_.last())
        throw std::runtime_error("a wrong position was returned");
      if (oldest_of(log) != oldest)
        promises_.note(P::rotation_done, position.sequence, directory_.time());
    } else if (choice < 12) {
      log.flush();
      promises_.note(P::flushed, promises_.last(), directory_.time());
    } else if (choice < 15) {
      log.sync();
      promises_.note(P::flushed, promises_.last(), directory_.time());
      if (log.durable_sequence() != promises_.last())
        throw std::runtime_error("after a sync not everything is durable");
      promises_.note(P::rotation_durable, promises_.at(P::rotation_done, directory_.time()),
                     directory_.time());
    } else {
      rotate(log);
    }
  }

  // Returns a number that changes when a batch is full.
  static std::uint64_t oldest_of(const wal::Writer& log) { return log.epoch(); }
  static std::uint64_t oldest_of(const wal::Segmented_Writer&) { return 0; }

  void rotate(wal::Writer& log) {
    ask_rotation(promises_.last() + 1);
    log.rotate();
    promises_.note(P::rotation_done, promises_.last() + 1, directory_.time());
  }
  void rotate(wal::Segmented_Writer& log) {
    if (random_.below(4) == 0) {
      ask_rotation(promises_.last() + 1);
      return log.rotate();
    }
    const std::uint64_t least = log.oldest_sequence();
    const std::uint64_t sequence = least + random_.below(promises_.last() + 2 - least);
    const std::uint64_t released = std::min(sequence, promises_.last());
    ask_rotation(released + 1);
    log.release(sequence);
    // The sequence of a released entry is never used again.
    if (log.oldest_sequence() != least) promises_.note(P::durable, released, directory_.time());
  }

  // After a disk failure, nothing more may be written.
  template <class Log>
  void require_stopped(Log& log, const Exception& error) {
    if (!directory_.has_failed()) return;
    const std::size_t time = directory_.time();
    bool has_thrown = false;
    for (const auto& call : {std::function<void()>([&] { log.append("more"); }),
                             std::function<void()>([&] { log.sync(); })}) {
      try {
        call();
      } catch (const Exception&) {
        has_thrown = true;
      }
    }
    if (!has_thrown)
      throw std::runtime_error(std::string("the log goes on after: ") + error.what());
    if (directory_.time() != time)
      throw std::runtime_error(std::string("something was written after: ") + error.what());
  }

  // The thread of the log performs all I/O, and calls the callbacks.
  void run_async(wal::Async_Writer& log, std::size_t steps) {
    std::mutex mutex;
    std::string wrong;
    bool has_failed = false;
    try {
      push_all(log, steps, mutex, wrong, has_failed);
    } catch (...) {
      try {
        log.close();  // no callback is called after this
      } catch (const Exception&) {
      }
      throw;
    }
    log.close();
    if (!wrong.empty()) throw std::runtime_error(wrong);
  }

  void push_all(wal::Async_Writer& log, std::size_t steps, std::mutex& mutex, std::string& wrong,
                bool& has_failed) {
    for (; steps > 0; --steps) {
      std::string entry = choose_entry(random_, 0);
      const std::uint64_t sequence = promises_.last() + 1;
      {
        const std::lock_guard lock(mutex);
        promises_.append(entry);
        promises_.note(P::appended, sequence, 0);
      }
      log.append_async(std::move(entry),
                       [&, sequence](wal::Position position, const std::exception_ptr& error) {
                         const std::lock_guard lock(mutex);
                         if (error) {
                           has_failed = true;
                           return;
                         }
                         if (has_failed || position.sequence != sequence)
                           wrong = "the order of callbacks is wrong";
                         promises_.note(P::durable, sequence, directory_.time());
                       });
      if (random_.below(6) == 0) log.wait();
    }
  }

  Sim_Directory& directory_;
  const Setup& setup_;
  Promises_Of_Log& promises_;
  Random& random_;
  const std::uint64_t missing_;
};

// ---- several programs at once -------------------------------------------------------------------

// Programs that write and read a log of segments at the same time, in one thread. Each program is
// suspended before each of its calls; then any program is resumed. Some programs are killed and
// restarted.
class Concurrent_Run {
 public:
  // `is_whole` says that no power cut has torn the log. Otherwise, readers may find damage.
  Concurrent_Run(Sim_Directory& directory, const Setup& setup, Promises_Of_Log& promises,
                 Random& random, bool is_whole)
      : directory_(directory),
        setup_(setup),
        promises_(promises),
        random_(random),
        is_whole_(is_whole) {
    directory_.process().on_call = [this] { pause(); };
  }
  ~Concurrent_Run() {
    is_over_ = true;
    for (const auto& program : programs_)
      while (!program->fiber->is_done()) kill(*program);
    directory_.process().on_call = nullptr;
  }
  Concurrent_Run(const Concurrent_Run&) = delete;
  Concurrent_Run& operator=(const Concurrent_Run&) = delete;

  // Throws the exceptions of the programs. Throws std::runtime_error if a rule is violated. `look`
  // is called between their calls.
  void run(const std::function<void()>& look) {
    writing_ = 2 + random_.below(2);
    const std::size_t count = writing_ + 1 + random_.below(2);
    for (std::size_t i = 0; i < count; ++i) {
      Program& program = *programs_.emplace_back(std::make_unique<Program>());
      const bool is_writer = i < writing_;
      program.fiber = std::make_unique<Fiber>([this, &program, is_writer] {
        is_writer ? write_repeatedly(program) : read_repeatedly(program);
      });
    }
    // Usually the same program is resumed, so that other programs are suspended during many
    // operations.
    std::size_t favourite = 0;
    std::size_t kills = random_.below(4);
    while (std::any_of(programs_.begin(), programs_.end(), is_running)) {
      if (random_.below(10) == 0) favourite = random_.below(count);
      Program& program = *programs_[random_.below(8) == 0 ? random_.below(count) : favourite];
      if (!is_running(programs_[favourite])) favourite = random_.below(count);
      const bool dies = kills > 0 && random_.below(100) == 0;
      if (dies) --kills;
      if (!program.fiber->is_done()) dies ? kill(program) : resume(program);
      if (error_) std::rethrow_exception(error_);
      look();
    }
  }

 private:
  using P = Promises_Of_Log;
  static bool is_running(const std::unique_ptr<Program>& program) {
    return !program->fiber->is_done();
  }
  void resume(Program& program) {
    running_ = &program;
    program.fiber->resume();
  }
  // Resumes the program until it has noticed that it was killed. No other program runs meanwhile.
  void kill(Program& program) {
    program.is_killed = true;
    resume(program);
  }
  void pause() const { running_->suspend(); }

  // Runs a program once. Returns false after an error, or if the test is over.
  bool live(Program& self, void (Concurrent_Run::*life)()) {
    try {
      (this->*life)();
      if (self.is_killed) throw Sim_Killed();  // killed in a destructor
    } catch (const Sim_Killed&) {
      self.is_killed = false;
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      return false;
    }
    self.fiber->suspend();
    return !is_over_;
  }

  void write_repeatedly(Program& self) {
    for (std::size_t lives = 1 + random_.below(3); lives > 0; --lives)
      if (!live(self, &Concurrent_Run::write)) break;
    --writing_;
  }
  void read_repeatedly(Program& self) {
    for (bool is_last = false; !is_last;) {
      is_last = writing_ == 0;
      if (!live(self, &Concurrent_Run::read)) break;
    }
  }

  void write() {
    const Program& self = *running_;
    std::optional<wal::Segmented_Writer> log;
    try {
      log.emplace(directory_, setup_.options, setup_.segments);
    } catch (const Io_Error& error) {
      if (error.code != EAGAIN) throw;
      return;  // another program is the writer
    }
    const std::uint64_t last = log->position().sequence - 1;
    const std::size_t now = directory_.time();
    const std::uint64_t least =
        std::max({promises_.at(P::flushed, now), promises_.at(P::durable, now), shown_});
    if (last < least)
      throw std::runtime_error("a writer goes on behind entry " + std::to_string(last) +
                               ", entry " + std::to_string(least) + " was acknowledged, or shown");
    promises_ = promises_.after_crash(last);
    Log_Scenario(directory_, setup_, promises_, random_).run(*log, 1 + random_.below(16));
    log.reset();
    if (!self.is_killed) promises_.note(P::flushed, promises_.last(), directory_.time());
  }

  // Reads for some time. If no program writes any more, reads to the end.
  void read() {
    wal::Segmented_Reader reader(directory_);
    std::uint64_t next = 0;   // next sequence; 0 if any sequence that is not released is possible
    bool has_seeked = false;  // true if it has sought the first entry after all writers have ended
    for (std::size_t looks = 1 + random_.below(20);; --looks) {
      const bool is_last = writing_ == 0;
      while (const auto entry = reader.next()) {
        check(*entry, next);
        next = entry->position.sequence + 1;
      }
      if (check_end(reader)) {
        if (has_seeked)
          throw std::runtime_error("a reader is told of a release while nobody writes");
        has_seeked = is_last;
        next = 0;
        reader.seek_first();
        continue;
      }
      if (is_last) return check_last(reader);
      if (looks <= 1) return;
      pause();
    }
  }

  void check(const wal::Entry& entry, std::uint64_t next) {
    const std::uint64_t sequence = entry.position.sequence;
    const std::uint64_t asked = promises_.at(P::rotation_asked, directory_.time());
    const std::string* const promised = promises_.entry(sequence);
    if (promised == nullptr || *promised != entry.text())
      throw std::runtime_error("a reader shows an entry " + std::to_string(sequence) +
                               " that was not appended");
    if (next == 0 ? sequence > asked : sequence != next)
      throw std::runtime_error("a reader shows entry " + std::to_string(sequence) +
                               ", and not entry " + std::to_string(next == 0 ? asked : next));
    shown_ = std::max(shown_, sequence);
  }

  // Returns true if the reader reports that entries were released.
  bool check_end(const wal::Segmented_Reader& reader) const {
    using wal::Stop;
    const Stop stop = reader.end().stop;
    const bool is_damage = stop == Stop::missing ||
                           (is_whole_ && (stop == Stop::checksum || stop == Stop::wrong_order));
    const bool is_released =
        promises_.at(P::rotation_asked, directory_.time()) > reader.position().sequence;
    if (is_damage || (stop == Stop::overwritten && !is_released))
      throw std::runtime_error("a reader stops at entry " +
                               std::to_string(reader.position().sequence) +
                               ", and says: " + reader.end().text());
    return stop == Stop::overwritten;
  }

  void check_last(const wal::Segmented_Reader& reader) const {
    const Shown shown = testing::read(directory_.contents(), setup_);
    if (shown.refusal.empty() && reader.position().sequence != shown.last() + 1)
      throw std::runtime_error("a reader waits for entry " +
                               std::to_string(reader.position().sequence) + " (" +
                               reader.end().text() + "), and another one finds entries up to " +
                               std::to_string(shown.last()));
  }

  Sim_Directory& directory_;
  const Setup& setup_;
  Promises_Of_Log& promises_;
  Random& random_;
  const bool is_whole_;
  std::vector<std::unique_ptr<Program>> programs_;
  Program* running_ = nullptr;
  std::size_t writing_ = 0;  // number of writers that have not ended
  std::uint64_t shown_ = 0;  // the last entry that a reader has returned
  bool is_over_ = false;
  std::exception_ptr error_;
};

// ---- one seed -----------------------------------------------------------------------------------

class Wal_World final : public World {
 public:
  explicit Wal_World(const Context& context) : World(context), setup_(choose_setup(random_)) {
    if (seed_ % 4 != 0) setup_.slowness = seed_;
  }

  void run() override {
    const std::uint64_t life_seed = random_.next();
    if (setup_.is_concurrent) return run_concurrently(life_seed);
    Sim_Directory directory({});
    Promises_Of_Log promises(1, {});
    live(directory, promises, life_seed);
    if (attacks_.has_kill || attacks_.has_power) explore(directory, promises, 1);
    if (!attacks_.has_error) return;
    if (setup_.kind == Kind::segments) damage_segments(directory, promises);
    damage_entries(directory, promises);
    if (setup_.kind == Kind::segments) damage_segments(directory, promises);
    fill_disk(life_seed);
    fail_calls(directory, life_seed);
  }

  std::string kind() const override {
    return std::string("log: ") + kind_names[static_cast<int>(setup_.kind)];
  }
  std::string details() const override { return where_ + "\n" + text_of(setup_) + "\n"; }
  std::string replay() const override { return "--wal " + seed_argument(); }

 private:
  // Runs several processes, one after the other.
  void live(Sim_Directory& directory, Promises_Of_Log& promises, std::uint64_t seed) {
    Random random(seed);
    const bool counts_from_1 = setup_.options.format == Format::cwal;
    const std::size_t processes = counts_from_1 ? 1 : 1 + random.below(2);
    for (std::size_t i = 0; i < processes; ++i) {
      Log_Scenario(directory, setup_, promises, random).run(4 + random.below(24));
      if (directory.has_failed()) return;  // the destructor could not flush
      promises.note(Promises_Of_Log::flushed, promises.last(), directory.time());
      judge(directory.contents(), promises, directory.time(), false);
    }
  }

  // Runs several programs at the same time. The promises depend on which program continues, so
  // crashes are tried immediately.
  void run_concurrently(std::uint64_t seed) {
    effort_ = {.all_subsets_up_to = 4, .random_subsets = 100, .depth = 2};
    Random random(seed);
    for (int i = 0; i < 50; ++i) {
      Sim_Directory directory({});
      Promises_Of_Log promises(1, {});
      Concurrent_Run(directory, setup_, promises, random, true).run([&] {
        crash_now(directory, promises, 1);
      });
      where_ = "at the end";
      judge(directory.contents(), promises, directory.time(), false);
    }
  }

  // Simulates a crash at some moments.
  void crash_now(const Sim_Directory& directory, const Promises_Of_Log& promises, int depth) {
    where_ = "after I/O " + std::to_string(directory.time()) + ", depth " + std::to_string(depth);
    if (random_.below(150) != 0) return;
    ++counts_.cuts;
    const std::string where = where_;
    where_ = "killed " + where;
    if (attacks_.has_kill) check(directory.contents(), promises, directory.time(), false, depth);
    if (attacks_.has_power)
      cut_power(directory, promises, directory.states(), directory.time(), depth);
    where_ = where;
  }

  // ---- crashes ----------------------------------------------------------------------------------

  // Advances the states of all files from time - 1 to `time`.
  static void advance(std::vector<Sim_State>& states, const Sim_Directory& directory,
                      std::size_t time) {
    const std::size_t file = directory.order()[time - 1];
    states[file].advance(directory.files()[file].node->history());
  }

  // Returns the files that have a name at `time`, with these states.
  static Image image_of(const std::vector<Sim_State>& states, const Sim_Directory& directory,
                        std::size_t time) {
    Image image;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const Sim_Directory::File& file = directory.files()[i];
      if (file.made <= time && file.removed > time) image[file.name] = states[i].content();
    }
    return image;
  }

  void explore(const Sim_Directory& directory, const Promises_Of_Log& promises, int depth) {
    std::vector<Sim_State> states = directory.start();
    for (std::size_t time = 0; time <= directory.time(); ++time) {
      if (time > 0) advance(states, directory, time);
      ++counts_.cuts;
      if (attacks_.has_kill) {
        const Image image = image_of(states, directory, time);
        where_ = fault_ + "killed after I/O " + std::to_string(time) + ", depth " +
                 std::to_string(depth);
        check(image, promises, time, false, depth);
      }
      if (attacks_.has_power) cut_power(directory, promises, states, time, depth);
    }
  }

  void cut_power(const Sim_Directory& directory, const Promises_Of_Log& promises,
                 const std::vector<Sim_State>& states, std::size_t time, int depth) {
    std::vector<std::vector<Sim_Unit>> units;
    std::size_t count = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      units.push_back(states[i].units(directory.files()[i].node->history(), setup_.sector));
      count += units.back().size();
    }
    // In the format of CWal, pieces of entries, or zeros, cannot be distinguished from entries.
    const bool is_whole = setup_.options.format == Format::cwal;
    const bool is_all = !is_whole && count <= effort_.all_subsets_up_to && states.size() == 1;
    // Few crashes at each of many moments find more errors than many crashes at one moment.
    const std::size_t images =
        is_all ? std::size_t{1} << count : (is_whole ? 0 : effort_.random_subsets / 20) + 2;
    for (std::size_t n = 0; n < images; ++n) {
      Image image;
      const std::size_t share = n < 2 ? 8 * n : 1 + random_.below(7);
      for (std::size_t i = 0; i < states.size(); ++i) {
        const Sim_Directory::File& file = directory.files()[i];
        if (file.made > time) continue;
        if (file.removed <= time && random_.flip()) continue;
        if (!states[i].has_durable_name() && (n == 0 || random_.below(8) == 0)) continue;
        Sim_Mask mask(is_all ? n : 0);
        if (!is_all)
          for (std::size_t unit = 0; unit < units[i].size(); ++unit)
            if (random_.below(8) < share) mask.add(unit);
        // In a log that was just created, the unwritten bytes on the disk are zeros.
        const bool may_fill = states[i].durable().size() >= 8 && !is_whole;
        const auto fill = static_cast<Sim_Fill>(may_fill ? random_.below(sim_fill_count) : 0);
        states[i].power_cut(units[i], mask, fill, image[file.name]);
      }
      where_ = fault_ + "power cut after I/O " + std::to_string(time) + ", image " +
               std::to_string(n) + ", depth " + std::to_string(depth);
      check(image, promises, time, true, depth);
    }
  }

  // ---- recovery ---------------------------------------------------------------------------------

  static State_Hash hash_of(const Image& image) {
    std::string all;
    for (const auto& [name, content] : image)
      all += name + '\0' + std::to_string(content.size()) + '\0' + content;
    return hash_of_bytes(all.data(), all.size());
  }

  // Returns the entries that a reader returns, after checking them against the promises.
  Shown judge(const Image& image, const Promises_Of_Log& promises, std::size_t time, bool is_power,
              std::uint64_t missing = 0) {
    using P = Promises_Of_Log;
    const Shown shown = read(image, setup_, missing);
    const std::uint64_t least =
        is_power ? promises.at(P::durable, time)
                 : std::max(promises.at(P::flushed, time), promises.at(P::durable, time));
    const std::uint64_t asked = promises.at(P::rotation_asked, time);
    const bool has_promises = least >= asked && least > 0;
    if (!shown.refusal.empty()) {
      if (has_promises) throw std::runtime_error("a reader is refused: " + shown.refusal);
      return shown;
    }
    const std::uint64_t appended = promises.at(P::appended, time);
    const bool counts_from_1 = setup_.options.format == Format::cwal;
    if (counts_from_1) return judge_cwal(shown, promises, least, asked, appended);
    for (std::uint64_t s = shown.first; s <= shown.last(); ++s) {
      if (s > appended)
        throw std::runtime_error("entry " + std::to_string(s) + " is shown, " +
                                 std::to_string(appended) + " were appended");
      const std::string* const entry = promises.entry(s);
      if (entry == nullptr || *entry != shown.entries[s - shown.first])
        throw std::runtime_error("entry " + std::to_string(s) +
                                 " is not the one that was appended");
    }
    const std::uint64_t oldest =
        promises.at(is_power ? P::rotation_durable : P::rotation_done, time);
    if (setup_.kind != Kind::segments && !shown.entries.empty() && shown.first < oldest)
      throw std::runtime_error("entry " + std::to_string(shown.first) +
                               " is shown, from before a rotation to entry " +
                               std::to_string(oldest));
    if (setup_.kind == Kind::segments && shown.last() < least)
      throw std::runtime_error("entry " + std::to_string(least) +
                               " was durable, or released, and its sequence will be used again");
    if (has_promises && (shown.first > asked || shown.last() < least))
      throw std::runtime_error("entries " + std::to_string(asked) + " to " + std::to_string(least) +
                               " were promised, " + std::to_string(shown.first) + " to " +
                               std::to_string(shown.last()) + " are there");
    return shown;
  }

  // In the format of CWal, sequences are counted from the start of the file. So each possible last
  // rotation is tried.
  Shown judge_cwal(const Shown& shown, const Promises_Of_Log& promises, std::uint64_t least,
                   std::uint64_t asked, std::uint64_t appended) const {
    for (std::uint64_t first = 1; first <= appended + 1; ++first) {
      const std::uint64_t last = first + shown.entries.size() - 1;
      if (last > appended || (least >= asked && least > 0 && (first > asked || last < least)))
        continue;
      bool is_same = true;
      for (std::size_t i = 0; i < shown.entries.size() && is_same; ++i) {
        const std::string* const entry = promises.entry(first + i);
        is_same = entry != nullptr && *entry == shown.entries[i];
      }
      if (is_same) return shown;
    }
    throw std::runtime_error(
        "the entries that are shown were not appended in this order, or some "
        "that were promised are missing");
  }

  void check(const Image& image, const Promises_Of_Log& promises, std::size_t time, bool is_power,
             int depth) {
    ++counts_.images;
    State_Hash hash = hash_of(image);
    hash.low ^= promises.at(Promises_Of_Log::durable, time) * 0x9e3779b97f4a7c15;
    hash.high ^= promises.at(Promises_Of_Log::rotation_asked, time) * 31 + (is_power ? 1 : 2);
    if (!states_.insert(hash)) return;
    const Shown shown = judge(image, promises, time, is_power);
    // An entry that a recovery has found may be in only one copy until the other copies are
    // repaired.
    if (setup_.kind == Kind::copies && depth == 1) check_copies(image, promises, time, is_power);
    recover(image, shown, promises, time, is_power, depth);
  }

  // Checks the entries that a reader returns if a random set of copies cannot be opened. Skips the
  // check if durable entries may be lost, because too many copies are unopened, absent or empty.
  void check_copies(const Image& image, const Promises_Of_Log& promises, std::size_t time,
                    bool is_power) {
    const std::uint64_t missing = 1 + random_.below((std::size_t{1} << setup_.copies) - 1);
    std::size_t lost = 0;
    for (std::size_t i = 0; i < setup_.copies; ++i) {
      const auto copy = image.find(copy_name(i));
      if ((missing >> i & 1) != 0 || copy == image.end() || copy->second.empty()) ++lost;
    }
    if (lost >= setup_.needed) return;
    judge(image, promises, time, is_power, missing);
  }

  // A writer opens the image, and continues to write.
  void recover(const Image& image, const Shown& before, const Promises_Of_Log& promises,
               std::size_t time, bool is_power, int depth) {
    ++counts_.recoveries;
    Sim_Directory directory(image);
    Promises_Of_Log next(before.first, before.entries);
    if (setup_.kind == Kind::segments)  // released entries stay so, even if a reader returns them
      next.note(Promises_Of_Log::rotation_asked, promises.at(Promises_Of_Log::rotation_asked, time),
                0);
    Random random(seed_ ^ counts_.recoveries);
    const std::string where = where_;
    try {
      continue_after(directory, next, random, is_power, depth);
      continue_without_copy(directory, next, random);
    } catch (const Exception& error) {
      // In the format of CWal, the effect of a power cut cannot be distinguished from damage. A log
      // whose creation was interrupted may be refused if it had no entries.
      const bool may_refuse = setup_.options.format == Format::cwal || !before.refusal.empty();
      if (!may_refuse)
        throw std::runtime_error(std::string("a program is refused: ") + error.what());
      judge(directory.contents(), promises, time, is_power);
      return;
    }
    judge(directory.contents(), next, directory.time(), false);
    if (!setup_.is_concurrent && depth < 2 && random.below(24) == 0) {
      const Lab_Effort effort = effort_;
      effort_ = {.all_subsets_up_to = 6, .random_subsets = 200, .depth = 2};
      explore(directory, next, depth + 1);
      effort_ = effort;
    }
    where_ = where;
  }

  void continue_after(Sim_Directory& directory, Promises_Of_Log& promises, Random& random,
                      bool is_power, int depth) {
    if (!setup_.is_concurrent)
      return Log_Scenario(directory, setup_, promises, random).run(2 + random.below(5));
    const bool crashes = depth < 2 && random.below(24) == 0;
    const bool is_whole = depth == 1 && !is_power;
    Concurrent_Run(directory, setup_, promises, random, is_whole).run([&] {
      if (crashes) crash_now(directory, promises, depth + 1);
    });
  }

  // If the other copies may be enough, the next process cannot open one of the copies. Later, this
  // copy can be opened again.
  void continue_without_copy(Sim_Directory& directory, Promises_Of_Log& promises,
                             Random& random) const {
    if (setup_.kind != Kind::copies || setup_.needed != 2) return;
    promises.note(Promises_Of_Log::flushed, promises.last(),
                  directory.time());  // by the destructor
    const std::uint64_t missing = std::uint64_t{1} << random.below(setup_.copies);
    Log_Scenario(directory, setup_, promises, random, missing).run(2 + random.below(5));
  }

  // ---- damage -----------------------------------------------------------------------------------

  // Removes each segment in turn, and damages each in turn. No reader or writer may continue past
  // the gap.
  void damage_segments(const Sim_Directory& whole, const Promises_Of_Log& promises) {
    Random random(seed_ + 1);
    const Image image = whole.contents();
    const Shown before = read(image, setup_);
    const std::string newest = newest_segment(image);
    for (const auto& [name, content] : image) {
      Image damaged = image;
      damaged.erase(name);
      where_ = name + " was removed";
      if (name != newest)
        check_gap(damaged, before, promises, false);  // a missing newest segment is not detected
      if (content.size() <= wal::log_start) continue;
      damaged[name] = content;
      damaged[name][wal::log_start + random.below(content.size() - wal::log_start)] ^= 1;
      where_ = name + " was damaged";
      check_gap(damaged, before, promises, name == newest);
    }
  }

  static std::string newest_segment(const Image& image) {
    Sim_Directory directory(image);
    return wal::list_segments(directory).segments.back().name;
  }

  void check_gap(const Image& image, const Shown& before, const Promises_Of_Log& promises,
                 bool is_newest) const {
    const Shown shown = read(image, setup_);  // throws if an entry does not follow
    if (!shown.refusal.empty()) return;
    if (!shown.entries.empty() && shown.first > before.first)
      throw std::runtime_error("a reader begins behind a gap");
    for (std::uint64_t s = shown.first; s <= shown.last(); ++s)
      if (const auto* const entry = promises.entry(s);
          entry == nullptr || *entry != shown.entries[s - shown.first])
        throw std::runtime_error("a reader shows a damaged entry");
    if (is_newest || shown.last() >= before.last()) return;
    try {
      Sim_Directory directory(image);
      wal::Segmented_Writer(directory, setup_.options, setup_.segments);
    } catch (const Corruption_Error&) {
      return;
    }
    throw std::runtime_error("a writer goes on behind a gap");
  }

  // ---- errors -----------------------------------------------------------------------------------

  // Runs the workload again for each call and each kind of fault. The call fails once or
  // permanently.
  void fail_calls(const Sim_Directory& whole, std::uint64_t seed) {
    constexpr int codes[] = {EIO, ENOSPC, EDQUOT, EROFS};
    for (std::size_t index = 0; index < whole.files().size(); ++index)
      for (const auto calls :
           {Sim_Fault::Calls::writes, Sim_Fault::Calls::syncs, Sim_Fault::Calls::truncations,
            Sim_Fault::Calls::reads, Sim_Fault::Calls::opens, Sim_Fault::Calls::sizes}) {
        const std::size_t count = whole.files()[index].node->count(calls);
        for (std::size_t number = 0; number < count; ++number)
          for (const bool lasts : {false, true})
            fail_call(index,
                      {calls, number, codes[number % std::size(codes)], lasts,
                       static_cast<double>(random_.below(3)) / 2},
                      seed);
      }
  }

  void fail_call(std::size_t index, const Sim_Fault& fault, std::uint64_t seed) {
    ++counts_.faults;
    fault_ = "fault: file " + std::to_string(index) + ", kind of call " +
             std::to_string(static_cast<int>(fault.calls)) + ", number " +
             std::to_string(fault.number) + (fault.lasts ? ", for ever; " : ", once; ");
    where_ = fault_;
    Sim_Directory directory({});
    Promises_Of_Log promises(1, {});
    directory.set_fault(index, fault);
    try {
      live(directory, promises, seed);
    } catch (const Exception&) {
      if (!directory.has_failed()) throw;
    }
    directory.remove_faults();
    std::vector<Sim_State> states = directory.states();
    where_ = fault_ + "killed";
    check(directory.contents(), promises, directory.time(), false, 2);
    if (setup_.options.format == Format::cwal)
      return fault_.clear();  // a failed sync leaves pieces of entries
    const Lab_Effort effort = effort_;
    effort_ = {.all_subsets_up_to = 4, .random_subsets = 100, .depth = 2};
    cut_power(directory, promises, states, directory.time(), 2);
    effort_ = {.all_subsets_up_to = 2, .random_subsets = 20, .depth = 2};
    if (fault.calls == Sim_Fault::Calls::syncs || fault.calls == Sim_Fault::Calls::writes)
      continue_without_reboot(directory, promises, std::move(states));
    effort_ = effort;
    fault_.clear();
  }

  // The next process opens the log while the page cache still has bytes that are not on the disk,
  // as if they had been written. Then the power fails.
  void continue_without_reboot(Sim_Directory& directory, const Promises_Of_Log& promises,
                               std::vector<Sim_State> states) {
    const Shown shown = read(directory.contents(), setup_);
    if (!shown.refusal.empty()) return;
    Promises_Of_Log next = promises.after_crash(shown.last());
    const std::size_t start = directory.time();
    Random random(seed_ ^ ++counts_.recoveries);
    fault_ += "opened again without a reboot; ";
    where_ = fault_;
    Log_Scenario(directory, setup_, next, random).run(2 + random.below(4));
    for (std::size_t i = states.size(); i < directory.files().size(); ++i)
      states.push_back(directory.files()[i].node->start());
    for (std::size_t time = start + 1; time <= directory.time(); ++time) {
      advance(states, directory, time);
      cut_power(directory, next, states, time, 2);
    }
  }

  // ---- damage -----------------------------------------------------------------------------------

  // Changes a byte of an entry. The next writer must refuse the log, or continue; then all other
  // entries must be in the log, or in the file in which the writer has saved them.
  void damage_entries(const Sim_Directory& directory, const Promises_Of_Log& promises) {
    if (setup_.options.format == Format::cwal || setup_.kind == Kind::segments) return;
    const Image closed = directory.contents();
    require_mark(closed, promises);
    for (int i = 0; i < 40; ++i) {
      ++counts_.faults;
      damage_entry(i % 2 == 0 ? closed : image_at(directory, random_.below(directory.time())));
    }
  }

  // Returns the files after a process was killed at `time`.
  static Image image_at(const Sim_Directory& directory, std::size_t time) {
    std::vector<Sim_State> states = directory.start();
    for (std::size_t t = 1; t <= time; ++t) advance(states, directory, t);
    return image_of(states, directory, time);
  }

  void damage_entry(Image image) {
    const Shown before = read(image, setup_);
    std::size_t size = 0;
    for (const auto& [name, content] : image) size = std::max(size, content.size());
    if (size <= wal::log_start || before.entries.empty()) return;
    const std::size_t offset = wal::log_start + random_.below(size - wal::log_start);
    const auto bits = static_cast<char>(1 + random_.below(255));
    where_ = "byte " + std::to_string(offset) + " is damaged";
    for (auto& [name, content] : image)
      if (offset < content.size()) content[offset] = static_cast<char>(content[offset] ^ bits);
    Sim_Directory directory(image);
    try {
      const wal::Writer log(open_log(directory, setup_, Open_Mode::write_existing));
    } catch (const Corruption_Error&) {
      if (directory.contents() != image)
        throw std::runtime_error("a writer has changed a log that it refuses");
      return;
    }
    require_entries(directory.contents(), before);
  }

  // Checks that a log that all processes have closed records the last durable entry.
  void require_mark(const Image& image, const Promises_Of_Log& promises) const {
    Sim_Directory directory(image);
    const std::uint64_t durable = promises.at(Promises_Of_Log::durable, std::size_t(-1));
    const wal::Report report =
        wal::examine(*open_log(directory, setup_, Open_Mode::write_existing));
    if (std::max(report.known_durable, report.first_sequence - 1) < durable)
      throw std::runtime_error("a closed log does not say what is durable");
  }

  // ---- a full disk ------------------------------------------------------------------------------

  // Checks that operations that need no new block succeed: opening the log, appending in its
  // blocks, and rotating it.
  void fill_disk(std::uint64_t seed) {
    if (setup_.options.format == Format::cwal || setup_.kind == Kind::segments) return;
    ++counts_.faults;
    where_ = "full disk";
    Sim_Directory directory({});
    Promises_Of_Log promises(1, {});
    live(directory, promises, seed);
    directory.fill();
    const Sim_Node& node = *directory.files()[0].node;
    const auto has = [&](Offset offset) { return node.has_block(offset); };
    if (!has(wal::log_start)) return;  // there was never an entry
    wal::Options options = setup_.options;
    options.batch_size = 0;
    options.preallocate = 1 << 16;
    for (const bool rotates : {false, true, true}) {
      wal::Writer log(open_log(directory, setup_, Open_Mode::write_existing), options);
      if (rotates) log.rotate();
      const Offset offset = log.position().offset;
      if (!has(offset) || !has(offset + 2 * static_cast<Offset>(wal::padded_size(8)))) continue;
      log.append("12345678");
      log.sync();
    }
  }

  // Checks that all entries but one are in the log, or in files that a writer has saved.
  void require_entries(const Image& image, const Shown& before) const {
    std::set<std::uint64_t> there;
    const Shown after = read(image, setup_);
    for (std::uint64_t s = after.first; s <= after.last(); ++s) there.insert(s);
    for (const auto& [name, content] : image) {
      if (name.find(".tail-") == name.npos) continue;
      const Readonly_Memory_File file(content);
      if (const auto found = wal::read_header(file))
        wal::find_later_entries(file, found->header, wal::examine(file).end.position,
                                [&](const wal::Later_Entry& entry) {
                                  if (!is_marker(entry.header)) there.insert(entry.header.sequence);
                                });
    }
    std::size_t missing = 0;
    for (std::uint64_t s = before.first; s <= before.last(); ++s) missing += there.count(s) == 0;
    if (missing > 1)
      throw std::runtime_error("a writer has erased " + std::to_string(missing - 1) +
                               " good entries behind one that was damaged");
  }

  const Attacks& attacks_ = settings_.attacks;
  Lab_Effort effort_ = settings_.effort;
  Setup setup_;
  std::string fault_;  // description of the fault, the prefix of where_
  std::string where_;
};

}  // namespace

std::unique_ptr<World> make_wal_world(const World::Context& context) {
  return std::make_unique<Wal_World>(context);
}

}  // namespace joedb::testing
