#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <iostream>
#include <optional>

#include "joedb/table/load.h"
#include "kernel/base/interrupts.h"
#include "kernel/table/snapshot_file.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/json_output.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/memory_limit.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/snapshot_files.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

using Clock = std::chrono::steady_clock;

struct Snapshot_Options {
  std::string options_file;
  Moment_Options moment;
  std::optional<std::int64_t> every;  // in MB, between kept snapshots
  std::optional<std::int64_t> keep;   // number of snapshots to keep
  Memory_Limit memory;
};

// A snapshot file that has been written.
struct Written {
  std::string name;
  Offset position;
  Offset size;
};

class Snapshot_Maker {
 public:
  Snapshot_Maker(File& file, const Snapshot_Options& options)
      : file_(file),
        options_(options),
        journal_(file),
        database_(new_database()),
        memory_(options.memory) {
    // Make the last hard checkpoint durable, because its writer may die before it syncs.
    file.datasync();
  }

  Offset hard_checkpoint() const { return journal_.get_hard_checkpoint(); }
  Offset checkpoint() const { return journal_.get_checkpoint(); }

  // Writes a snapshot of the last hard checkpoint. Returns an empty vector if this snapshot exists.
  std::vector<Written> make_newest() {
    const Offset end = hard_checkpoint();
    begin_at_snapshot(end);
    if (has_newest(end) && !database_.snapshot_report().is_for_others) return {};
    replay_to(end);
    if (options_.keep) keep_previous();
    written_.push_back(write(false));
    if (options_.keep) remove_oldest(*options_.keep);
    return std::move(written_);
  }

  // Writes a snapshot of a past state.
  std::vector<Written> make_past(Offset end) {
    require_hard(end);
    begin_at_snapshot(end);
    replay_to(end);
    require_entry_end(journal_, end);
    written_.push_back(write(true));
    return std::move(written_);
  }

  // Writes snapshots at intervals of `size` bytes in the journal, starting after the last kept one.
  std::vector<Written> make_every(Offset size) {
    const std::vector<Offset> kept = kept_snapshots(file_);
    Offset next = (kept.empty() ? journal_start : kept.back()) + size;
    if (next <= hard_checkpoint()) begin_at_snapshot(next);
    for (; next <= hard_checkpoint(); next = journal_.get_replay_position() + size) {
      replay_to(next);
      if (journal_.get_replay_position() > hard_checkpoint()) break;
      written_.push_back(write(true));
    }
    if (options_.keep) remove_oldest(*options_.keep);
    return std::move(written_);
  }

 private:
  // Creates a database with the indexes in the options; without these, with those of the existing
  // snapshot.
  Database new_database() const {
    std::vector<Index_Definition> indexes;
    try {
      indexes = options_.options_file.empty() ? snapshot_indexes(file_)
                                              : read_indexes(options_.options_file, file_);
    } catch (const Corruption_Error&) {  // the damaged snapshot will be replaced
    }
    Database database;
    for (Index_Definition& index : indexes) database.add_index(std::move(index));
    return database;
  }

  void require_hard(Offset end) const {
    if (end <= hard_checkpoint()) return;
    throw Exception("position " + std::to_string(end) + " is after the last hard checkpoint, at " +
                    std::to_string(hard_checkpoint()) +
                    ": a power cut could still remove the entries before it");
  }

  Offset begin_at_snapshot(Offset limit) {
    if (const auto place = restore_snapshot(database_, file_, limit, Trust::verified))
      journal_.resume(*place);
    print_snapshot_remark(database_);
    return journal_.get_replay_position();
  }

  // Replays to the first end of an entry that is not before `end`.
  void replay_to(Offset end) {
    database_.limit_to_journal_of(journal_.get_checkpoint());
    replay_with_progress(journal_, database_, "reading " + file_.get_name(), end,
                         [&] { memory_.keep(database_, journal_); });
    database_.remove_limits();
  }

  Written write(bool is_kept) const {
    const Replay_Place place = journal_.get_replay_place();
    const Stop_Signal stop;
    const std::function<void()> look = [&] { stop.require_none("no snapshot was written"); };
    if (!interruptibly(look, [&] { return write_snapshot(database_, file_, place, is_kept); }))
      throw Exception("another process is writing a snapshot of it");
    const std::string suffix = snapshot_suffix(is_kept ? place.position : 0);
    return {file_.get_name() + suffix, place.position,
            file_.beside()->open(suffix, Open_Mode::read_existing)->get_size()};
  }

  // Returns true if the newest snapshot has this position, matches the file, and was used.
  bool has_newest(Offset position) const {
    if (database_.snapshot_report().position != position) return false;
    for (const Snapshot_Beside& beside : snapshots_beside(file_))
      if (beside.name == file_.get_name() + snapshot_suffix())
        return beside.snapshot != nullptr && beside.position == position &&
               beside.snapshot->is_of_file(file_);
    return false;
  }

  void keep_previous() const {
    const Offset position = database_.snapshot_report().position;
    if (position == 0) return;
    const std::vector<Offset> kept = kept_snapshots(file_);
    if (std::find(kept.begin(), kept.end(), position) == kept.end())
      file_.beside()->rename(snapshot_suffix(), snapshot_suffix(position));
  }

  void remove_oldest(std::int64_t most) const {
    const std::vector<Offset> kept = kept_snapshots(file_);
    for (std::size_t i = 0; i + static_cast<std::size_t>(most) < kept.size(); ++i)
      file_.beside()->remove_durably(snapshot_suffix(kept[i]));
  }

