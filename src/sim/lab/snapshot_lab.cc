#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "joedb/base/types.h"
#include "joedb/io/mapped_file.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/snapshot_file.h"
#include "kernel/table/snapshot_header.h"
#include "kernel/table/snapshot_source.h"
#include "sim/lab/database_text.h"
#include "sim/lab/random_changes.h"
#include "sim/lab/sim_file.h"
#include "sim/lab/world.h"

namespace joedb::testing {

namespace {

using Calls = Sim_Fault::Calls;

constexpr const char* newest_name = ".snapshot";
constexpr const char* unfinished = ".snapshot.tmp";

// The options with which a program opens the database.
struct Opening {
  Deleted_Values deleted_values = Deleted_Values::keep;
  std::vector<Index_Definition> indexes = {};
  Recovery recovery = Recovery::none;
  Offset end = 0;  // 0 means the checkpoint

  Database make() const {
    Database database(deleted_values);
    for (const Index_Definition& index : indexes) database.add_index(index);
    return database;
  }
  std::string text() const {
    return std::string(deleted_values == Deleted_Values::keep ? "a tool" : "a program") + " with " +
           std::to_string(indexes.size()) + " indexes, recovery mode " +
           std::to_string(static_cast<int>(recovery)) +
           (end == 0 ? "" : ", at " + std::to_string(end));
  }
};

// The result of opening the database.
struct Found {
  std::string text;
  std::string refusal = {};
  Snapshot_Report report = {};
};

Found read(Sim_Disk& disk, const Opening& opening) {
  Found found;
  Database database = opening.make();
  try {
    Sim_File file(disk, Open_Mode::read_existing);
    Readonly_Journal journal(file, opening.recovery);
    if (opening.end == 0)
      load(database, journal);
    else
      load(database, journal, opening.end);
    found.text = full_content_text(database);
  } catch (const Unique_Violation&) {
    // The text excludes indexes, because the order of records that are not in an index yet is
    // unspecified.
    found.text = "a key twice\n" + content_text(database);
  } catch (const Exception& error) {
    found.text = "refused";
    found.refusal = error.what();
  }
  found.report = database.snapshot_report();
  return found;
}

// Returns the first line that differs, as it is in both texts.
std::string difference(std::string_view a, std::string_view b) {
  std::size_t start = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    if (a[i] == '\n') start = i + 1;
  const auto line = [&](std::string_view text) {
    return std::string(
        text.substr(start, std::min<std::size_t>(text.find('\n', start), start + 300) - start));
  };
  return "with:    " + line(a) + "\nwithout: " + line(b) + "\n";
}

class Snapshot_World final : public World {
 public:
  explicit Snapshot_World(const Context& context) : World(context) {
    program_.deleted_values = random_.flip() ? Deleted_Values::keep : Deleted_Values::reset;
    program_.indexes = Random_Changes::indexes(random_);
    disk_ = std::make_unique<Sim_Disk>();
    // In half of the schedules, opening a database verifies no whole snapshot and compares no whole
    // journal.
    sees_damage_ = random_.flip();
    if (!sees_damage_) verified_at_opening = compared_at_opening = 0;
    is_long_ = chance(30);
  }

  void run() override {
    for (std::size_t lives = 1 + random_.below(5); lives > 0; --lives) {
      live();
      disk_->directory().faults().remove();
      disk_->remove_fault();
      check();
      if (chance(30)) {
        cut_power();
        check();
      }
      for (std::size_t n = random_.below(3); n > 0; --n) {
        change_from_outside();
        check();
      }
    }
  }

  ~Snapshot_World() override {
    verified_at_opening = usually_verified_;
    compared_at_opening = usually_compared_;
  }

  std::string details() const override { return trace_; }
  std::string replay() const override { return "--snapshots " + seed_argument(); }
  std::string operations() const override { return {}; }  // the operations are in the details

 private:
  void note(const std::string& text) { trace_ += text + "\n"; }
  [[noreturn]] void fail(const std::string& text) const { throw Broken_Rule(text); }

  // ---- processes

  void live() {
    if (chance(25)) set_fault();
    switch (random_.below(8)) {
      default:
        return write_alone();
      case 0:
        return write_shared();
      case 1:
        return refresh(random_, {});
      case 2:
        return keep_past();
      case 3:
        return refresh_by_other();
    }
  }

