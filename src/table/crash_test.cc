#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "joedb/format/seal.h"
#include "joedb/table/writable_database.h"
#include "testing/database_text.h"
#include "testing/journal_process.h"
#include "testing/random.h"
#include "testing/sim_file.h"

// Random lives of databases on a simulated disk. Every life is cut short at each of its I/O
// operations: by a killed process, by a power cut, by an operation that fails.
//
// The tests were tried on a journal with these errors, one at a time. Where no test of this file is
// named, it is one of src/journal/.
//
// error                                            caught by
// -----------------------------------------------  -----------------------------------------------
// first sync of a hard checkpoint left out         APowerCut…, SeveralCrashes, AFailure…
// second sync left out                             APowerCut…, SeveralCrashes, AFailure…
// both copies written before the first sync        APowerCut…, SeveralCrashes, AFailure…
// memory claims a hard checkpoint first            AFailure…
// memory claims a soft checkpoint first            AFailure…
// the copy that holds the soft word written first  AKilledProcess…, SeveralCrashes, AFailure…
// soft word written before the entries             AKilledProcess…, SeveralCrashes
// the hard slot of others taken for synced         APowerCut…, SeveralCrashes, AFailure…
// opened to overwrite, the tail not cut            SeveralCrashes
// words beyond the end not buried                  Recovery_Test.AWriterBuriesWordsBeyondTheEnd…
// these buried without a sync                      Recovery_Test.AWriterBuriesWordsBeyondTheEnd…
// soft words always in the same copy               Checkpoint_Test.HeaderOfANewFile…
// tail of a dead writer not cut                    Shared_Journal_Test.ATransactionCutsOff…
// rollback does not cut                            Writable_Journal_Test.RollsBackToTheCheckpoint
// rollback cuts what another has written           Shared_Journal_Test.ARollbackDoesNotCut…
// destructor overwrites what another has written   Shared_Journal_Test.ADestructorDoesNot…

namespace joedb {
namespace {

using testing::Random;
using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;
using testing::words_text;

// ---- what is promised ---------------------------------------------------------------------------

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

// A checkpoint, and what the database in memory held when it was asked for.
struct Promise {
  Checkpoint_Level level;
  Offset position;
  std::string state;
  std::size_t asked;          // the number of I/O operations before it was asked for
  std::size_t given = never;  // and when it was acknowledged
};

class Promises {
 public:
  void ask(Checkpoint_Level level, Offset position, std::string state, std::size_t io) {
    all_.push_back({level, position, std::move(state), io});
  }
  void give(std::size_t io) { all_.back().given = io; }

  // Those that were given after `io` operations are as if they had not been asked for.
  void forget_after(std::size_t io) {
    std::erase_if(all_, [&](const Promise& p) { return p.given == never || p.given > io; });
  }

  // The last one that was given after `io` operations, about an entry at least. `hard`: the last of
  // these.
  const Promise* last_given(std::size_t io, bool hard) const {
    const Promise* last = nullptr;
    for (const Promise& p : all_)
      if (p.given <= io && p.position > journal_start &&
          (!hard || p.level == Checkpoint_Level::hard))
        last = &p;
    return last;
  }

  // Whether a database that was opened after `io` operations may be at `position` with this state:
  // that is the last promise that was given, or one that was being given, or, after a power cut,
  // any one behind the last hard one.
  std::string judge(std::size_t io, bool power_was_cut, Offset position,
                    const std::string& state) const {
    const Promise* const least = last_given(io, power_was_cut);
    const Offset least_position = least != nullptr ? least->position : journal_start;
    if (position < least_position)
      return "lost: at " + std::to_string(position) + ", " + std::to_string(least_position) +
             " was promised";
    if (position == journal_start) return {};
    for (const Promise& p : all_)
      if (p.position == position && p.asked <= io)
        return p.state == state ? std::string() : "another state at " + std::to_string(position);
    return std::to_string(position) + " was never asked for";
  }

 private:
  std::vector<Promise> all_;
};

// ---- a life -------------------------------------------------------------------------------------

// A process that opens the database on a disk and does random things with it.
class Session {
 public:
  Session(Sim_Disk& disk, Promises& promises, Random& random, Recovery recovery)
      : disk_(disk), promises_(promises), random_(random), file_(disk), db_(file_, recovery) {
    for (std::size_t& weight : weights_) weight = random_.below(3) == 0 ? 0 : 1 + random_.below(9);
    for (std::size_t i = 0; i < checkpoint_levels; ++i) weights_[i] = (weights_[i] + 1) / 2;
  }

