#ifndef JOEDB_WAL_RECOVER_H
#define JOEDB_WAL_RECOVER_H

#include <string>

#include "joedb/io/file.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

// The state of a log.
struct Report {
  Format format = Format::checked;
  std::uint64_t log_id = 0;  // as Reader::log_id() and epoch()
  std::uint64_t epoch = 0;
  std::uint64_t first_sequence = 1;
  std::uint64_t entries = 0;   // number of good entries before the end
  std::uint64_t bytes = 0;     // number of bytes in them
  std::uint32_t last_crc = 0;  // CRC of the last entry, which the next one must repeat
  End end;
  Offset file_size = 0;

  // Sequence of the last entry that is known to be durable, because a later entry or mark says so;
  // 0 if none does. Entries after it may be durable, too.
  std::uint64_t known_durable = 0;
  // Offset up to which all entries are known to be durable. Some entries after it may be known to
  // be durable, too.
  Offset durable_offset = 0;

  // Number of good entries after the end. A power cut leaves such entries where it has lost an
  // earlier one that was not durable yet; damage leaves them, too.
  std::uint64_t later_entries = 0;
  Offset later_offset = 0;  // offset of the first good entry or mark after the end
  Offset later_end = 0;     // end of the last one
  // Name of the file in which they were saved before they were removed; empty if they were not.
  std::string saved = {};

  // True if durable entries are damaged, which no power cut explains. Format `cwal` does not record
  // durability: there, true if there are later entries.
  bool is_damaged() const {
    return format == Format::cwal ? later_entries > 0 : known_durable >= end.position.sequence;
  }
  std::uint64_t last_sequence() const { return end.position.sequence - 1; }

  // Describes the state in a sentence or two: "12 entries, 1 to 12; …".
  std::string text() const;
};

// What recover() does with the bytes after the last good entry.
enum class Tail {
  keep,
  truncate,  // removes them
  zero       // overwrites them with zeros
};

// Finds the last good entry of a log. Reads the whole file, in blocks. With `truncate` and `zero`,
// the bytes after that entry are removed, and the file is synced. They include good entries
// (later_entries) if an entry before these is damaged, or was lost in a power cut. Good entries are
// saved first, in a file NAME.tail-OFFSET beside the log, which is itself a log: `joedb wal dump
// --later` prints them.
//
// Throws Io_Error. Throws Corruption_Error if no header is good, or if good entries cannot be
// saved, for example because the log is not in a file of the operating system; then the log is
// unchanged.
//
// A Writer does the same when it opens a log, unless is_damaged().
Report recover(Abstract_File& file, Tail tail = Tail::keep);
// Like recover() with Tail::keep.
Report examine(const Abstract_File& file);

}  // namespace joedb::inline v1::wal

#endif
