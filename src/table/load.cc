#include "joedb/table/load.h"

#include <algorithm>

#include "joedb/table/snapshot.h"

namespace joedb::inline v1 {

template <class Replay>
static void load(Database& database, Offset size, Replay replay) {
  database.limit_to_journal_of(size);
  try {
    replay();
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

void begin_with_snapshot(Database& database, Readonly_Journal& journal, Offset limit) {
  begin(database, journal, limit);
}

void load(Database& database, Readonly_Journal& journal) {
  begin(database, journal, journal.get_checkpoint());
  load(database, journal.get_checkpoint(), [&] { journal.replay(database); });
}

void load(Database& database, Writable_Journal& journal) {
  begin(database, journal, journal.get_checkpoint());
  load(database, journal.get_checkpoint(), [&] { journal.replay(database); });
}

void load(Database& database, Readonly_Journal& journal, Offset end) {
  begin(database, journal, end);
  load(database, journal.get_checkpoint(), [&] { journal.replay(database, end); });
  require_entry_end(journal, end);
}

void load_copied(Database& database, Writable_Journal& journal) {
  load(database, journal.get_position(), [&] { journal.replay_copied(database); });
}

void load(Database& database, Abstract_File& file, Moment moment, Recovery recovery) {
  const Offset end = find_moment(file, moment, recovery);
  Readonly_Journal journal(file, recovery);
  load(database, journal, end);
}

}  // namespace joedb::inline v1
