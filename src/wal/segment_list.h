#ifndef JOEDB_SRC_WAL_SEGMENT_LIST_H
#define JOEDB_SRC_WAL_SEGMENT_LIST_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/wal/log.h"
#include "wal/format.h"

// Lists the segments of a log in a directory, and finds gaps between them. The invariants of
// segments are at the top of segments.cc.

namespace joedb::inline v1::wal {

// A segment: a file of the log with a good header.
struct Segment {
  std::string name;
  Header header;
};

// Returns the name of a new file for this epoch. A recycled file keeps its name.
std::string segment_name(std::uint64_t epoch);
bool is_segment_name(std::string_view name);

struct Segment_List {
  std::vector<Segment> segments;     // in the order of their epochs
  std::vector<std::string> blank;    // files for segments that have no header yet
  std::vector<std::string> damaged;  // files without a good header
  std::string damage;                // error of the first damaged file
  std::vector<std::string> names;    // all files that existed before the headers were read

  // Sequence of the first needed entry.
  std::uint64_t oldest() const;
  // Index of the segment that contains the first needed entry, or 0 if no segment contains it.
  // Earlier segments are not needed, and may have gaps. Requires that there is a segment.
  std::size_t first_needed() const;
  // Throws Corruption_Error if a file has a damaged header, because its entries may be needed.
  void require_headers(const Abstract_Directory& directory) const;
};

// Reads the headers of all segments. Throws Io_Error; Corruption_Error if they belong to different
// logs.
Segment_List list_segments(Abstract_Directory& directory);

// Reads the header of one file. Returns nullopt if there is no such file, or if it has no header
// yet.
std::optional<Segment> read_segment(Abstract_Directory& directory, const std::string& name);

// A gap exists if a segment does not begin with the entry after the last entry of the previous
// segment.
struct Segment_Gap {
  std::uint64_t first = 0;  // expected sequence
  std::uint64_t next = 0;   // sequence found
  std::string before;       // segment before the gap; empty if the first segment is missing
  std::string behind;       // segment that begins with `next`
  bool is_whole = false;    // no segment is missing between the two
  End end;                  // end of the good entries of `before`

  // Describes the gap: "entries 4 to 6 are missing, between 00000001.wal and 00000003.wal".
  std::string text() const;
};

// Counts of the good entries of a segment, and its end.
struct Segment_Content {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  Offset file_size = 0;
  End end;
};
Segment_Content read_all(Abstract_Directory& directory, const Segment& segment);

// Returns the gap before the first needed segment, or nullopt if there is none. Requires that there
// is a segment.
std::optional<Segment_Gap> gap_at_start(const Segment_List& list);
// Returns the gap between the segments `before`, whose good entries end at `end`, and `behind`;
// nullopt if there is none.
std::optional<Segment_Gap> gap_between(const Segment& before, const End& end,
                                       const Segment& behind);
// Returns true if, according to their headers, true if no segment is missing between the two.
bool is_next(const Segment& before, const Segment& behind);

// Throws Corruption_Error, which describes the gap and the remedy.
[[noreturn]] void refuse(const Abstract_Directory& directory, const Segment_Gap& gap);

}  // namespace joedb::inline v1::wal

#endif
