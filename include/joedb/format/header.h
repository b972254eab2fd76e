#ifndef JOEDB_FORMAT_HEADER_H
#define JOEDB_FORMAT_HEADER_H

#include <array>
#include <cstdint>
#include <string_view>

#include "joedb/base/types.h"

// The header of a journal file, version 5:
//
//     offset  size  content
//          0     8  slot 0, copy 0      a checkpoint: signed, little-endian
//          8     8  slot 0, copy 1
//         16     8  slot 1, copy 0
//         24     8  slot 1, copy 1
//         32     4  format version: 5
//         36     5  "joedb"
//         41        the journal
//
// Two equal copies of at least 41 in a slot are a hard checkpoint. A negative word is a soft one.

namespace joedb::inline v1 {

inline constexpr std::size_t header_size = 41;
inline constexpr std::size_t checkpoint_words_size = 32;
inline constexpr Offset journal_start = 41;
inline constexpr std::uint32_t format_version = 5;
inline constexpr std::string_view signature = "joedb";
inline constexpr Offset signature_offset = 36;

using Checkpoint_Words = std::array<std::int64_t, 4>;

struct Header {
  Checkpoint_Words checkpoints{journal_start, journal_start, journal_start, journal_start};
  std::uint32_t version = format_version;
  std::array<char, 5> signature{'j', 'o', 'e', 'd', 'b'};
};

std::array<char, header_size> encode_header(const Header& header);
Header decode_header(const std::array<char, header_size>& bytes);
Checkpoint_Words decode_checkpoints(const std::array<char, checkpoint_words_size>& bytes);

// Returns the offset of a word in the file.
constexpr Offset checkpoint_word_offset(int slot, int copy) { return 8 * (2 * slot + copy); }

}  // namespace joedb::inline v1

#endif
