// The fast hash needs the internal state of SHA-256. Newer functions of OpenSSL do not expose it.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "share/network/content_hash.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "joedb/format/header.h"

namespace joedb::network {

Running_Hash::Running_Hash() { SHA256_Init(&context_); }

void Running_Hash::add(const char* data, std::size_t size) { SHA256_Update(&context_, data, size); }

void Running_Hash::add(const Read_Bytes& read, Offset from, Offset until) {
  std::vector<char> buffer(static_cast<std::size_t>(std::min<Offset>(until - from, 1 << 18)));
  while (from < until) {
    const auto n = std::min(buffer.size(), static_cast<std::size_t>(until - from));
    read(buffer.data(), n, from);
    add(buffer.data(), n);
    from += static_cast<Offset>(n);
  }
}

Content_Hash Running_Hash::padded() const {
  Running_Hash copy = *this;
  unsigned char ignored[SHA256_DIGEST_LENGTH];
  SHA256_Final(ignored, &copy.context_);
  return copy.words();
}

Content_Hash Running_Hash::words() const {
  Content_Hash result;
  static_assert(sizeof context_.h == sizeof result);
  std::memcpy(result.data(), context_.h, sizeof result);
  return result;
}

namespace {

constexpr Offset block_size = 4096;
constexpr Offset block_count = 256;

// Returns the offset of block i of the fast hash.
Offset block_offset(Offset i, Offset size) {
  if (i == 0) return journal_start;
  if (i == block_count - 1) return journal_start + size - block_size;
  return (journal_start + i * size) / (block_size * (block_count - 1)) * block_size;
}

}  // namespace

Content_Hash content_hash(const Read_Bytes& read, Offset checkpoint, bool full) {
  const Offset size = checkpoint - journal_start;
  Running_Hash hash;
  if (!full && size >= 4 * block_size * block_count) {
    std::vector<char> block(block_size);
    for (Offset i = 0; i < block_count; ++i) {
      read(block.data(), block.size(), block_offset(i, size));
      hash.add(block.data(), block.size());
    }
    return hash.words();
  }
  hash.add(read, journal_start, checkpoint);
  return hash.padded();
}

}  // namespace joedb::network
