#include "joedb/table/load.h"

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

void load(Database& database, Readonly_Journal& journal) {
  load(database, journal.get_checkpoint(), [&] { journal.replay(database); });
}

void load(Database& database, Writable_Journal& journal) {
  load(database, journal.get_checkpoint(), [&] { journal.replay(database); });
}

void load_copied(Database& database, Writable_Journal& journal) {
  load(database, journal.get_position(), [&] { journal.replay_copied(database); });
}

void load(Database& database, Abstract_File& file, Moment moment, Recovery recovery) {
  const Offset end = find_moment(file, moment, recovery);
  Readonly_Journal journal(file, recovery);
  load(database, journal.get_checkpoint(), [&] { journal.replay(database, end); });
  require_entry_end(journal, end);
}

}  // namespace joedb::inline v1