  void set_fault() {
    constexpr Calls kinds[] = {Calls::reads, Calls::opens,       Calls::sizes, Calls::writes,
                               Calls::syncs, Calls::truncations, Calls::names};
    const Sim_Fault fault{kinds[random_.below(std::size(kinds))], random_.below(8),
                          chance(50) ? EIO : ENOSPC, random_.flip(),
                          static_cast<double>(random_.below(3)) / 2};
    const bool is_of_journal = chance(20);
    if (is_of_journal)
      disk_->set_fault({Calls::syncs, disk_->count(Calls::syncs) + random_.below(8)});
    else
      disk_->directory().faults().set(
          {fault.calls, disk_->directory().faults().count(fault.calls) + fault.number, fault.code,
           fault.lasts, fault.part_written});
    note(std::string("a fault of ") + (is_of_journal ? "the journal" : "a file beside"));
  }
  bool has_failed() const {
    return disk_->has_failed() || disk_->directory().faults().has_failed();
  }

  // Runs a process that may be killed. Other errors are allowed only after faults.
  void run_process(Sim_File& file, const char* what, const std::function<void()>& work) {
    note(what);
    file.process().counts_other_files = true;
    if (chance(30)) file.kill_after(random_.below(chance(50) ? 12 : 60));
    try {
      work();
    } catch (const Sim_Killed&) {
      note_kill();
    } catch (const Corruption_Error& error) {
      // A journal without a hard checkpoint may be refused. check() detects if a snapshot is the
      // cause.
      note("  it is refused: " + std::string(error.what()));
    } catch (const Exception& error) {
      if (file.is_killed()) return note_kill();  // Sim_Killed was caught on the way
      if (!has_failed()) throw;
      note("  it ends with: " + std::string(error.what()));
    }
  }
  void note_kill() {
    ++counts_.kills;
    note("  killed");
  }

  std::unique_ptr<Sim_File> open_alone() {
    constexpr Open_Mode mode = Open_Mode::write_existing_or_create_new;
    if (chance(30)) return std::make_unique<Mapped<Sim_File>>(700, *disk_, mode);
    return std::make_unique<Sim_File>(*disk_, mode);
  }

  Journal_Options options() {
    constexpr Recovery modes[] = {Recovery::overwrite, Recovery::overwrite, Recovery::keep,
                                  Recovery::hard};
    Journal_Options options = modes[random_.below(std::size(modes))];
    options.has_seals = chance(70);
    options.has_integrity = chance(50);
    if (chance(30)) options.preallocation = 700;
    return options;
  }

  void write_alone() {
    const std::unique_ptr<Sim_File> file = open_alone();
    std::optional<Sim_Directory::Contents> before_closing;
    run_process(*file, "a writer", [&] {
      Writable_Database db(*file, options(), program_.deleted_values, program_.indexes);
      if (chance(20)) db.enable_integrity();
      if (chance(40)) db.set_snapshot_due_bytes(1 + static_cast<Offset>(random_.below(500)));
      if (is_long_) lengthen(db);
      for (std::size_t acts = 1 + random_.below(12); acts > 0; --acts) act(db, *file, true);
      if (chance(50)) write_snapshot(db, *file);
      before_closing = disk_->beside();
    });
    // Closing may have written another snapshot.
    if (before_closing && !has_failed() && !file->is_killed() &&
        (*before_closing)[newest_name] != disk_->beside()[newest_name])
      require_durable();
  }

  // Makes the journal longer than its samples, which are 8 times 4 KiB.
  void lengthen(Writable_Database& db) {
    Random_Changes changes(random_, Random_Changes::Indexes::declared);
    for (int i = 0; i < 8; ++i) {
      db.write(Comment{std::string(3000 + random_.below(6000), 'l')});
      changes.change_text(db, 100 + random_.below(3000));
    }
  }

