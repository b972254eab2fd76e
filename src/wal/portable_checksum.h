#ifndef JOEDB_SRC_WAL_PORTABLE_CHECKSUM_H
#define JOEDB_SRC_WAL_PORTABLE_CHECKSUM_H

#include <cstdint>
#include <string_view>

// The checksums of checksum.h, implemented without ISA-L. Used if joedb is built without ISA-L.

namespace joedb::inline v1::wal::portable {

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);
std::uint32_t crc32(std::string_view bytes);

// crc32c for a processor that has no instruction for CRC-32C.
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0);

}  // namespace joedb::inline v1::wal::portable

#endif
