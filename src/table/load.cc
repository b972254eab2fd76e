#include "joedb/table/load.h"

namespace joedb::inline v1 {

void load(Database& database, Abstract_File& file, Moment moment) {
  const Offset end = find_moment(file, moment);
  Readonly_Journal journal(file);
  load(database, journal.get_checkpoint(), [&] { journal.replay(database, end); });
  if (journal.get_replay_position() != end)
    throw Exception(file.get_name() + ": position " + std::to_string(end) +
                    " is inside of an entry, which ends at " +
                    std::to_string(journal.get_replay_position()));
}

}  // namespace joedb::inline v1
