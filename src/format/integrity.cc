#include "joedb/format/integrity.h"

#include <cstring>

#include "format/hash.h"
#include "joedb/base/bytes.h"
#include "joedb/format/entry.h"

namespace joedb::inline v1 {

// Opcode, size and magic.
static constexpr std::size_t prefix_size = 10;
static constexpr std::size_t magic_offset = 2;
static constexpr char prefix[prefix_size] = {static_cast<char>(Opcode::blob),
                                             char{integrity_payload_size},
                                             0,
                                             'j',
                                             'o',
                                             'e',
                                             'd',
                                             'b',
                                             '\xc5',
                                             0};

std::array<char, integrity_entry_size> encode_integrity(const Integrity_Entry& entry) {
  std::array<char, integrity_entry_size> bytes;
  std::memcpy(bytes.data(), prefix, prefix_size);
  store(store(bytes.data() + prefix_size, entry.start), entry.hash);
  return bytes;
}

std::optional<Integrity_Entry> decode_integrity(std::string_view bytes) {
  if (std::memcmp(bytes.data(), prefix, magic_offset) != 0) return std::nullopt;
  return decode_integrity_payload(bytes.substr(magic_offset));
}

std::optional<Integrity_Entry> decode_integrity_payload(std::string_view bytes) {
  constexpr std::size_t magic_size = prefix_size - magic_offset;
  if (std::memcmp(bytes.data(), prefix + magic_offset, magic_size) != 0) return std::nullopt;
  return Integrity_Entry{load<Offset>(bytes.data() + magic_size),
                         load<std::uint64_t>(bytes.data() + magic_size + sizeof(Offset))};
}

// Asked before every checkpoint; without the processor's own instruction std::popcount is a call.
bool resembles_integrity(std::string_view bytes) {
  constexpr int few = 8;
  int difference = 0;
  const auto count = [&](std::uint64_t bits) {
    for (; bits != 0 && difference <= few; bits &= bits - 1) ++difference;
  };
  static_assert(prefix_size == 10);
  count(load<std::uint64_t>(bytes.data()) ^ load<std::uint64_t>(prefix));
  count(std::uint64_t{load<std::uint16_t>(bytes.data() + 8)} ^ load<std::uint16_t>(prefix + 8));
  return difference <= few;
}

std::uint64_t integrity_hash(std::string_view bytes, std::uint64_t seed) {
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, std::size_t{integrity_block_size});
    seed = hash_of(block, seed);
    bytes.remove_prefix(block.size());
  }
  return seed;
}

}  // namespace joedb::inline v1