  // A few tables to begin with, if there are none.
  void begin() {
    if (!db_.get_database().tables().empty()) return;
    for (int i = 0; i < 2; ++i) create_table();
    for (int i = 0; i < 5; ++i) add_field();
  }

  Writable_Database& db() { return db_; }
  std::string state() const { return testing::text_of(db_.get_database()); }

  void checkpoint(Checkpoint_Level level) {
    promises_.ask(level, db_.get_journal().get_position(), state(), disk_.io_count());
    db_.checkpoint(level);
    promises_.give(disk_.io_count());
  }

  // One random operation.
  void act() {
    std::size_t total = 0;
    for (const std::size_t weight : weights_) total += weight;
    if (total == 0) return create_table();
    std::size_t pick = random_.below(total), action = 0;
    while (pick >= weights_[action]) pick -= weights_[action++];
    switch (action) {
      case 0:
        return checkpoint(Checkpoint_Level::soft);
      case 1:
        return checkpoint(Checkpoint_Level::hard);
      case 2:
        return checkpoint(Checkpoint_Level::half);
      case 3:
        return db_.flush();
      case 4:
        return db_.rollback();
      case 5:
        return create_table();
      case 6:
        return add_field();
      case 7:
        return db_.write(Comment{text()});
      case 8:
        return insert_vector();
      case 9:
        return erase();
      case 10:
      case 11:
        return insert();
      case 12:
        return update_vector();
      default:
        return update();
    }
  }

 private:
  std::string_view text() {
    const std::size_t kind = random_.below(40);
    const std::size_t size = kind == 0 ? 5000 : kind == 1 ? 1000 : random_.below(30);
    return testing::keep(std::string(size, static_cast<char>('a' + random_.below(26))));
  }

  template <Field_Value T>
  T value() {
    if constexpr (std::is_same_v<T, std::string_view>)
      return text();
    else if constexpr (std::is_same_v<T, Record_Id>)
      return Record_Id(static_cast<index_t>(random_.below(50)) - 1);
    else if constexpr (std::is_same_v<T, Blob>)
      return db_.write_blob(text());
    else
      return static_cast<T>(random_.next());
  }

  const Table* pick_table() {
    const auto& tables = db_.get_database().tables();
    return tables.empty() ? nullptr : tables[random_.below(tables.size())].get();
  }
  Field_Id pick_field(const Table& table) {
    return Field_Id(static_cast<std::uint16_t>(1 + random_.below(table.fields().size())));
  }

  void create_table() {
    const std::size_t number = db_.get_database().tables().size();
    if (number < 4) db_.write(Create_Table{testing::keep("table_" + std::to_string(number))});
  }

  void add_field() {
    const Table* const table = pick_table();
    if (table == nullptr || table->fields().size() > 6) return;
    const auto code = static_cast<Type_Code>(1 + random_.below(type_count));
    db_.write(Add_Field{table->id(),
                        testing::keep("f" + std::to_string(table->fields().size())),
                        {code, code == Type_Code::reference ? table->id() : Table_Id()}});
  }

  void insert() {
    const Table* const table = pick_table();
    if (table == nullptr) return;
    const Record_Ids& records = table->records();
    const index_t id =
        random_.below(4) > 0 ? records.next_free() : static_cast<index_t>(random_.below(60));
    if (!records.is_used(id)) db_.write(Insert{table->id(), Record_Id(id)});
  }

  void insert_vector() {
    const Table* const table = pick_table();
    if (table == nullptr) return;
    const auto size = static_cast<std::int64_t>(random_.below(10));
    db_.write(Insert_Vector{table->id(), Record_Id(table->records().size()), size});
  }

  void erase() {
    const Table* const table = pick_table();
    if (table == nullptr || table->records().used_count() == 0) return;
    const auto id =
        static_cast<index_t>(random_.below(static_cast<std::size_t>(table->records().size())));
    if (table->records().is_used(id)) db_.write(Delete{table->id(), Record_Id(id)});
  }

