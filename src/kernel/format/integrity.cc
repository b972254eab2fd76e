#include "joedb/format/header.h"

#include <cassert>
#include <cstring>

#include "joedb/base/types.h"
#include "joedb/format/entry.h"
#include "kernel/format/hash.h"

namespace joedb::inline v1 {

// Opcode, size, and the magic without its last byte, which is the kind.
static constexpr std::size_t prefix_size = 9;
static constexpr std::size_t magic_offset = 2;
static constexpr char prefix[prefix_size] = {static_cast<char>(Opcode::blob),
                                             char{integrity_payload_size},
                                             0,
                                             'j',
                                             'o',
                                             'e',
                                             'd',
                                             'b',
                                             '\xc5'};

std::array<char, integrity_entry_size> encode_integrity(const Integrity_Entry& entry) {
  std::array<char, integrity_entry_size> bytes;
  std::memcpy(bytes.data(), prefix, prefix_size);
  bytes[prefix_size] = static_cast<char>(entry.kind);
  store(store(bytes.data() + prefix_size + 1, entry.start), entry.hash);
  return bytes;
}

std::optional<Integrity_Entry> decode_integrity(std::string_view bytes) {
  if (std::memcmp(bytes.data(), prefix, magic_offset) != 0) return std::nullopt;
  return decode_integrity_payload(bytes.substr(magic_offset));
}

std::optional<Integrity_Entry> decode_integrity_payload(std::string_view bytes) {
  constexpr std::size_t magic_size = prefix_size - magic_offset;
  if (std::memcmp(bytes.data(), prefix + magic_offset, magic_size) != 0) return std::nullopt;
  const auto kind = static_cast<Integrity>(bytes[magic_size]);
  if (kind != Integrity::sparse && kind != Integrity::each_checkpoint) return std::nullopt;
  const char* const rest = bytes.data() + magic_size + 1;
  return Integrity_Entry{load<Offset>(rest), load<std::uint64_t>(rest + sizeof(Offset)), kind};
}

// Used instead of std::popcount, which is a function call if the compiler may not use the
// instruction of the processor. Called before every checkpoint.
static int count_of_bits(std::uint64_t bits) {
  bits -= (bits >> 1) & 0x5555'5555'5555'5555;
  bits = (bits & 0x3333'3333'3333'3333) + ((bits >> 2) & 0x3333'3333'3333'3333);
  bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
  return static_cast<int>((bits * 0x0101'0101'0101'0101) >> 56);
}

static constexpr int few_bits = 8;
// The limit for arbitrary blobs of the size of the payload. With a higher limit, one of 100 million
// hashes would be mistaken for an entry.
static constexpr int few_bits_of_payload = 2;

bool resembles_integrity(std::string_view bytes) {
  return count_of_bits(load<std::uint64_t>(bytes.data()) ^ load<std::uint64_t>(prefix)) <= few_bits;
}

bool resembles_integrity_payload(std::string_view bytes) {
  constexpr std::uint64_t last_byte = std::uint64_t{0xff} << 56;
  const auto pattern = load<std::uint64_t>(prefix + 1) >> 8;
  return count_of_bits((load<std::uint64_t>(bytes.data()) ^ pattern) & ~last_byte) <=
         few_bits_of_payload;
}

std::uint64_t integrity_hash(std::string_view bytes, std::uint64_t seed) {
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, std::size_t{integrity_block_size});
    seed = hash_of(block, seed);
    bytes.remove_prefix(block.size());
  }
  return seed;
}

Integrity_Hasher::Integrity_Hasher() = default;
Integrity_Hasher::~Integrity_Hasher() = default;

void Integrity_Hasher::add(std::string_view bytes) {
  assert(is_running());
  if (!block_) block_ = std::make_unique<Hash_Of_Pieces>();
  while (!bytes.empty()) {
    const Offset in_block = (end_ - start_) % integrity_block_size;
    const std::string_view piece =
        bytes.substr(0, static_cast<std::size_t>(integrity_block_size - in_block));
    if (in_block == 0) block_->start(seed_);
    block_->add(piece);
    end_ += static_cast<Offset>(piece.size());
    if ((end_ - start_) % integrity_block_size == 0) seed_ = block_->hash();
    bytes.remove_prefix(piece.size());
  }
}

std::uint64_t Integrity_Hasher::hash() const {
  assert(is_running());
  return (end_ - start_) % integrity_block_size == 0 ? seed_ : block_->hash();
}

}  // namespace joedb::inline v1