  void act(Writable_Database& db, Sim_File& file, bool may_nest) {
    Random_Changes changes(random_, Random_Changes::Indexes::declared);
    switch (random_.below(may_nest ? 12 : 7)) {
      case 0:
        return db.soft_checkpoint();
      case 1:
        return hard_checkpoint(db);
      case 2:
        return db.rollback();
      case 7:
        return write_snapshot(db, file);
      case 8:
        return write_in_background(db);
      case 9:
        return keep_present(db, file);
      case 10:
        // Another process writes a new snapshot, and meanwhile this writer continues.
        return refresh(random_, [&] {
          for (std::size_t acts = 1 + random_.below(4); acts > 0; --acts) act(db, file, false);
        });
      default:
        for (std::size_t n = 1 + random_.below(8); n > 0; --n) changes.change(db);
        if (chance(10)) db.flush();
    }
  }

  void hard_checkpoint(Writable_Database& db) {
    db.hard_checkpoint();
    if (!is_nested_) backups_.push_back(disk_->durable());
  }

  // While this process writes a snapshot, another process may try to write one.
  void interrupt(Sim_File& file) {
    if (is_nested_ || !chance(30)) return;
    file.process().changes_until_call = random_.below(10);
    file.process().call = [this] {
      is_nested_ = true;
      refresh(random_, {});
      is_nested_ = false;
    };
  }

  void write_snapshot(Writable_Database& db, Sim_File& file) {
    const std::string before = full_content_text(db.get_database());
    bool is_written = false;
    interrupt(file);
    try {
      is_written = db.write_snapshot();
    } catch (const Exception& error) {
      file.process().call = nullptr;
      if (file.is_killed() || !has_failed()) throw;
      ++counts_.failed;
      note("  a snapshot fails: " + std::string(error.what()));
    }
    file.process().call = nullptr;
    if (const std::string after = full_content_text(db.get_database()); after != before)
      fail("writing a snapshot has changed the database\n" + difference(after, before));
    if (is_written) note_snapshot(db.get_journal().get_hard_checkpoint());
  }

  void write_in_background(Writable_Database& db) {
    const Offset hard = db.get_journal().get_hard_checkpoint();
    try {
      db.write_snapshot_in_background();
      db.wait_for_snapshot();
    } catch (const Exception& error) {
      if (!has_failed()) throw;
      ++counts_.failed;
      return note("  a background snapshot fails: " + std::string(error.what()));
    }
    note_snapshot(hard);
  }

  // Writes a kept snapshot, which newer snapshots do not replace.
  void keep_present(Writable_Database& db, Sim_File& file) {
    db.hard_checkpoint();
    try {
      if (!joedb::write_snapshot(db.get_database(), file, db.get_journal().get_replay_place(),
                                 true))
        return;
      ++counts_.kept;
      note("  a kept snapshot at " + std::to_string(db.get_journal().get_checkpoint()));
    } catch (const Exception&) {
      if (!has_failed()) throw;
      ++counts_.failed;
    }
  }

  // Runs a reader that writes a snapshot of the last hard checkpoint. `meanwhile` is called once
  // while it works.
  void refresh(Random& random, const std::function<void()>& meanwhile) {
    refresh(random, meanwhile, program_, false);
  }
  void refresh_by_other() {
    // The program may be unable to use a snapshot that was written with other options.
    const Opening other = any_opening();
    sure_position_ = 0;
    refresh(random_, {}, other, false);
  }
  void keep_past() { refresh(random_, {}, program_, true); }

  void refresh(Random& random, const std::function<void()>& meanwhile, const Opening& opening,
               bool is_past) {
    if (disk_->content().empty()) return;
    Sim_File file(*disk_, Open_Mode::read_existing);
    if (meanwhile) {
      file.process().changes_until_call = random.below(8);
      file.process().call = meanwhile;
    }
    const char* const what = is_past ? "a reader keeps a past state" : "a reader refreshes";
    run_process(file, what, [&] {
      Readonly_Journal journal(file);
      Database database = opening.make();
      Offset end = journal.get_hard_checkpoint();
      if (is_past && !backups_.empty())
        end = std::min(end, static_cast<Offset>(random.below(static_cast<std::size_t>(end)) + 1));
      try {
        load(database, journal, end);
      } catch (const Unique_Violation& error) {
        Sim_Disk bare(disk_->content());
        Opening same = opening;
        same.end = end;
        if (read(bare, same).text.starts_with("a key twice")) return note("  a key twice");
        throw;
      } catch (const Exception&) {
        if (is_past) return;  // the position is inside an entry
        throw;
      }
      // The process may be killed after it has replaced the newest snapshot.
      if (!is_past) is_durable_ = false;
      if (!joedb::write_snapshot(database, file, journal.get_replay_place(), is_past)) {
        ++counts_.refused;
        return note("  another process is writing a snapshot");
      }
      if (is_past)
        ++counts_.kept;
      else if (&opening == &program_)
        note_snapshot(end, false);
    });
    file.process().call = nullptr;
  }