  void update() {
    const Table* const table = pick_table();
    if (table == nullptr || table->fields().empty() || table->records().size() == 0) return;
    const auto id =
        static_cast<index_t>(random_.below(static_cast<std::size_t>(table->records().size())));
    if (!table->records().is_used(id)) return;
    const Field_Id field = pick_field(*table);
    visit_type(table->find_field(field)->column->type().code, [&]<class T>(std::type_identity<T>) {
      const T v = value<T>();
      db_.write(Update<T>{table->id(), Record_Id(id), field, v});
    });
  }

  void update_vector() {
    const Table* const table = pick_table();
    if (table == nullptr || table->fields().empty() || table->records().size() == 0) return;
    const std::size_t start = random_.below(static_cast<std::size_t>(table->records().size()));
    const std::size_t size =
        random_.below(static_cast<std::size_t>(table->records().size()) - start + 1);
    const Field_Id field = pick_field(*table);
    visit_type(table->find_field(field)->column->type().code, [&]<class T>(std::type_identity<T>) {
      const std::unique_ptr<T[]> values(new T[size]());
      for (std::size_t i = 0; i < size; ++i) values[i] = value<T>();
      db_.write_vector<T>(table->id(), Record_Id(static_cast<index_t>(start)), field,
                          std::span<const T>(values.get(), size));
    });
  }

  Sim_Disk& disk_;
  Promises& promises_;
  Random& random_;
  Sim_File file_;
  Writable_Database db_;
  static constexpr std::size_t checkpoint_levels = 3;
  std::size_t weights_[15];  // of the operations of act(), checkpoints first
};

// Opens the database on a disk in a way that succeeds, and says so to `promises`: what is there now
// is there for all processes to come.
std::unique_ptr<Session> open(Sim_Disk& disk, Promises& promises, Random& random) {
  const Recovery first_try = static_cast<Recovery>(random.below(3));
  for (const Recovery recovery : {first_try, Recovery::overwrite}) {
    try {
      return std::make_unique<Session>(disk, promises, random, recovery);
    } catch (const Exception&) {
      // A tail, which may be a piece of an entry.
    }
  }
  throw std::logic_error("this database cannot be opened");
}

// Several sessions on a disk, each with several operations.
void live(Sim_Disk& disk, Promises& promises, Random& random, std::size_t sessions) {
  for (; sessions > 0; --sessions) {
    const auto session = open(disk, promises, random);
    session->begin();
    for (std::size_t i = random.below(80); i > 0; --i) session->act();
  }
}

// ---- what is found after a cut ------------------------------------------------------------------

struct Found {
  Offset position;
  std::string state;
};

Found read(const std::string& content, Recovery recovery = Recovery::none) {
  Readonly_Memory_File file(content);
  Readonly_Journal journal(file, recovery);
  Database database;
  database.limit_to_journal_of(journal.get_checkpoint());
  journal.replay(database);
  return {journal.get_checkpoint(), testing::text_of(database)};
}

// The same file, but for its soft checkpoints and what stands behind the last hard one.
std::optional<std::string> hard_part(const std::string& content) {
  std::array<char, header_size> bytes;
  if (content.copy(bytes.data(), bytes.size()) < bytes.size()) return std::nullopt;
  Header header = decode_header(bytes);
  if (std::string_view(header.signature.data(), 5) != signature) return std::nullopt;
  for (const std::size_t slot : {0, 2}) {
    const auto position = static_cast<std::size_t>(header.checkpoints[slot]);
    const auto size = static_cast<std::size_t>(sealed_size(header.checkpoints[slot + 1]));
    if (size > 0 && size <= position && position <= content.size() &&
        make_seal(std::string_view(content).substr(position - size, size),
                  header.checkpoints[slot]) == header.checkpoints[slot + 1])
      header.checkpoints[slot + 1] = header.checkpoints[slot];
  }
  for (std::int64_t& word : header.checkpoints) word = std::max<std::int64_t>(word, 0);
  Checkpoints hard;
  hard.read(header.checkpoints, std::nullopt);
  header.checkpoints.fill(hard.hard_checkpoint);
  bytes = encode_header(header);
  std::string result = content.substr(0, static_cast<std::size_t>(hard.hard_checkpoint));
  return result.replace(0, bytes.size(), bytes.data(), bytes.size());
}

class Crash_Test : public ::testing::Test {
 protected:
  // After a process was killed: every promise is kept, and a writer can go on.
  void expect_kept_after_kill(const Sim_Disk& disk, const Promises& promises) {
    const std::size_t io = disk.io_count();
    if (disk.content().empty()) return;
    const Found found = read(disk.content());
    EXPECT_EQ(promises.judge(io, false, found.position, found.state), "")
        << words_text(disk.content());

    Sim_Disk writable = disk;
    {
      Sim_File file(writable);
      Writable_Database db(file, Recovery::overwrite);
      EXPECT_EQ(testing::text_of(db.get_database()), found.state);
      db.write(Comment{"written after the crash"});
      db.soft_checkpoint();
    }
    EXPECT_EQ(read(writable.content()).state, found.state);
  }

