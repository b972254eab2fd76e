#ifndef JOEDB_SRC_WAL_FORMAT_H
#define JOEDB_SRC_WAL_FORMAT_H

#include <array>
#include <optional>
#include <string_view>

#include "joedb/io/file.h"
#include "joedb/wal/log.h"

// The bytes of a log, as described in docs/wal_format.md. All functions that take no file are pure.

namespace joedb::inline v1::wal {

// ---- header -------------------------------------------------------------------------------------

// A file has two slots for headers, so that a new header does not overwrite the current header. The
// later valid header counts. A slot holds two copies of a header, each in a page of its own, so
// that the loss of a page does no harm.
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
inline constexpr Offset copy_offset = 2 * slot_size;  // distance between the two copies in a slot
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
// Returns the current header. Returns nullopt if the file is not, or not yet, a log of format
// `checked`. Throws Corruption_Error if it is such a log, but has no good header, or has a header
// of a later version.
std::optional<Found_Header> read_header(const Abstract_File& file);
// For a file without a good header. True if the file is new, or if a power cut has left it without
// a header before there were entries. If false, the file has format `cwal`.
bool is_blank(const Abstract_File& file);
// Returns true if the file begins with the magic of format `checked`.
bool begins_as_log(const Abstract_File& file);
void write_header(Abstract_File& file, const Header& header, int slot);
// Overwrites copies of a header in this slot that a power cut has torn with zeros. Otherwise, a
// torn write of the next header could complete such a copy. Returns false if there were none.
bool clear_torn_header(Abstract_File& file, int slot);

// ---- entries of format `checked` ----------------------------------------------------------------

// Precedes the bytes of each entry, which are padded with zeros to a multiple of 8.
struct Entry_Header {
  std::uint32_t crc = 0;       // continues epoch_crc over the bytes from `previous` to the padding
  std::uint32_t previous = 0;  // crc of the previous entry; epoch_crc if there is none
  std::uint32_t length = 0;
  std::uint32_t unsynced = 0;  // number of previous entries that may not be durable yet
  std::uint64_t sequence = 0;  // never 0, so that zeros are not an entry
};
inline constexpr std::size_t entry_header_size = 24;
static_assert(sizeof(Entry_Header) == entry_header_size);
inline constexpr std::uint32_t nothing_durable = 0xffffffff;

// This bit of the length identifies a marker, which is not an entry: 8 random bytes before the
// first entry that a writer appends to an existing log, with the sequence of that entry. Stale
// bytes past the end, from an earlier writer, are chained to other checksums, so they are never
// taken for successors of new entries. A marker after the last entry is a mark: its `unsynced` is
// the number of entries that were not durable when the log was closed.
inline constexpr std::uint32_t marker_bit = 0x80000000;
inline constexpr std::size_t marker_size = sizeof(std::uint64_t);
inline bool is_marker(const Entry_Header& header) { return (header.length & marker_bit) != 0; }
inline std::size_t length_of(const Entry_Header& header) { return header.length & ~marker_bit; }

inline std::size_t padded_size(std::size_t length) {
  return (entry_header_size + length + 7) / 8 * 8;
}

std::uint32_t epoch_crc(const Header& header);

// Returns the CRC of an entry. `entry` is the header and the bytes, without padding; the value of
// `crc` in the header is ignored.
std::uint32_t entry_crc(std::string_view entry, std::uint32_t epoch);

// Returns the sequence of the last entry that was known to be durable when this entry was written;
// 0 if there was none.
std::uint64_t durable_before(const Entry_Header& entry);

// Throws Exception if no entry of this format can have this size.
void require_entry_size(std::size_t bytes, Format format);

// ---- entries of format `cwal` -------------------------------------------------------------------

inline constexpr std::size_t cwal_overhead = 12;  // length before the bytes, CRC after them

}  // namespace joedb::inline v1::wal

#endif
