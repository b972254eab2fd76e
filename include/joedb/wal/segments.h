#ifndef JOEDB_WAL_SEGMENTS_H
#define JOEDB_WAL_SEGMENTS_H

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/system.h"
#include "joedb/io/directory.h"
#include "joedb/wal/reader.h"
#include "joedb/wal/writer.h"

// A log in a directory, in several files of a fixed size. What is not needed any more leaves at one
// end, while entries are appended at the other: the log need not be saved as a whole before it may
// begin again.

namespace joedb::inline v1::wal {

struct Segment_Options {
  // An entry that does not fit in the rest of a segment begins a new one; one that fits in none has
  // a larger one for itself.
  Offset segment_size = Offset{1} << 26;
  // So many segments that are not needed any more are kept, to be recycled: they have their size,
  // so that a sync writes no metadata. Others are removed.
  std::size_t spare_segments = 2;
  // On opening, all entries of all segments are read, so that a damaged one is noticed. Without
  // this, only those of the last segment are; a segment that is missing is noticed all the same.
  bool check_entries = true;
};

// Appends entries to a log of segments.
//
//   joedb::wal::Segmented_Writer log("orders");
//   const auto position = log.append("one coffee");
//   log.sync();
//   …
//   log.release(position.sequence);  // saved elsewhere
//
// Promises, failures and threads are those of Writer. A segment is durable before the next one
// begins; so a power cut tears only the last one.
class Segmented_Writer {
 public:
  // Opens a log, or makes a new one, and the directory if there is none. `options` has no
  // batch_size, and format `checked`. Throws what Writer throws; and Corruption_Error, which names
  // file and entries, if a segment is missing or damaged, so that the entries have a gap. Nothing
  // has changed then. (That the newest segment is missing, nothing can tell: the log ends earlier.)
  explicit Segmented_Writer(const std::string& directory, Options options = {},
                            Segment_Options segments = {});
  // `directory` must outlive this object.
  explicit Segmented_Writer(Abstract_Directory& directory, Options options = {},
                            Segment_Options segments = {});
  Segmented_Writer(Segmented_Writer&&) noexcept;
  Segmented_Writer& operator=(Segmented_Writer&&) noexcept;
  ~Segmented_Writer();

  // As those of Writer; the offset of a position is one in its segment.
  Position append(std::string_view bytes);
  void flush();
  void sync();
  void close();
  Position position() const;
  std::uint64_t durable_sequence() const;
  std::uint64_t log_id() const;

  // Entries up to this one are not needed any more: segments that hold no others are written again,
  // or removed. This syncs if there is such a segment.
  void release(std::uint64_t sequence);
  // release of all entries that are there; the next one begins a new segment.
  void rotate();

  // The first entry that may be read.
  std::uint64_t oldest_sequence() const;
  // How many segments hold entries.
  std::size_t segments() const;

 private:
  class Implementation;
  Implementation& open() const;
  std::unique_ptr<Implementation> implementation_;
};

// Reads a log of segments, as Reader does a file: also while it is written.
class Segmented_Reader {
 public:
  // Throws Io_Error if there is no such directory; Corruption_Error for a damaged header.
  explicit Segmented_Reader(const std::string& directory);
  // `directory` must outlive this object.
  explicit Segmented_Reader(Abstract_Directory& directory);
  Segmented_Reader(Segmented_Reader&&) noexcept;
  Segmented_Reader& operator=(Segmented_Reader&&) noexcept;
  ~Segmented_Reader();

  // As those of Reader. Entries that were released are not shown, as far as their segments are
  // gone; Stop::overwritten if they were released while this read. Where a segment is missing or
  // damaged, this stops, and stays there until the next seek: it never skips entries by itself.
  std::optional<Entry> next();
  std::optional<Entry> wait_for_next(std::chrono::milliseconds timeout,
                                     System& system = System::real());
  const End& end() const;
  Position position() const;
  // The file of the entry that next() has returned, or of end(); empty if there is none.
  const std::string& segment() const;

  // Goes to the entry with this sequence, for next() to return it: also to one behind a gap. Throws
  // Exception if it is not there, and is at the first entry then.
  void seek(std::uint64_t sequence);
  void seek_first();
  // Throws File_Replaced if another program has removed or replaced the directory.
  void require_not_replaced() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace joedb::inline v1::wal

#endif
