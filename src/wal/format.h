#ifndef JOEDB_SRC_WAL_FORMAT_H
#define JOEDB_SRC_WAL_FORMAT_H

#include <array>
#include <optional>
#include <string_view>

#include "joedb/io/file.h"
#include "joedb/wal/log.h"

// The bytes of a log, as described in docs/wal_format.md. All functions are pure, unless they take
// a file.

namespace joedb::inline v1::wal {

// ---- header -------------------------------------------------------------------------------------

// A file has two slots for a header, so that a new header does not touch the one in force; the
// later valid one counts. A slot holds two copies. Each copy has a page of its own: losing one page
// loses nothing.
struct Header {
  std::uint64_t log_id = 0;          // random, so that entries of other logs are detected
  std::uint64_t epoch = 0;           // number of resets, from 1
  std::uint64_t first_sequence = 1;  // sequence of the first entry of this epoch
  std::uint64_t oldest = 1;          // sequence of the first needed entry
  friend bool operator==(const Header&, const Header&) = default;
};

inline constexpr std::string_view magic = "joedbwal";
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t header_bytes = 64;
inline constexpr Offset slot_size = 4096;
inline constexpr Offset copy_offset = 2 * slot_size;  // distance of the two copies of a slot
inline constexpr Offset log_start = 4 * slot_size;

using Header_Bytes = std::array<char, header_bytes>;
Header_Bytes encode_header(const Header& header);
std::optional<Header> decode_header(std::string_view bytes);

// True if `a` is later than `b`: by epoch, then by `oldest`.
bool is_later(const Header& a, const Header& b);

struct Found_Header {
  Header header;
  int slot = 0;
};
// Returns the header in force. Returns nullopt if the file is not a log of format `checked`, or not
// one yet. Throws Corruption_Error if it is one, but has no good header, or a header of a later
// version.
std::optional<Found_Header> read_header(const Abstract_File& file);
// For a file without a good header: true if it is new, or if a power cut has left it without a
// header before there were entries. Otherwise it is of format `cwal`.
bool is_blank(const Abstract_File& file);
// Returns true if the file begins with the magic of format `checked`.
bool begins_as_log(const Abstract_File& file);
void write_header(Abstract_File& file, const Header& header, int slot);
// Overwrites with zeros the copies of a header in this slot that a power cut has torn: a torn write
// of the next header could complete one. Returns false if there were none.
bool clear_torn_header(Abstract_File& file, int slot);

// ---- entries of format `checked` ----------------------------------------------------------------

// Precedes the bytes of each entry; these are padded with zeros to a multiple of 8.
struct Entry_Header {
  std::uint32_t crc = 0;       // continues epoch_crc over the bytes from `previous` to the padding
  std::uint32_t previous = 0;  // crc of the entry before; epoch_crc for the first of an epoch
  std::uint32_t length = 0;
  std::uint32_t unsynced = 0;  // number of entries before this one that may not be durable yet
  std::uint64_t sequence = 0;  // never 0: zeros are no entry
};
inline constexpr std::size_t entry_header_size = 24;
static_assert(sizeof(Entry_Header) == entry_header_size);
inline constexpr std::uint32_t nothing_durable = 0xffffffff;

// Length bit of a marker, which is not an entry: 8 random bytes before the first entry that a
// writer appends to an existing log. It has the sequence of that entry. Stale bytes past the end,
// from an earlier writer, follow other checksums, so they are never taken for successors of new
// entries. A marker after the last entry is a mark: its `unsynced` records how many entries were
// not durable when the log was closed.
inline constexpr std::uint32_t marker_bit = 0x80000000;
inline constexpr std::size_t marker_size = sizeof(std::uint64_t);
inline bool is_marker(const Entry_Header& header) { return (header.length & marker_bit) != 0; }
inline std::size_t length_of(const Entry_Header& header) { return header.length & ~marker_bit; }

inline std::size_t padded_size(std::size_t length) {
  return (entry_header_size + length + 7) / 8 * 8;
}

std::uint32_t epoch_crc(const Header& header);

// CRC of an entry, given with header and bytes but without padding. The value of its `crc` is
// ignored.
std::uint32_t entry_crc(std::string_view entry, std::uint32_t epoch);

// Sequence of the last entry that was known to be durable when this one was written; 0 if none.
std::uint64_t durable_before(const Entry_Header& entry);

// Throws Exception if no entry of this format can have this size.
void require_entry_size(std::size_t bytes, Format format);

// ---- entries of format `cwal` -------------------------------------------------------------------

inline constexpr std::size_t cwal_overhead = 12;  // length before the bytes, CRC after them

}  // namespace joedb::inline v1::wal

#endif
