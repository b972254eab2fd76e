#ifndef NETWORK_CONTENT_HASH_H
#define NETWORK_CONTENT_HASH_H

#include <array>
#include <cstddef>
#include <functional>

#include "joedb/base/ids.h"

namespace joedb::network {

using Content_Hash = std::array<char, 32>;

// Reads `size` bytes of the journal, or throws.
using Read_Bytes = std::function<void(char* data, std::size_t size, Offset offset)>;

// Of the bytes of a journal behind its header, before `checkpoint`, as two ends of the protocol
// compare them. The bytes are the eight words of SHA-256, each little-endian. `full`: all bytes.
// Otherwise, from 4 MiB on, 256 blocks of 4096 bytes stand for them, and the hash has no padding.
// Requires checkpoint >= journal_start. Throws what `read` throws.
//
// Source: docs/reference/protocol.md; FIPS 180-4.
Content_Hash content_hash(const Read_Bytes& read, Offset checkpoint, bool full);

}  // namespace joedb::network

#endif
