#include <cstdint>
#include <cstring>

#include "joedb/base/types.h"
#include "sim/lab/random.h"
#include "wal/format.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace joedb;

// Corrects the checksum of a header.
void sign_header(char* bytes) {
  const char* const p = bytes + wal::magic.size() + 2 * sizeof(std::uint32_t);
  const auto encoded =
      wal::encode_header({load<std::uint64_t>(p), load<std::uint64_t>(p + 8),
                          load<std::uint64_t>(p + 16), load<std::uint64_t>(p + 24)});
  std::memcpy(bytes, encoded.data(), encoded.size());
}

std::size_t change_header(char* data, std::size_t size, testing::Random& random) {
  const auto start = static_cast<std::size_t>(wal::slot_size) * random.below(2);
  const auto copy = static_cast<std::size_t>(wal::copy_offset);
  char* const header = data + start;
  char* const field = header + 16 + 8 * random.below(4);
  store(field, load<std::uint64_t>(field) + random.below(5) - 2);
  sign_header(header);
  if (random.flip()) std::memcpy(header + copy, header, wal::header_bytes);
  return size;
}

// Changes one of the consecutive entries, and corrects the checksums of all entries (unless the
// change is a wrong checksum).
std::size_t change_entries(char* data, std::size_t size, testing::Random& random) {
  const auto slot = static_cast<std::size_t>(wal::slot_size) * random.below(2);
  const auto header = wal::decode_header({data + slot, wal::header_bytes});
  if (!header) return size;
  const std::uint32_t epoch = wal::epoch_crc(*header);
  std::uint32_t previous = epoch;
  const std::size_t changed = random.below(6);
  auto at = static_cast<std::size_t>(wal::log_start);
  for (std::size_t i = 0; at + wal::entry_header_size <= size; ++i) {
    char* const place = data + at;
    auto entry = load<wal::Entry_Header>(place);
    const std::size_t what = i == changed ? random.below(5) : 5;
    if (what == 0) entry.length = static_cast<std::uint32_t>(random.below(64));
    if (what == 1) entry.sequence += random.below(5) - 2;
    if (what == 2) entry.unsynced = static_cast<std::uint32_t>(random.below(5));
    entry.previous = what == 3 ? static_cast<std::uint32_t>(random.next()) : previous;
    const std::size_t used = wal::entry_header_size + entry.length;
    if (used > size - at) break;
    store(place, entry);
    entry.crc = wal::entry_crc({place, used}, epoch);
    if (what == 4) ++entry.crc;
    store(place, entry.crc);
    previous = entry.crc;
    at += wal::padded_size(entry.length);
  }
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  testing::Random random(seed);
  const std::size_t what = random.below(3);
  if (size < static_cast<std::size_t>(wal::log_start) || what == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  char* const bytes = reinterpret_cast<char*>(data);
  return what == 1 ? change_header(bytes, size, random) : change_entries(bytes, size, random);
}