  // After a power cut: every hard promise is kept. Soft ones may be refused, or detected as wrong.
  void expect_kept_after_power_cut(const Sim_Disk& disk, const Promises& promises,
                                   std::uint64_t seed) {
    const std::size_t io = disk.io_count();
    const std::string image = disk.power_cut(seed);
    const auto hard = hard_part(image);
    if (!hard) {
      EXPECT_EQ(promises.last_given(io, true), nullptr) << words_text(image);
      return;
    }
    const Found found = read(*hard);
    EXPECT_EQ(promises.judge(io, true, found.position, found.state), "") << words_text(image);
    EXPECT_EQ(read(image, Recovery::hard).state, found.state) << words_text(image);
    for (const Recovery recovery :
         {Recovery::none, Recovery::ignore_header, Recovery::overwrite, Recovery::hard}) {
      Sim_Disk after(image);
      Sim_File file(after);
      try {
        Writable_Database db(file, recovery);
        if (recovery == Recovery::hard) {
          EXPECT_EQ(testing::text_of(db.get_database()), found.state);
        }
        db.write(Comment{"written after the crash"});
        db.soft_checkpoint();
        const std::string state = read(after.content()).state;
        EXPECT_EQ(state, testing::text_of(db.get_database()));
      } catch (const Exception& error) {  // refused, with a reason
        EXPECT_NE(recovery, Recovery::hard) << error.what();
      }
      // Opening it has not cost what was hard.
      const auto still_hard = hard_part(after.content());
      ASSERT_TRUE(still_hard);
      EXPECT_EQ(*still_hard, *hard) << words_text(after.content());
    }
  }

  testing::Destructor_Warnings warnings;
};

TEST_F(Crash_Test, AKilledProcessLosesNothingThatWasCheckpointed) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 100; ++seed) {
    Random random(seed);
    Sim_Disk disk;
    Promises promises;
    live(disk, promises, random, 3);
    for (std::size_t io = 0; io <= disk.io_count(); ++io) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", killed after I/O " + std::to_string(io));
      expect_kept_after_kill(disk.at(io), promises);
      if (HasFailure()) return;
    }
  }
}

TEST_F(Crash_Test, APowerCutLosesNothingThatWasHard) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 50; ++seed) {
    Random random(seed);
    Sim_Disk disk;
    Promises promises;
    live(disk, promises, random, 3);
    for (std::size_t io = 0; io <= disk.io_count(); ++io)
      for (std::uint64_t cut = 0; cut < 4; ++cut) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", power cut " + std::to_string(cut) +
                     " after I/O " + std::to_string(io));
        expect_kept_after_power_cut(disk.at(io), promises, cut * 1000 + io);
        if (HasFailure()) return;
      }
  }
}

// One crash after the other: killed at a random place, lived on, then killed or without power at
// each place of the second life.
TEST_F(Crash_Test, PromisesOutliveSeveralCrashes) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 200; ++seed) {
    Random random(seed);
    Sim_Disk disk;
    Promises promises;
    live(disk, promises, random, 1 + random.below(2));
    const std::size_t killed = random.below(disk.io_count() + 1);
    const Found found = killed == 0 ? Found{journal_start, {}} : read(disk.at(killed).content());
    disk = disk.at(killed);
    promises.forget_after(killed);
    // What was found is there for good, as far as processes see.
    promises.ask(Checkpoint_Level::soft, found.position, found.state, killed);
    promises.give(killed);
    live(disk, promises, random, 2);
    for (std::size_t io = killed; io <= disk.io_count(); ++io) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", killed after I/O " + std::to_string(killed) +
                   " and after I/O " + std::to_string(io));
      expect_kept_after_kill(disk.at(io), promises);
      for (std::uint64_t cut = 0; cut < 3; ++cut)
        expect_kept_after_power_cut(disk.at(io), promises, cut * 1000 + io);
      if (HasFailure()) return;
    }
  }
}