  // Two processes take turns.
  void write_shared() {
    Sim_File files[2] = {Sim_File(*disk_, Open_Mode::shared_write),
                         Sim_File(*disk_, Open_Mode::shared_write)};
    std::unique_ptr<Writable_Database> dbs[2];
    for (std::size_t turns = 1 + random_.below(6); turns > 0; --turns) {
      const std::size_t i = random_.below(2);
      Sim_File& file = files[i];
      if (file.is_killed()) continue;
      run_process(file, i == 0 ? "shared writer 0" : "shared writer 1", [&] {
        if (!dbs[i])
          dbs[i] = std::make_unique<Writable_Database>(file, Recovery::overwrite,
                                                       program_.deleted_values, program_.indexes);
        Writable_Database& db = *dbs[i];
        db.lock_pull();
        db.recover();
        Random_Changes changes(random_, Random_Changes::Indexes::declared);
        for (std::size_t n = random_.below(10); n > 0; --n) changes.change(db);
        if (chance(20))
          db.rollback();
        else if (chance(50))
          db.soft_checkpoint();
        else
          hard_checkpoint(db);
        if (db.ahead_of_checkpoint() == 0 && chance(50)) write_snapshot(db, file);
        db.unlock();
        const Writable_Journal& journal = db.get_journal();
        const bool is_hard = journal.get_hard_checkpoint() == journal.get_checkpoint();
        if (is_hard && db.ahead_of_checkpoint() == 0 && chance(20)) write_snapshot(db, file);
        if (!has_failed() && chance(30)) write_in_background(db);
      });
      if (has_failed()) break;
    }
  }

  // ---- checks

  // Records that the program has written a snapshot up to `position`, which is now the newest
  // snapshot, and durable. A reader cannot know whether a hard checkpoint that it finds is on the
  // disk. So after a power cut, the snapshot of a reader may have a state that was lost; only the
  // samples of the journal show this.
  void note_snapshot(Offset position, bool is_of_writer = true) {
    ++counts_.written;
    note("  a snapshot at " + std::to_string(position));
    // If a sync of the directory failed in another process, later processes get no error.
    const bool may_be_lost = disk_->directory().faults().has_failed();
    sure_position_ = disk_->beside().contains(newest_name) && !may_be_lost ? position : 0;
    is_durable_ = is_of_writer;
    if (is_of_writer && !may_be_lost) require_durable();
  }

  // Checks that after a power cut that loses every pending change, the journal still has the
  // content of the newest snapshot.
  void require_durable() {
    const auto files = disk_->directory().durable_contents();
    const auto found = files.find(newest_name);
    if (found == files.end()) fail("a snapshot that was written is not durable");
    const Replay_Place place = open_file(found->second)->place();
    if (place.position == journal_start) return;
    Readonly_Memory_File durable(disk_->durable());
    Offset hard = journal_start;
    try {
      hard = Readonly_Journal(durable, Recovery::hard).get_hard_checkpoint();
    } catch (const Exception&) {
    }
    if (place.position > hard)
      fail("a snapshot at " + std::to_string(place.position) +
           ", and the hard checkpoint on the disk is at " + std::to_string(hard));
    const auto size = static_cast<std::size_t>(place.position) - header_size;
    if (disk_->durable().compare(header_size, size, disk_->content(), header_size, size) != 0)
      fail("a snapshot of bytes that are not on the disk");
  }

  std::unique_ptr<Snapshot_File> open_file(const std::string& content) const {
    auto file = std::make_unique<Memory_File>();
    file->get_data().assign(content.begin(), content.end());
    return std::make_unique<Snapshot_File>(std::move(file));
  }

  Opening any_opening() {
    Opening opening;
    opening.deleted_values = random_.flip() ? Deleted_Values::keep : Deleted_Values::reset;
    if (random_.flip()) opening.indexes = program_.indexes;
    if (random_.flip()) opening.indexes = Random_Changes::indexes(random_);
    return opening;
  }

