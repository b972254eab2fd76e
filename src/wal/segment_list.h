#ifndef WAL_SEGMENT_LIST_H
#define WAL_SEGMENT_LIST_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joedb/io/directory.h"
#include "joedb/wal/log.h"
#include "wal/format.h"

// The segments of a log in a directory, and whether each goes on where the one before ends. The
// invariants of segments stand at the top of segments.cc.

namespace joedb::inline v1::wal {

// A file of the log.
struct Segment {
  std::string name;
  Header header;
};

// The name of a file that is made for this epoch. A recycled file keeps its name.
std::string segment_name(std::uint64_t epoch);
bool is_segment_name(std::string_view name);

struct Segment_List {
  std::vector<Segment> segments;     // in the order of their epochs
  std::vector<std::string> blank;    // files that were to become segments
  std::vector<std::string> damaged;  // files without a good header
  std::string damage;                // what is wrong with the first of them
  std::vector<std::string> names;    // of all files that were there before their headers were read

  // The first entry that is needed.
  std::uint64_t oldest() const;
  // The segment that has it. The segments before are not needed; they may have gaps.
  std::size_t first_needed() const;
  // Throws Corruption_Error if the header of a file is damaged: its entries may be needed.
  void require_headers(const Abstract_Directory& directory) const;
};

// Reads the headers of all segments. Throws Io_Error; Corruption_Error if they belong to different
// logs.
Segment_List list_segments(Abstract_Directory& directory);

// Reads the header of one file. Nothing if there is no such file, or it has no header yet.
std::optional<Segment> read_segment(Abstract_Directory& directory, const std::string& name);

// Where a segment does not go on with the entry behind the segment before.
struct Segment_Gap {
  std::uint64_t first = 0;  // the entry that is expected
  std::uint64_t next = 0;   // the entry that is there
  std::string before;       // the segment that ends before it; empty if the first one is missing
  std::string behind;       // the segment that begins with `next`
  bool is_whole = false;    // no segment between the two is missing
  End end;                  // of `before`

  // "entries 4 to 6 are missing, between 00000001.wal and 00000003.wal"
  std::string text() const;
};

// All entries of a segment, and how it ends.
struct Segment_Content {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  Offset file_size = 0;
  End end;
};
Segment_Content read_all(Abstract_Directory& directory, const Segment& segment);

// The gap before the first segment that is needed.
std::optional<Segment_Gap> gap_at_start(const Segment_List& list);
// The gap between a segment, whose entries end there, and the next one.
std::optional<Segment_Gap> gap_between(const Segment& before, const End& end,
                                       const Segment& behind);
// The same, if only their headers are known: whether a segment between them is missing.
bool is_next(const Segment& before, const Segment& behind);

// Throws Corruption_Error, which says what is missing and what can be done.
[[noreturn]] void refuse(const Abstract_Directory& directory, const Segment_Gap& gap);

}  // namespace joedb::inline v1::wal

#endif
