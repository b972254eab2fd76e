#ifndef JOEDB_WAL_LOG_H
#define JOEDB_WAL_LOG_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/ids.h"

// The words of the write-ahead-log library: what writers and readers of logs have in common. The
// formats are described in docs/wal_format.md.

namespace joedb::inline v1::wal {

enum class Format {
  checked,  // the default: a header; entries that prove length, order and age with a CRC-32C
  cwal      // that of CWal: length, bytes, CRC-32 of the bytes
};

// Where an entry is. `sequence` counts the entries of a log from 1, and continues when the log is
// rotated, and, in a log of several files, from file to file. `offset` is that of the entry in its
// file.
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

// The largest size of an entry, in bytes: 1 GiB.
inline constexpr std::size_t max_entry_size = std::size_t{1} << 30;

// Why there is no good entry where one is expected.
enum class Stop {
  clean,        // nothing was written there
  torn,         // the entry does not end before the file does
  checksum,     // these bytes are not those that were written
  wrong_epoch,  // an entry from before a rotation
  wrong_order,  // a good entry, but one that does not follow the entry before it
  overwritten,  // rotated while it was read: the entries here are lost for this reader
  missing       // of segments: a later one is there, but not the one with this entry
};

// Where the good entries end.
struct End {
  Stop stop = Stop::clean;
  Position position;  // of the next entry, if there were one

  // "torn: the entry does not end before the file does", …
  std::string text() const;
};

}  // namespace joedb::inline v1::wal

#endif
