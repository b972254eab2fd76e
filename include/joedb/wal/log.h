#ifndef JOEDB_WAL_LOG_H
#define JOEDB_WAL_LOG_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/types.h"
#include "joedb/io/file.h"

// Types shared by writers and readers of write-ahead logs, their entries as text, and recovery.
// docs/wal_format.md describes the formats.

namespace joedb::inline v1::wal {

enum class Format {
  checked,  // the default: a header, then entries whose CRC-32C covers length, order and epoch
  cwal      // the format of CWal: length, bytes, CRC-32 of the bytes
};

// The place of an entry. `sequence` counts the entries of a log from 1. It continues when the log
// is rotated and, in a log of several files, from file to file. `offset` is the offset of the entry
// in its file.
struct Position {
  std::uint64_t sequence = 0;
  Offset offset = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// An entry that was read. `bytes` belong to the reader, and are valid until its next call.
struct Entry {
  Position position;
  std::span<const char> bytes;

  std::string_view text() const { return {bytes.data(), bytes.size()}; }
};

// Largest size of an entry, in bytes: 1 GiB.
inline constexpr std::size_t max_entry_size = std::size_t{1} << 30;

// Reasons why there is no good entry at a position.
enum class Stop {
  clean,        // the log ends here
  torn,         // the file ends inside the entry
  checksum,     // the checksum does not match the bytes
  wrong_epoch,  // an entry from before a rotation
  wrong_order,  // a good entry, but not the successor of the entry before it
  overwritten,  // the log was rotated before this reader had read the entries here
  missing       // the segment with this entry is missing, but a later one exists
};

// The end of the good entries, and its reason.
struct End {
  Stop stop = Stop::clean;
  Position position;  // position of the next entry

  // Describes the reason: "torn: the entry does not end before the file does", …
  std::string text() const;
};

// ---- entries as text ----------------------------------------------------------------------------

// One per line: `joedb wal dump` prints them, `joedb wal load` reads them.

// Appends any bytes in double quotes, without a line break. `"` and `\` are preceded by `\`;
// control characters and bytes that are not UTF-8 become `\` and three octal digits; of two
// adjacent question marks the second is preceded by `\` (as joedb_logdump writes strings). Other
// text is unchanged.
void append_text(std::string& out, std::string_view bytes);

// Returns the bytes of such a line, given without its line end. `\` must be followed by three octal
// digits, by x and two hexadecimal digits, or by one character that is neither letter nor digit.
// Throws Exception, which states the error and its column.
std::string parse_text(std::string_view line);

// ---- recovery -----------------------------------------------------------------------------------

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
