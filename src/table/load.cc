#include "joedb/table/load.h"

#include <algorithm>

#include "joedb/table/snapshot.h"

namespace joedb::inline v1 {

// For a database with an observer.
class Observed_Replay {
 public:
  explicit Observed_Replay(Database& database) : database_(database) {}
  template <class Entry>
  void operator()(const Entry& entry) {
    database_.prepare(entry);
    database_.note(entry);
    database_.apply(entry);
  }

 private:
  Database& database_;
};

// replay(handler) gives the handler all entries up to one of the two positions, `end`.
template <class Replay>
static void load(Database& database, Offset size, Offset end, Replay replay) {
  database.limit_to_journal_of(size);
  try {
    if (Change_Observer* const observer = database.observer()) {
      Observed_Replay handler(database);
      replay(handler);
      observer->cut(end);
    } else {
      replay(database);
    }
  } catch (...) {
    try {
      database.remove_limits();
    } catch (const std::exception&) {  // what is being thrown came first
    }
    throw;
  }
  database.remove_limits();
}

// A new database begins with a snapshot, if there is one. One that is behind the checkpoint is of
// no use, although it may fit: a power cut can take a checkpoint back, and leave its entries.
template <class Journal>
static void begin(Database& database, Journal& journal, Offset limit) {
  if (!database.is_new() || journal.get_replay_position() != journal_start) return;
  const Offset last = std::min(limit, journal.get_checkpoint());
  if (const auto place = restore_snapshot(database, journal.get_file(), last))
    journal.resume(*place);
}

template <class Journal>
static void load_up_to(Database& database, Journal& journal, Offset end) {
  begin(database, journal, end);
  load(database, journal.get_checkpoint(), end,
       [&](auto& handler) { journal.replay(handler, end); });
}

void begin_with_snapshot(Database& database, Readonly_Journal& journal, Offset limit) {
  begin(database, journal, limit);
}

void load(Database& database, Readonly_Journal& journal) {
  load_up_to(database, journal, journal.get_checkpoint());
}

void load(Database& database, Writable_Journal& journal) {
  load_up_to(database, journal, journal.get_checkpoint());
}

void load(Database& database, Readonly_Journal& journal, Offset end) {
  load_up_to(database, journal, end);
  require_entry_end(journal, end);
}

void load(Database& database, Writable_Journal& journal, Offset end) {
  load_up_to(database, journal, end);
}

void load_copied(Database& database, Writable_Journal& journal) {
  const Offset end = journal.get_position();
  load(database, end, end, [&](auto& handler) { journal.replay_copied(handler); });
}

void load(Database& database, Abstract_File& file, Moment moment, Recovery recovery) {
  const Offset end = find_moment(file, moment, recovery);
  Readonly_Journal journal(file, recovery);
  load(database, journal, end);
}

}  // namespace joedb::inline v1
