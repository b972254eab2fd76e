#include "joedb/journal/readonly_journal.h"

#include "kernel/base/time.h"

namespace joedb::inline v1 {

namespace {

struct Find_Time : Ignore_Entries {
  using Ignore_Entries::operator();
  void operator()(const Timestamp& entry) {
    has_timestamps = true;
    if (entry.seconds <= seconds) position = journal.get_replay_position();
  }
  const Readonly_Journal& journal;
  const std::int64_t seconds;
  bool has_timestamps = false;
  Offset position = 0;
};

}  // namespace

Offset find_moment(Abstract_File& file, Moment moment, Recovery recovery) {
  Readonly_Journal journal(file, recovery);
  if (moment.kind == Moment::Kind::position) {
    if (moment.value < journal_start || moment.value > journal.get_checkpoint())
      throw Exception(file.get_name() + " has no position " + std::to_string(moment.value) +
                      ": its journal goes from " + std::to_string(journal_start) + " to " +
                      std::to_string(journal.get_checkpoint()));
    return moment.value;
  }
  Find_Time find{{}, journal, moment.value};
  journal.replay(find);
  if (!find.has_timestamps)
    throw Exception(file.get_name() +
                    " has no time stamps. For those of the future, add the line "
                    "timestamp_transactions to the .joedbc file of the program that writes it, or "
                    "call write_timestamp()");
  if (find.position == 0)
    throw Exception(file.get_name() + " has no time stamp at or before " + time_text(moment.value));
  return find.position;
}

void require_entry_end(const Readonly_Journal& journal, Offset position) {
  if (journal.get_replay_position() == position) return;
  throw Exception(journal.get_file().get_name() + ": position " + std::to_string(position) +
                  " is inside of an entry, which ends at " +
                  std::to_string(journal.get_replay_position()));
}

}  // namespace joedb::inline v1
