#ifndef JOEDB_SRC_KERNEL_FORMAT_SEAL_H
#define JOEDB_SRC_KERNEL_FORMAT_SEAL_H

#include <cstdint>
#include <string_view>

#include "joedb/base/types.h"

// The first copy of a slot contains a position X. The second copy may contain a seal: a checksum of
// the bytes of the file before X. If the seal matches these bytes, both they and X are on disk. So
// one sync makes both durable, and a reader of the slot can find out whether it was completed.
//
//     bit 63      0
//     bit 62      1: the word is greater than the size of any file, so it is no position
//     bits 40…61  number of bytes before X that the seal covers, 1 … seal_limit - 1
//     bits 0…39   the low bits of XXH3-64 of these bytes, seeded with X
//
// A slot with a position X and a matching seal counts as a slot that contains X twice.

namespace joedb::inline v1 {

inline constexpr Offset seal_limit = Offset{1} << 22;

// Returns the seal for `position`. `body` contains the last 1 … seal_limit - 1 bytes before
// `position`.
std::int64_t make_seal(std::string_view body, Offset position);

// Returns the number of bytes that a seal covers; 0 if the word is not a seal.
constexpr Offset sealed_size(std::int64_t word) {
  return word >> 62 == 1 ? (word >> 40) & (seal_limit - 1) : 0;
}

}  // namespace joedb::inline v1

#endif
