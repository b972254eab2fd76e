#ifndef JOEDB_FORMAT_INTEGRITY_H
#define JOEDB_FORMAT_INTEGRITY_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "joedb/base/ids.h"

// An integrity entry covers the bytes before it. For a reader of version 5 it is a blob that
// nothing refers to:
//
//     offset  size  content
//          0     1  opcode of a blob
//          1     1  24, its size
//          2     8  magic: 00 'j' 'o' 'e' 'd' 'b' c5, then the kind (Integrity)
//         10     8  start: it covers the bytes from there to offset 0 of this entry
//         18     8  their hash (integrity_hash)
//
// A journal is covered up to the end of such an entry if the bytes before its start are covered, or
// there are none. (The magic begins with a zero because no entry does; 26 is no multiple of the
// size of any number, so that a damaged length hardly leads from one entry into the middle of
// this one and out at its end.)

namespace joedb::inline v1 {

inline constexpr Offset integrity_entry_size = 26;
inline constexpr Offset integrity_payload_size = 24;  // without opcode and size

// Before which checkpoints a writer puts an integrity entry.
enum class Integrity : std::uint8_t {
  // Hard ones, and soft ones where integrity_step bytes or more have none. A soft checkpoint
  // without one counts.
  sparse = 0x55,
  // All. A soft checkpoint without one is not believed, if there is one before the last hard one.
  each_checkpoint = 0,
};

// Where so many bytes have no integrity entry, the next checkpoint gets one, even if it is soft.
inline constexpr Offset integrity_step = Offset{1} << 16;

struct Integrity_Entry {
  Offset start;
  std::uint64_t hash;
  Integrity kind;
  friend bool operator==(const Integrity_Entry&, const Integrity_Entry&) = default;
};

std::array<char, integrity_entry_size> encode_integrity(const Integrity_Entry& entry);
// Nothing if these integrity_entry_size bytes are something else.
std::optional<Integrity_Entry> decode_integrity(std::string_view bytes);
std::optional<Integrity_Entry> decode_integrity_payload(std::string_view bytes);
// Whether these integrity_entry_size (integrity_payload_size) bytes are such an entry, or only a
// few bits from being one.
bool resembles_integrity(std::string_view bytes);
bool resembles_integrity_payload(std::string_view bytes);

// XXH3-64 of blocks of integrity_block_size bytes, the last one shorter: the first is seeded with
// its offset, each other one with the hash of the one before. So the hash of long ranges can be
// made block by block.
inline constexpr Offset integrity_block_size = Offset{1} << 18;
std::uint64_t integrity_hash(std::string_view bytes, std::uint64_t seed);

// The same of bytes that come in pieces.
class Integrity_Hasher {
 public:
  Integrity_Hasher();
  ~Integrity_Hasher();
  Integrity_Hasher(const Integrity_Hasher&) = delete;
  Integrity_Hasher& operator=(const Integrity_Hasher&) = delete;

  // The next byte is that at this offset of the file, and the first one.
  void start(Offset offset);
  // Requires start().
  void add(std::string_view bytes);
  // Of the bytes that were added since start().
  std::uint64_t hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;  // none before start()
};

}  // namespace joedb::inline v1

#endif