// After a power cut the header may claim what the file does not hold. Whoever opens it then decides
// what counts, and from then on nothing else does: no word comes to life when the file grows again.
TEST_F(Crash_Test, WhatAPowerCutLeftStaysAsItWasFound) {
  std::size_t opened = 0, cut_back = 0;
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 200; ++seed) {
    Random random(seed);
    Sim_Disk before;
    Promises forgotten;
    live(before, forgotten, random, 1 + random.below(2));
    const std::string image =
        before.at(random.below(before.io_count() + 1)).power_cut(random.next());
    const auto hard = hard_part(image);
    if (!hard) continue;
    Promises promises;
    const Found hard_part_found = read(*hard);
    promises.ask(Checkpoint_Level::hard, hard_part_found.position, hard_part_found.state, 0);
    promises.give(0);

    Sim_Disk disk(image);
    std::size_t decided = 0;
    const Recovery recovery = random.flip() ? Recovery::none : Recovery::overwrite;
    try {
      Session session(disk, promises, random, recovery);
      promises.ask(Checkpoint_Level::soft, session.db().get_journal().get_checkpoint(),
                   session.state(), 0);
      promises.give(disk.io_count());
      session.begin();
      for (std::size_t i = random.below(10); i > 0; --i) session.act();
      ++opened;
    } catch (const Exception&) {  // refused: go on with what was hard
      disk = Sim_Disk(image);
      const Session session(disk, promises, random, Recovery::hard);
      EXPECT_EQ(session.state(), hard_part_found.state);
      decided = disk.io_count();
      ++cut_back;
    }
    live(disk, promises, random, 2);
    for (std::size_t io = decided; io <= disk.io_count(); ++io) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", killed after I/O " + std::to_string(io));
      expect_kept_after_kill(disk.at(io), promises);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(opened, 20);
  EXPECT_GT(cut_back, 20);
}

// ---- what fails ---------------------------------------------------------------------------------

class Failing_Test : public Crash_Test {
 protected:
  // One session in which the change with this number fails. It goes on whatever happens: what
  // throws has changed nothing in memory, and everything throws once something has failed.
  void live_with(Sim_Fault fault, std::uint64_t seed) {
    Random random(seed);
    Sim_Disk disk;
    Promises promises;
    disk.set_fault(fault);
    {
      std::unique_ptr<Session> session;
      try {
        session = std::make_unique<Session>(disk, promises, random, Recovery::none);
        session->begin();
      } catch (const Io_Error&) {
        if (!session) return;
      }
      std::optional<std::size_t> io_when_it_failed;
      for (std::size_t i = 0; i < 50; ++i) {
        const std::string before = session->state();
        try {
          session->act();
        } catch (const Exception&) {
          EXPECT_EQ(session->state(), before);
          if (!io_when_it_failed) io_when_it_failed = disk.io_count();
        }
        if (io_when_it_failed) {
          EXPECT_EQ(disk.io_count(), *io_when_it_failed);
        }
      }
      // Memory claims no more than is in the file.
      if (!disk.content().empty()) {
        EXPECT_LE(session->db().get_journal().get_checkpoint(), read(disk.content()).position);
      }
    }
    disk.remove_fault();
    expect_kept_after_kill(disk, promises);
    for (std::uint64_t cut = 0; cut < 3; ++cut) expect_kept_after_power_cut(disk, promises, cut);
  }
};

TEST_F(Failing_Test, AFailureCostsNothingThatWasPromised) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 20; ++seed) {
    std::size_t io_count = 0;
    {
      Random random(seed);
      Sim_Disk disk;
      Promises promises;
      Session session(disk, promises, random, Recovery::none);
      session.begin();
      for (std::size_t i = 0; i < 50; ++i) session.act();
      io_count = disk.io_count();
    }
    for (std::size_t number = 0; number < io_count; ++number)
      for (const bool lasts : {false, true})
        for (const double part : {0.0, 0.6, 1.0}) {
          SCOPED_TRACE("seed " + std::to_string(seed) + ", I/O " + std::to_string(number) +
                       " fails " + (lasts ? "for ever" : "once") +
                       ", written: " + std::to_string(part));
          live_with({.number = number, .lasts = lasts, .part_written = part}, seed);
          if (HasFailure()) return;
        }
  }
}

}  // namespace
}  // namespace joedb