  // Opening does not detect all damage of a large snapshot; the content is unspecified then. But a
  // snapshot with correct hashes must be correct, even if it was derived from a damaged snapshot.
  void check() {
    if (disk_->content().empty()) return;
    if (!sees_damage_) remove_unsound();
    check(program_, true);
    Opening opening = any_opening();
    constexpr Recovery modes[] = {Recovery::none, Recovery::hard, Recovery::ignore_header};
    opening.recovery = modes[random_.below(std::size(modes))];
    if (chance(50)) opening.end = 1 + static_cast<Offset>(random_.below(disk_->content().size()));
    check(opening, false);
    opening = program_;
    opening.end = 1 + static_cast<Offset>(random_.below(disk_->content().size()));
    check(opening, false);
    if (chance(30)) check_with_fault();
    if (chance(40)) check_continuation(chance(60) ? program_ : any_opening());
  }

  void check(const Opening& opening, bool is_of_program) {
    Sim_Disk bare(disk_->content());
    const Found with = read(*disk_, opening), without = read(bare, opening);
    ++counts_.compared;
    if (with.report.position > 0) ++counts_.used;
    if (!with.report.remark.empty()) ++counts_.unfit;
    if (with.text != without.text)
      fail(opening.text() + " does not see the same; the snapshot was used up to " +
           std::to_string(with.report.position) + " " + with.report.remark + "\n" +
           difference(with.text + with.refusal, without.text + without.refusal));
    if (with.text != "refused" && is_of_program && sure_position_ > journal_start &&
        with.report.position < sure_position_)
      fail("the snapshot at " + std::to_string(sure_position_) +
           " is not used: " + with.report.remark + "; beside: " + other_files_text());
  }

  bool is_sound(const std::string& content) const {
    try {
      open_file(content)->verify();
      return true;
    } catch (const Corruption_Error&) {
      return false;
    }
  }
  void remove_unsound() {
    for (const auto& [name, content] : disk_->beside())
      if (name != unfinished && is_whole(content) && !is_sound(content))
        disk_->directory().put(name, "removed");
  }

  std::string other_files_text() const {
    std::string text;
    for (const auto& [name, content] : disk_->beside()) {
      text += name + ", " + std::to_string(content.size()) + " bytes";
      if (is_whole(content))
        text += " up to " + std::to_string(open_file(content)->place().position);
      text += "; ";
    }
    return text + "words " + words_text(disk_->content());
  }

  // Checks that a file beside the journal that cannot be read does not cause an error.
  void check_with_fault() {
    constexpr Calls kinds[] = {Calls::reads, Calls::opens, Calls::sizes, Calls::names};
    const Calls calls = kinds[random_.below(std::size(kinds))];
    const Offset sure = std::exchange(sure_position_, 0);
    disk_->directory().faults().set(
        {calls, disk_->directory().faults().count(calls) + random_.below(6), EIO, random_.flip()});
    check(program_, true);
    disk_->directory().faults().remove();
    sure_position_ = sure;
  }

  // Makes the same changes with and without the snapshot, and compares the results.
  void check_continuation(const Opening& opening) {
    ++counts_.continued;
    Sim_Disk with(disk_->content(), disk_->beside()), without(disk_->content());
    with.set_identity(disk_->identity());
    const std::uint64_t seed = random_.next();
    const std::string a = continue_run(with, opening, seed),
                      b = continue_run(without, opening, seed);
    if (a != b) fail("going on, " + opening.text() + " does not see the same\n" + difference(a, b));
    if (with.content() != without.content())
      fail("going on, " + opening.text() + " does not write the same");
  }

  static std::string continue_run(Sim_Disk& disk, const Opening& opening, std::uint64_t seed) {
    Random random(seed);
    Random_Changes changes(random, Random_Changes::Indexes::declared);
    try {
      Sim_File file(disk);
      Writable_Database db(file, Recovery::overwrite, opening.deleted_values, opening.indexes);
      for (std::size_t n = 1 + random.below(30); n > 0; --n) changes.change(db);
      db.hard_checkpoint();
      if (random.flip()) db.write_snapshot();
      for (std::size_t n = random.below(10); n > 0; --n) changes.change(db);
      db.soft_checkpoint();
      return full_content_text(db.get_database());
    } catch (const Exception& error) {
      return "refused";
    }
  }

