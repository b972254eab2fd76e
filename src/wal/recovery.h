#ifndef WAL_RECOVERY_H
#define WAL_RECOVERY_H

#include <functional>
#include <optional>
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

// Removes what a writer of before has left behind the end, as far as it could be taken for an
// entry: nothing can come back any more when this returns.
void clear_tail(Abstract_File& file, const Header& header, Position end);

// Throws Corruption_Error if there is something in the file, but not the beginning of a log.
void require_log(const Abstract_File& file, const Report& report);

}  // namespace joedb::inline v1::wal

#endif
