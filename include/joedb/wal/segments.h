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

#include "joedb/base/threads.h"
#include "joedb/io/file.h"
#include "joedb/wal/log.h"

// A log that is stored in a directory, in several files of a fixed size (segments). Entries are
// appended to the newest segment, while the oldest segments are recycled or removed when they are
// no longer needed. So entries can be released a few at a time, and the log never has to be saved
// as a whole before it is reset.

namespace joedb::inline v1::wal {

struct Segment_Options {
  // Size of a segment in bytes, including 16 KiB of headers. If an entry does not fit in the rest
  // of a segment, a new segment begins. If an entry is larger than a segment, it gets a larger
  // segment of its own.
  Offset segment_size = Offset{1} << 26;
  // Maximum number of released segments that are kept for recycling. Their files already have the
  // size of a segment, so a sync writes no metadata. Other released segments are removed.
  std::size_t spare_segments = 2;
  // If true, opening reads all entries of all needed segments, to detect damage. If false, opening
  // reads only the entries of the last segment. Missing segments are detected in both cases.
  bool check_entries = true;
};

// Appends entries to a log of segments.
//
//   joedb::wal::Segmented_Writer log("orders");
//   const auto position = log.append("one coffee");
//   log.sync();
//   …
//   log.release(position.sequence);  // the entry was saved elsewhere
//
// Guarantees, failures and thread safety are as for Writer. A segment is durable before the next
// segment begins, so a power cut can damage only the last segment.
class Segmented_Writer {
 public:
  // Opens a log, or creates a new log. Creates the directory if it does not exist. `options` must
  // have format `checked` and no batch_size. Throws the exceptions of Writer. If the entries have a
  // gap, because a segment is missing or damaged, throws Corruption_Error, which names the file and
  // the entries; nothing has changed then. (If the newest segment is missing, this cannot be
  // detected: the log then ends earlier.)
  explicit Segmented_Writer(const std::string& directory, Options options = {},
                            Segment_Options segments = {});
  // `directory` must outlive this object.
  explicit Segmented_Writer(Abstract_Directory& directory, Options options = {},
                            Segment_Options segments = {});
  Segmented_Writer(Segmented_Writer&&) noexcept;
  Segmented_Writer& operator=(Segmented_Writer&&) noexcept;
  ~Segmented_Writer();

  // Like the functions of Writer. The offset of a position is the offset in its segment.
  Position append(std::string_view bytes);
  void flush();
  void sync();
  void close();
  Position position() const;
  std::uint64_t durable_sequence() const;
  std::uint64_t log_id() const;

  // Declares that the entries up to `sequence` are no longer needed. Segments that hold only such
  // entries are recycled or removed; before that, the log is synced.
  void release(std::uint64_t sequence);
  // Begins a new segment, and releases all entries before it.
  void rotate();

  // Sequence of the first entry that can be read.
  std::uint64_t oldest_sequence() const;
  // Number of segments in use, without spare segments.
  std::size_t segments() const;

 private:
  class Implementation;
  Implementation& open() const;
  std::unique_ptr<Implementation> implementation_;
};

// Reads a log of segments as Reader reads a file, even while the log is written. An object is used
// by one thread at a time.
class Segmented_Reader {
 public:
  // Throws Io_Error if the directory does not exist, and Corruption_Error for a damaged header.
  explicit Segmented_Reader(const std::string& directory);
  // `directory` must outlive this object.
  explicit Segmented_Reader(Abstract_Directory& directory);
  Segmented_Reader(Segmented_Reader&&) noexcept;
  Segmented_Reader& operator=(Segmented_Reader&&) noexcept;
  ~Segmented_Reader();

  // Like the functions of Reader. Released entries are no longer returned when their segments are
  // gone; if the reader has not read all of these entries, it stops with Stop::overwritten. At a
  // missing or damaged segment, the reader stops, and stays there until the next seek: it never
  // skips entries on its own.
  std::optional<Entry> next();
  std::optional<Entry> wait_for_next(std::chrono::milliseconds timeout,
                                     System& system = System::real());
  const End& end() const;
  Position position() const;
  // Name of the file that holds the entry that next() returned last, or, at the end, the position
  // of end(). Empty if there is no such file.
  const std::string& segment() const;

  // Moves to the entry with this sequence, so that next() returns it, even if the entry is after a
  // gap. If there is no such good entry, moves to the first entry and throws Exception.
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
