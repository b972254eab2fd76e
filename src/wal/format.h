#ifndef WAL_FORMAT_H
#define WAL_FORMAT_H

#include <array>
#include <optional>
#include <string_view>

#include "joedb/io/file.h"
#include "joedb/wal/log.h"

// The bytes of a log, as docs/wal_format.md says. Pure functions, but for read_header.

namespace joedb::inline v1::wal {

// ---- header -------------------------------------------------------------------------------------

// A file has two slots for a header, so that a new one does not touch what is in force; the later
// valid one counts. A slot has two copies. Each copy has a page of its own: losing one loses
// nothing.
struct Header {
  std::uint64_t log_id = 0;          // random: entries of another log are never taken for ours
  std::uint64_t epoch = 0;           // how often the file was reset
  std::uint64_t first_sequence = 1;  // of the first entry of this epoch
  std::uint64_t oldest = 1;          // entries before this one are not needed any more
  friend bool operator==(const Header&, const Header&) = default;
};

inline constexpr std::string_view magic = "joedbwal";
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t header_bytes = 64;
inline constexpr Offset slot_size = 4096;
inline constexpr Offset copy_offset = 2 * slot_size;  // from the first copy of a slot to the second
inline constexpr Offset log_start = 4 * slot_size;

using Header_Bytes = std::array<char, header_bytes>;
Header_Bytes encode_header(const Header& header);
std::optional<Header> decode_header(std::string_view bytes);

// By epoch, then by what is the oldest entry.
bool is_later(const Header& a, const Header& b);

struct Found_Header {
  Header header;
  int slot = 0;
};
// Nothing if this is no log of format `checked`, or not yet. Throws Corruption_Error if it is one,
// but no header is good, or of a version to come.
std::optional<Found_Header> read_header(const Abstract_File& file);
// Where there is no header: whether the file is new, or a power cut has left it without one before
// there were entries. Otherwise it is of format `cwal`.
bool is_blank(const Abstract_File& file);
// Whether it has the first bytes of a log of format `checked`.
bool begins_as_log(const Abstract_File& file);
void write_header(Abstract_File& file, const Header& header, int slot);
// Writes zeros over what a power cut has left in a slot of a header that is not whole: a part of
// the next one could complete it. False if there was nothing.
bool clear_torn_header(Abstract_File& file, int slot);

// ---- entries of format `checked` ----------------------------------------------------------------

// Stands before the bytes of each entry; they are filled up with zeros to a multiple of 8.
struct Entry_Header {
  std::uint32_t crc = 0;       // of what follows, to the end of the bytes; begins with epoch_crc
  std::uint32_t previous = 0;  // crc of the entry before; of the first of an epoch: epoch_crc
  std::uint32_t length = 0;
  std::uint32_t unsynced = 0;  // how many entries before this one were perhaps not durable yet
  std::uint64_t sequence = 0;  // never 0: zeros are no entry
};
inline constexpr std::size_t entry_header_size = 24;
static_assert(sizeof(Entry_Header) == entry_header_size);
inline constexpr std::uint32_t nothing_durable = 0xffffffff;

// A length with this bit is of a marker, which is no entry: 8 random bytes, before the first entry
// that a writer appends to a log that it found. It has the sequence of that entry. What the writer
// before it has left behind the end follows other checksums, so that it is never taken for a
// successor of new entries.
inline constexpr std::uint32_t marker_bit = 0x80000000;
inline constexpr std::size_t marker_size = sizeof(std::uint64_t);
inline bool is_marker(const Entry_Header& header) { return (header.length & marker_bit) != 0; }
inline std::size_t length_of(const Entry_Header& header) { return header.length & ~marker_bit; }

inline std::size_t padded_size(std::size_t length) {
  return (entry_header_size + length + 7) / 8 * 8;
}

std::uint32_t epoch_crc(const Header& header);

// `entry`: header and bytes, without what fills it up. What stands in its crc does not count.
std::uint32_t entry_crc(std::string_view entry, std::uint32_t epoch);

// The last entry that was durable when this one was written, as far as is known.
std::uint64_t durable_before(const Entry_Header& entry);

// Throws Exception if no entry can have so many bytes.
void require_entry_size(std::size_t bytes, Format format);

// ---- entries of format `cwal` -------------------------------------------------------------------

inline constexpr std::size_t cwal_overhead = 12;  // length before the bytes, CRC behind them

}  // namespace joedb::inline v1::wal

#endif
