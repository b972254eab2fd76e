#ifndef JOEDB_FORMAT_HEADER_H
#define JOEDB_FORMAT_HEADER_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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
// A slot contains a hard checkpoint if its two copies are equal, and at least 41. A negative word
// is a soft checkpoint; its position is the absolute value.

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

  bool has_signature() const {
    return std::string_view(signature.data(), signature.size()) == joedb::signature;
  }
};

std::array<char, header_size> encode_header(const Header& header);
Header decode_header(const std::array<char, header_size>& bytes);
Checkpoint_Words decode_checkpoints(const std::array<char, checkpoint_words_size>& bytes);

// Returns the offset of a word in the file.
constexpr Offset checkpoint_word_offset(int slot, int copy) { return 8 * (2 * slot + copy); }

// An integrity entry contains a hash of the bytes before it, and so covers these bytes. Older
// readers of version 5 see a blob to which nothing refers:
//
//     offset  size  content
//          0     1  opcode of a blob
//          1     1  24, its size
//          2     8  magic: 00 'j' 'o' 'e' 'd' 'b' c5, then the kind (Integrity)
//         10     8  start: it covers the bytes from there to offset 0 of this entry
//         18     8  their hash (integrity_hash)
//
// A journal is covered up to the end of such an entry if the journal is covered up to `start`, or
// begins at `start`. (The magic begins with a zero because no entry begins with a zero. The size of
// the entry, 26, is not a multiple of the size of any number type: so a vector with a damaged
// length is unlikely to end exactly where this entry ends.)

inline constexpr Offset integrity_entry_size = 26;
inline constexpr Offset integrity_payload_size = 24;  // without opcode and size

// The kind of an integrity entry: the checkpoints before which its writer appends integrity
// entries.
enum class Integrity : std::uint8_t {
  // Before each hard checkpoint, and before each soft checkpoint after integrity_step or more
  // uncovered bytes. A soft checkpoint without an integrity entry is valid.
  sparse = 0x55,
  // Before each checkpoint. If an entry of this kind precedes the last hard checkpoint, a soft
  // checkpoint without such an entry is an error.
  each_checkpoint = 0,
};

// If there are at least this number of uncovered bytes, the next checkpoint gets an integrity
// entry, even if the checkpoint is soft.
inline constexpr Offset integrity_step = Offset{1} << 16;

struct Integrity_Entry {
  Offset start;
  std::uint64_t hash;
  Integrity kind;
  friend bool operator==(const Integrity_Entry&, const Integrity_Entry&) = default;
};

std::array<char, integrity_entry_size> encode_integrity(const Integrity_Entry& entry);
// Return nullopt if the bytes are not an integrity entry. Require integrity_entry_size and
// integrity_payload_size bytes.
std::optional<Integrity_Entry> decode_integrity(std::string_view bytes);
std::optional<Integrity_Entry> decode_integrity_payload(std::string_view bytes);
// True if the bytes, as many as above, are an integrity entry, or differ from an integrity entry in
// only a few bits of its constant part.
bool resembles_integrity(std::string_view bytes);
bool resembles_integrity_payload(std::string_view bytes);

// XXH3-64, applied to blocks of integrity_block_size bytes; the last block may be shorter. The seed
// of the first block is its offset, and the seed of each later block is the hash of the block
// before it. So a long range can be hashed block by block.
inline constexpr Offset integrity_block_size = Offset{1} << 18;
std::uint64_t integrity_hash(std::string_view bytes, std::uint64_t seed);

class Hash_Of_Pieces;

// Computes integrity_hash of a range of a file whose bytes come in pieces.
class Integrity_Hasher {
 public:
  Integrity_Hasher();
  ~Integrity_Hasher();
  Integrity_Hasher(const Integrity_Hasher&) = delete;
  Integrity_Hasher& operator=(const Integrity_Hasher&) = delete;

  // Starts a hash of an empty range at this offset, which must not be 0.
  void start_at(Offset offset) {
    start_ = end_ = offset;
    seed_ = static_cast<std::uint64_t>(offset);
  }
  void stop() { start_ = 0; }
  bool is_running() const { return start_ != 0; }

  Offset start() const { return start_; }
  Offset end() const { return end_; }
  // Appends the bytes to the range. Requires is_running().
  void add(std::string_view bytes);
  // Returns the hash of [start(), end()). Requires is_running().
  std::uint64_t hash() const;

 private:
  Offset start_ = 0;
  Offset end_ = 0;
  std::uint64_t seed_ = 0;                 // seed of the incomplete block at the end of the range
  std::unique_ptr<Hash_Of_Pieces> block_;  // the bytes of that block; null before the first add()
};

}  // namespace joedb::inline v1

#endif
