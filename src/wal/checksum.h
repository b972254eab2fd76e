#ifndef JOEDB_SRC_WAL_CHECKSUM_H
#define JOEDB_SRC_WAL_CHECKSUM_H

#include <cstdint>
#include <string_view>

namespace joedb::inline v1::wal {

// CRC-32C (Castagnoli; RFC 3720, B.4). crc32c(b, crc32c(a)) is the CRC of a followed by b.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

// CRC-32 (IEEE 802.3, as in zlib).
std::uint32_t crc32(std::string_view bytes);

}  // namespace joedb::inline v1::wal

#endif
