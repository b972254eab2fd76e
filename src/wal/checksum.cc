#include "wal/checksum.h"

#ifdef JOEDB_HAS_ISAL

#include <isa-l/crc.h>

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace joedb::inline v1::wal {

namespace {

// ISA-L leaves the upper halves of vector registers dirty. Then every SSE instruction waits for
// them, which takes 0.4 us for an entry of 1,000 bytes.
#if defined(__x86_64__)
[[gnu::target("avx")]] void clear_upper_halves() { _mm256_zeroupper(); }
const bool has_upper_halves = __builtin_cpu_supports("avx");
#else
void clear_upper_halves() {}
constexpr bool has_upper_halves = false;
#endif

}  // namespace

// crc32_iscsi does not invert the CRC at the beginning or end, and its size is an int. It does not
// change the bytes, although its parameter is not const.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  constexpr std::size_t most = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), most);
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(size), crc);
    bytes.remove_prefix(size);
  }
  if (has_upper_halves) clear_upper_halves();
  return ~crc;
}

std::uint32_t crc32(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::uint32_t crc = crc32_gzip_refl(0, data, bytes.size());
  if (has_upper_halves) clear_upper_halves();
  return crc;
}

}  // namespace joedb::inline v1::wal

#else

#include "wal/portable_checksum.h"

namespace joedb::inline v1::wal {

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  return portable::crc32c(bytes, before);
}

std::uint32_t crc32(std::string_view bytes) { return portable::crc32(bytes); }

}  // namespace joedb::inline v1::wal

#endif
