// The fast hash needs the internal state of SHA-256, which the newer functions of OpenSSL do not
// expose.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "share/network/content_hash.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "joedb/format/header.h"

namespace joedb::network {

namespace {

class Sha256 {
 public:
  Sha256() { SHA256_Init(&context_); }
  void add(const char* data, std::size_t size) { SHA256_Update(&context_, data, size); }
  void pad() {
    unsigned char ignored[SHA256_DIGEST_LENGTH];
    SHA256_Final(ignored, &context_);
  }
  // Returns the state after whole blocks of 64 bytes.
  Content_Hash words() const {
    Content_Hash result;
    static_assert(sizeof context_.h == sizeof result);
    std::memcpy(result.data(), context_.h, sizeof result);
    return result;
  }

 private:
  SHA256_CTX context_;
};

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
  Sha256 hash;
  if (!full && size >= 4 * block_size * block_count) {
    std::vector<char> block(block_size);
    for (Offset i = 0; i < block_count; ++i) {
      read(block.data(), block.size(), block_offset(i, size));
      hash.add(block.data(), block.size());
    }
    return hash.words();
  }
  std::vector<char> buffer(static_cast<std::size_t>(std::min<Offset>(size, Offset{1} << 18)));
  for (Offset done = 0; done < size;) {
    const auto n = std::min(buffer.size(), static_cast<std::size_t>(size - done));
    read(buffer.data(), n, journal_start + done);
    hash.add(buffer.data(), n);
    done += static_cast<Offset>(n);
  }
  hash.pad();
  return hash.words();
}

}  // namespace joedb::network
