#ifndef JOEDB_SRC_WAL_RECOVERY_H
#define JOEDB_SRC_WAL_RECOVERY_H

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "joedb/wal/log.h"
#include "wal/format.h"
#include "wal/source.h"

namespace joedb::inline v1::wal {

// If the entry at `offset` has a correct checksum, returns the entry, including its header, and
// sets `header`. Does not check the previous entry. Otherwise returns nullopt, and `header` is
// unspecified.
std::optional<std::string_view> read_good_entry(Source& source, Offset offset, std::uint32_t epoch,
                                                Entry_Header& header);

// A good entry or marker of the epoch, after the end of the log.
struct Later_Entry {
  Offset offset;
  Entry_Header header;
};

// Calls f(Later_Entry) for each good entry after `end`, in their order. Gives up if the search
// takes too long, because many bytes look like entries but are not.
void find_later_entries(const Abstract_File& file, const Header& header, Position end,
                        const std::function<void(const Later_Entry&)>& f);

// Adds a later entry to a report.
void add_later(Report& report, const Later_Entry& entry);

// Overwrites stale bytes after the end, from an earlier writer, that could be taken for an entry
// with zeros. When this returns, these bytes cannot reappear. `may_have_later` may be false if
// find_later_entries is known to find nothing.
void clear_tail(Abstract_File& file, const Header& header, Position end,
                bool may_have_later = true);

// Saves the later entries of a report durably in a file beside the log. Returns the name of the
// file. Replaces an identical file from an earlier attempt. Throws Io_Error, and Corruption_Error
// if no file can be made beside the log.
std::string save_later_entries(const Abstract_File& file, const Report& report);

// Tracks the offset up to which the entries of a log are known to be durable. Bytes after this
// offset may be in memory only, even after a sync, because a failed sync leaves pages that the
// system considers as written. They must be written again before anything relies on them.
class Durable_Part {
 public:
  // `start` is the offset of the first entry.
  explicit Durable_Part(Offset start) : starts_{{0, start}}, next_{0, start} {}

  // Must be called for each good entry, in order. `next` is the end of this entry. `known_durable`
  // is the sequence of the last entry that is durable according to this entry and the entries
  // before it.
  void add(Position entry, Offset next, std::uint64_t known_durable);

  // Returns the offset if entries up to `known_durable` are durable. The offset is the start of an
  // entry, at most about one step before the end of the durable entries.
  Offset end(std::uint64_t known_durable) const;

 private:
  static constexpr Offset step = Offset{1} << 16;
  std::deque<Position> starts_;  // starts of entries, about a step apart
  Position next_;                // sequence and end of the last entry
};

// Throws Corruption_Error if the file is not empty, and does not begin like a log.
void require_log(const Abstract_File& file, const Report& report);

}  // namespace joedb::inline v1::wal

#endif
