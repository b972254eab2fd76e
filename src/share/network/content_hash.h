#ifndef JOEDB_SRC_SHARE_NETWORK_CONTENT_HASH_H
#define JOEDB_SRC_SHARE_NETWORK_CONTENT_HASH_H

#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <functional>

#include "joedb/base/types.h"

namespace joedb::network {

using Content_Hash = std::array<char, 32>;

// Reads `size` bytes of the journal at `offset`, or throws.
using Read_Bytes = std::function<void(char* data, std::size_t size, Offset offset)>;

// A SHA-256 hash of bytes that are added one piece after the other. A copy can continue
// independently.
class Running_Hash {
 public:
  Running_Hash();
  void add(const char* data, std::size_t size);
  // Reads the bytes [from, until) of the journal in blocks, and adds them.
  void add(const Read_Bytes& read, Offset from, Offset until);
  // Returns the hash of the bytes added so far, with the padding of SHA-256.
  Content_Hash padded() const;
  // Returns the eight state words, without padding. Requires that a multiple of 64 bytes was added.
  Content_Hash words() const;

 private:
  SHA256_CTX context_;
};

// Returns the hash with which client and server compare the bytes of a journal from the end of its
// header to `checkpoint`: the eight words of SHA-256, each little-endian. If `full`, or if there
// are less than 4 MiB, the hash covers all bytes. Otherwise, it covers 256 blocks of 4096 bytes,
// and has no padding. Requires checkpoint >= journal_start. Passes on the exceptions of `read`.
//
// Source: docs/reference/protocol.md; FIPS 180-4.
Content_Hash content_hash(const Read_Bytes& read, Offset checkpoint, bool full);

}  // namespace joedb::network

#endif
