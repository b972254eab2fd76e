#include "wal/checksum.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace joedb::inline v1::wal {

// crc32_iscsi neither begins nor ends with an inversion, takes an int for the size, and does not
// change the bytes that it gets without const.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  constexpr std::size_t most = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), most);
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(size), crc);
    bytes.remove_prefix(size);
  }
  return ~crc;
}

std::uint32_t crc32(std::string_view bytes) {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace joedb::inline v1::wal
