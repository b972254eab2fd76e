#ifndef WAL_RECOVERY_H
#define WAL_RECOVERY_H

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "joedb/wal/recover.h"
#include "wal/format.h"
#include "wal/source.h"

namespace joedb::inline v1::wal {

// The entry that stands there, header and bytes, if its checksum is right; it may follow any other.
std::optional<std::string_view> read_good_entry(Source& source, Offset offset, std::uint32_t epoch,
                                                Entry_Header& header);

// A good entry of the epoch, behind the end of the good entries.
struct Later_Entry {
  Offset offset;
  Entry_Header header;
};

// Calls f(Later_Entry) for all of them, in their order. Gives up where so much looks like entries,
// but is none, that the search would take too long.
void find_later_entries(const Abstract_File& file, const Header& header, Position end,
                        const std::function<void(const Later_Entry&)>& f);

// Counts it in a report.
void add_later(Report& report, const Later_Entry& entry);

// Removes what a writer of before has left behind the end, as far as it could be taken for an
// entry: nothing can come back any more when this returns. `may_have_later`: whether
// find_later_entries may find something.
void clear_tail(Abstract_File& file, const Header& header, Position end,
                bool may_have_later = true);

// Saves the later entries of a report in a file beside the log, durably. Returns its name. What was
// saved before and is the same is not saved again. Throws Io_Error, and Corruption_Error if there
// is no place beside the log.
std::string save_later_entries(const Abstract_File& file, const Report& report);

// Up to where the entries of a log are known to be durable. Behind that, what a file shows may be
// in memory only, also after it was synced: a failed sync leaves pages that the system takes for
// written. So whoever relies on it has to write it again first.
class Durable_Part {
 public:
  // `start`: of the first entry.
  explicit Durable_Part(Offset start) : starts_{{0, start}}, next_{0, start} {}

  // The good entries, in their order. `next`: where the next one may be; `known_durable`: the last
  // one that this one, or one before, says to be durable.
  void add(Position entry, Offset next, std::uint64_t known_durable);

  // Up to there, if entries up to `known_durable` are; not more than a step before their end.
  Offset end(std::uint64_t known_durable) const;

 private:
  static constexpr Offset step = Offset{1} << 16;
  std::deque<Position> starts_;  // of entries, about a step apart
  Position next_;                // behind the last entry, of which it has the sequence
};

// Throws Corruption_Error if there is something in the file, but not the beginning of a log.
void require_log(const Abstract_File& file, const Report& report);

}  // namespace joedb::inline v1::wal

#endif
