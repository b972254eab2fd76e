#include "joedb/table/load.h"

#include <algorithm>

#include "joedb/table/index.h"
#include "kernel/table/snapshot_source.h"

namespace joedb::inline v1 {

// The handler for a database with an observer.
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

// Calls replay(handler), which must pass all entries up to `end` to the handler. `size` is the size
// of the journal, which determines the record limit. The batch of the observer ends at `end`.
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
    } catch (const std::exception&) {  // the first error is rethrown
    }
    throw;
  }
  database.remove_limits();
}

// Restores a new database from a snapshot, if there is one. A snapshot beyond the checkpoint is not
// used, even if it matches, because a power cut can revert a checkpoint and leave its entries.
template <class Journal>
static void begin(Database& database, Journal& journal, Offset limit, Trust trust = Trust::fast) {
  if (!database.is_new() || journal.get_replay_position() != journal_start) return;
  // The snapshot is verified now, because a verifying thread would open the file a second time, and
  // would have to wait.
  if constexpr (requires { journal.has_file_alone(); })
    if (journal.has_file_alone()) trust = Trust::verified;
  const Offset last = std::min(limit, journal.get_checkpoint());
  const auto place = restore_snapshot(database, journal.get_file(), last, trust);
  if (!place) return;
  journal.resume(*place);
  if (trust == Trust::fast && journal.get_integrity())
    database.snapshot_source()->verify_in_background(journal.get_file());
}

template <class Journal>
static void replay_up_to(Database& database, Journal& journal, Offset end) {
  try {
    load(database, journal.get_checkpoint(), end,
         [&](auto& handler) { journal.replay(handler, end); });
  } catch (const Unique_Violation& error) {
    throw Unique_Violation(journal.get_file().get_name() + ": " + error.what(), error.index,
                           error.record, error.other);
  }
}

// True if the snapshot is damaged, which explains why entries did not match the tables.
static bool is_damaged(const Database& database) {
  const auto& source = database.snapshot_source();
  if (!source) return false;
  try {
    source->verify();
  } catch (const Corruption_Error&) {
    return true;
  } catch (const Io_Error&) {
  }
  return false;
}

template <class Journal>
static void load_up_to(Database& database, Journal& journal, Offset end,
                       Trust trust = Trust::fast) {
  database.require_intact();
  const bool was_new = database.is_new();
  begin(database, journal, end, trust);
  try {
    replay_up_to(database, journal, end);
  } catch (const Exception&) {
    if (!was_new || database.observer() != nullptr || !is_damaged(database)) throw;
    database = database.make_new();
    journal.rewind();
    begin(database, journal, end, Trust::verified);
    replay_up_to(database, journal, end);
  }
}

void begin_with_snapshot(Database& database, Readonly_Journal& journal, Offset limit, Trust trust) {
  begin(database, journal, limit, trust);
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

void load_verified(Database& database, Readonly_Journal& journal, Offset end) {
  load_up_to(database, journal, end, Trust::verified);
  require_entry_end(journal, end);
}

void load_verified(Database& database, Writable_Journal& journal) {
  load_up_to(database, journal, journal.get_checkpoint(), Trust::verified);
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
