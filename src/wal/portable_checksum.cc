#include "wal/portable_checksum.h"

#include <array>

#include "joedb/base/types.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace joedb::inline v1::wal::portable {

namespace {

// Slicing-by-8: M. E. Kounavis, F. L. Berry, "A Systematic Approach to Building High Performance
// Software-Based CRC Generators", 2005. Table k holds the CRC of each byte followed by k zero
// bytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables(std::uint32_t reflected_polynomial) {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 1) != 0 ? crc >> 1 ^ reflected_polynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  return tables;
}

constexpr Tables castagnoli = make_tables(0x82f63b78);
constexpr Tables ieee = make_tables(0xedb88320);

std::uint32_t crc_by_tables(const Tables& t, std::string_view bytes, std::uint32_t crc) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint32_t a = load<std::uint32_t>(bytes.data()) ^ crc;
    const auto b = load<std::uint32_t>(bytes.data() + 4);
    crc = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^
          t[3][b & 0xff] ^ t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
  }
  for (const char c : bytes) crc = crc >> 8 ^ t[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return crc;
}

// The instruction CRC32 of SSE4.2 has this polynomial.
#if defined(__x86_64__)
const bool has_instruction = __builtin_cpu_supports("sse4.2");

[[gnu::target("sse4.2")]] std::uint32_t crc_by_instruction(std::string_view bytes,
                                                           std::uint32_t before) {
  std::uint64_t crc = before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    crc = _mm_crc32_u64(crc, load<std::uint64_t>(bytes.data()));
  auto result = static_cast<std::uint32_t>(crc);
  for (const char c : bytes) result = _mm_crc32_u8(result, static_cast<unsigned char>(c));
  return result;
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) {
  return ~crc_by_tables(castagnoli, bytes, ~before);
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (has_instruction) return ~crc_by_instruction(bytes, ~before);
#endif
  return crc32c_by_tables(bytes, before);
}

std::uint32_t crc32(std::string_view bytes) { return ~crc_by_tables(ieee, bytes, ~0U); }

}  // namespace joedb::inline v1::wal::portable
