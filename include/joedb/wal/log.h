#ifndef JOEDB_WAL_LOG_H
#define JOEDB_WAL_LOG_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/types.h"

// Types shared by writers and readers of write-ahead logs. docs/wal_format.md describes the
// formats.

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

}  // namespace joedb::inline v1::wal

#endif