  // ---- power cuts and changes from outside

  void cut_power() {
    ++counts_.power_cuts;
    note("power cut");
    disk_ = std::make_unique<Sim_Disk>(disk_->after_power_cut(random_.next()));
    if (!is_durable_) sure_position_ = 0;
    if (sure_position_ > journal_start && disk_->content().empty()) fail("the journal is lost");
  }

  // Replaces the journal by another file, which is renamed to the name of the journal (`is_moved`)
  // or copied into the journal.
  void replace_journal(std::string content, bool is_moved) {
    const File_Identity before = disk_->identity();
    disk_ = std::make_unique<Sim_Disk>(std::move(content), disk_->beside());
    disk_->set_identity({before.file + is_moved, before.change + 1});
    sure_position_ = 0;
  }

  void change_from_outside() {
    const Sim_Directory::Contents files = disk_->beside();
    const std::size_t what = random_.below(11);
    if (what == 0) {
      if (backups_.empty()) return;
      note("an old backup of the journal");
      const std::size_t number = random_.below(backups_.size());
      std::string backup = backups_[number];
      if (chance(50)) backup = grown(backup, disk_->content().size());
      replace_journal(std::move(backup), random_.flip());
    } else if (what == 1) {
      note("another journal of the same length");
      replace_journal(grown({}, disk_->content().size()), random_.flip());
    } else if (const auto found = files.find(newest_name); found != files.end()) {
      what == 10 ? replace_by_twin(found->second) : change_snapshot(found->second, what);
    }
  }

  // Replaces the journal by a journal that has the same length and the same samples, but another
  // letter in a text. If journals are not compared as a whole, opening can detect only that the
  // file is another file, but not that the bytes of the same file have changed.
  void replace_by_twin(const std::string& snapshot) {
    if (!is_whole(snapshot)) return;
    const Offset position = open_file(snapshot)->place().position;
    std::string twin = disk_->content();
    const Readonly_Memory_File journal(disk_->content());
    if (position < journal_start || position > journal.get_size()) return;
    const std::uint64_t sample = sample_journal(journal, position);
    constexpr std::size_t run = 24;
    const auto end = static_cast<std::size_t>(position);
    for (int tries = 0; tries < 50; ++tries) {
      const std::size_t at = static_cast<std::size_t>(journal_start) +
                             random_.below(end - static_cast<std::size_t>(journal_start) + 1);
      const char letter = at < end ? twin[at] : '\0';
      if (letter < 'a' || letter > 'z' || at < run || at + run > end ||
          twin.compare(at - run / 2, run, std::string(run, letter)) != 0)
        continue;
      twin[at] = letter == 'z' ? 'a' : static_cast<char>(letter + 1);
      if (sample_journal(Readonly_Memory_File(twin), position) == sample) {
        note("a twin of the journal, with another letter at " + std::to_string(at));
        ++counts_.twins;
        return replace_journal(twin, !sees_damage_ || random_.flip());
      }
      twin[at] = letter;
    }
  }

  void change_snapshot(const std::string& content, std::size_t what) {
    constexpr std::size_t header = 8 * snapshot_header::word_count;
    const auto word = [&](std::size_t i) {
      return static_cast<std::size_t>(load<std::uint64_t>(content.data() + 8 * i));
    };
    if (content.size() < header || !is_whole(content)) return;
    const std::size_t directory = word(snapshot_header::directory_offset_word);
    std::string changed = content;
    const auto flip = [&](std::size_t at) {
      changed[at] = static_cast<char>(changed[at] ^ (1 << random_.below(8)));
    };
    ++counts_.changed;
    switch (what) {
      case 2:
        note("a bit of the header flips");
        flip(random_.below(header));
        return put_damaged(changed);
      case 3:
        note("a bit of the directory flips");
        flip(directory + random_.below(content.size() - directory));
        return put_damaged(changed);
      case 4:
        note("a snapshot is truncated");
        changed.resize(random_.below(content.size()));
        return put_damaged(changed);
      case 5:
        note("bytes are appended to a snapshot");
        return put_damaged(changed + std::string(1 + random_.below(5000), 'x'));
      case 6:
        note("a snapshot gets the name of a kept one");
        disk_->directory().put(
            snapshot_suffix(static_cast<Offset>(word(snapshot_header::position_word) +
                                                (chance(50) ? 0 : random_.below(20)))),
            content);
        return;
      case 7:
        note("a process has left an unfinished snapshot");
        changed.resize(random_.below(content.size()));
        return disk_->directory().put(unfinished, changed);
      case 8:
        note("the snapshot of another journal");
        sure_position_ = 0;
        return disk_->directory().put(newest_name, snapshot_of_another());
      default:
        if (directory <= 4096) return;
        note("a bit of a section flips");
        flip(4096 + random_.below(directory - 4096));
        if (is_sound(changed)) fail("a flipped bit is not found by verify");
        sure_position_ = 0;
        disk_->directory().put(newest_name, changed);
        if (!sees_damage_) derive();
    }
  }