  File& file_;
  const Snapshot_Options& options_;
  Readonly_Journal journal_;
  Database database_;
  std::vector<Written> written_;
  Memory_Limit memory_;
};

// Makes the last checkpoint a hard one if it is soft. Returns the reason if that fails.
std::string try_to_make_hard(const std::string& name) {
  try {
    {
      File file(name, Open_Mode::read_existing);
      const Readonly_Journal journal(file);
      if (journal.get_hard_checkpoint() >= journal.get_checkpoint()) return "";
    }
    File file(name, Open_Mode::shared_write, busy_timeout());
    Writable_Journal journal(file);
    journal.lock_pull();
    journal.hard_checkpoint();
    journal.unlock();
    return "";
  } catch (const Exception& error) {
    return error.what();
  }
}

void report_soft_checkpoint(const Snapshot_Maker& maker, const std::string& name,
                            const std::string& reason) {
  if (maker.hard_checkpoint() >= maker.checkpoint()) return;
  std::cerr << name << ": its last checkpoint, at " << maker.checkpoint()
            << ", is soft; a snapshot is of the last hard one, at " << maker.hard_checkpoint()
            << ". End the program that writes it, or let it write a hard checkpoint, and repeat "
               "this"
            << (reason.empty() ? "" : ": ") << reason << '\n';
}

// ---- what there is ------------------------------------------------------------------------------

void print_list(const File& file, bool is_json) {
  Json json = Json::array();
  for (const Snapshot_Beside& s : snapshots_beside(file)) {
    if (is_json)
      json.push_back({{"name", s.name},
                      {"position", s.position},
                      {"bytes", s.size},
                      {"remark", s.remark.empty() ? Json() : Json(s.remark)}});
    else if (s.remark.empty())
      std::cout << s.name << ": position " << s.position << ", " << s.size << " bytes\n";
    else
      std::cout << s.name << ": " << s.size << " bytes, not used: " << s.remark << '\n';
  }
  if (is_json) print_json(json);
}

void print_written(const std::vector<Written>& all, double seconds, bool is_json) {
  Json json = Json::array();
  for (const Written& w : all) {
    if (is_json)
      json.push_back({{"name", w.name}, {"position", w.position}, {"bytes", w.size}});
    else
      std::cout << w.name << ": position " << w.position << ", " << w.size << " bytes\n";
  }
  if (is_json) return print_json({{"written", json}, {"seconds", seconds}});
}

const char* const snapshot_details =
    R"(With a snapshot, FILE.snapshot, a database opens in a millisecond, regardless of its size: the
tables are mapped from the snapshot, and only later entries are read from FILE. Programs and tools
use it automatically. It is only a cache: FILE has all data, and a snapshot that does not match is
ignored. Programs that write FILE replace the snapshot when it is out of date.

A snapshot is taken at the last hard checkpoint; a soft one is made hard before. It contains the
indexes of the previous snapshot, or those of --options; a program uses a snapshot only if it has
all indexes of the program. FILE may be in use meanwhile.

Past states (joedbi --at, at() in C++) open fast if a kept snapshot, FILE.snapshot-POSITION, is
shortly before them. Snapshots made with --at and --every are kept.

Exit code 1 if a snapshot could not be written.
)";

}  // namespace

int run_snapshot(std::vector<std::string> arguments) {
  Options options({"joedb_snapshot [options] FILE",
                   "Writes a snapshot that makes a database open at once, regardless of its size.",
                   snapshot_details,
                   "  joedb_snapshot people.joedb\n"
                   "  joedb_snapshot --options people.joedbc people.joedb\n"
                   "  joedb_snapshot --every 1000 --keep 10 people.joedb\n"
                   "  joedb_snapshot --list people.joedb\n"});
  Snapshot_Options wanted;
  bool is_list = false, is_removal = false, is_json = false;
  add_index_option(options, wanted.options_file);
  add_moment_options(options, wanted.moment);
  options.add("--every", wanted.every, "keep snapshots of past states, one every N MB of FILE",
              {.min = 1, .max = std::int64_t{1} << 40});
  options.add("--keep", wanted.keep,
              "keep at most N snapshots of past states: the oldest are removed, and the newest "
              "snapshot is kept as one of them when it is replaced",
              {.min = 0, .max = 1'000'000});
  wanted.memory.add_to(options);
  options.add_flag("--list", is_list, "list the snapshots of FILE");
  options.add_flag("--remove", is_removal, "remove the snapshots of FILE");
  add_json_option(options, is_json);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = words->take_last_name();
  if (is_list && is_removal) words->fail("--list and --remove exclude each other");
  if (wanted.every && wanted.moment.is_given()) words->fail("--every and --at exclude each other");

  const std::string reason = is_list || is_removal ? "" : try_to_make_hard(name);
  File file(name, Open_Mode::read_existing);
  if (is_list) {
    print_list(file, is_json);
  } else if (is_removal) {
    for (const std::string& suffix : remove_snapshots(file))
      std::cout << name << suffix << ": removed\n";
  } else {
    const auto start = Clock::now();
    const std::vector<Written> written = name_file_in_errors(name, [&] {
      Snapshot_Maker maker(file, wanted);
      report_soft_checkpoint(maker, name, reason);
      if (wanted.every) return maker.make_every(*wanted.every * 1'000'000);
      if (wanted.moment.is_given())
        return maker.make_past(find_position(file, wanted.moment.get()));
      return maker.make_newest();
    });
    print_written(written, std::chrono::duration<double>(Clock::now() - start).count(), is_json);
    if (written.empty() && !is_json) std::cout << name << ": nothing new\n";
  }
  finish_standard_output();
  return 0;
}

}  // namespace joedb