  // Writes further snapshots, from the damaged snapshot or from the journal. Changes no records,
  // because with damaged tables such changes would append entries that do not match the journal.
  // Does not print the tables, because a damaged list of records may be endless.
  void derive() {
    for (std::size_t n = 1 + random_.below(3); n > 0; --n) {
      switch (random_.below(4)) {
        case 0:
          refresh(random_, {});
          break;
        case 1:
          keep_past();
          break;
        default: {
          Sim_File file(*disk_);
          run_process(file, "a writer that changes nothing", [&] {
            Writable_Database db(file, options(), program_.deleted_values, program_.indexes);
            db.set_snapshot_due_bytes(1);
            if (chance(30) && db.write_snapshot())
              note_snapshot(db.get_journal().get_hard_checkpoint());
            if (chance(30)) write_in_background(db);
          });
        }
      }
    }
  }

  bool is_whole(const std::string& content) const {
    try {
      open_file(content);
      return true;
    } catch (const Exception&) {
      return false;
    }
  }

  // Puts a snapshot with damage that opening detects: the snapshot must not be used.
  void put_damaged(const std::string& content) {
    sure_position_ = 0;
    disk_->directory().put(newest_name, content);
    if (is_whole(content)) fail("the damage of a snapshot is not seen");
  }

  // Returns a journal that begins with `start`, followed by other entries, with at least `size`
  // bytes; exactly `size` bytes if possible.
  std::string grown(const std::string& start, std::size_t size) {
    Sim_Disk disk(start);
    Random_Changes changes(random_, Random_Changes::Indexes::declared);
    try {
      Sim_File file(disk);
      Writable_Database db(file, Recovery::overwrite, program_.deleted_values, program_.indexes);
      const auto left = [&] { return static_cast<Offset>(size) - db.get_journal().get_position(); };
      for (std::size_t n = 0; n < 40 && left() > 200; ++n) changes.change(db);
      while (left() >= 2) {
        const Offset n = std::min<Offset>(left(), 100);
        db.write(Comment{std::string(static_cast<std::size_t>(n - 2), 'p')});
      }
      db.hard_checkpoint();
    } catch (const Exception&) {
      return start;
    }
    return disk.content();
  }

  std::string snapshot_of_another() {
    Sim_Disk disk(grown({}, disk_->content().size()));
    Sim_File file(disk);
    Writable_Database db(file, Recovery::overwrite, program_.deleted_values, program_.indexes);
    db.write_snapshot();
    return disk.beside()[newest_name];
  }

  Opening program_;
  std::unique_ptr<Sim_Disk> disk_;
  std::vector<std::string> backups_;
  const Offset usually_verified_ = verified_at_opening;
  const Offset usually_compared_ = compared_at_opening;
  bool sees_damage_;  // true if opening verifies whole snapshots and compares whole journals
  bool is_long_;      // true if journals are longer than their samples
  bool is_nested_ = false;
  bool is_durable_ = false;   // the journal durably has the content of the newest snapshot
  Offset sure_position_ = 0;  // the newest snapshot fits the program, and has this position
};

}  // namespace

std::unique_ptr<World> make_snapshot_world(const World::Context& context) {
  return std::make_unique<Snapshot_World>(context);
}

}  // namespace joedb::testing
