#ifndef JOEDB_SRC_SHARE_CLUSTER_PREFIX_HASH_H
#define JOEDB_SRC_SHARE_CLUSTER_PREFIX_HASH_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/format/header.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A position in a journal, with a hash of all bytes before it. The bytes from position 41 on are
// hashed in blocks of 16 KiB. The hash of each block is seeded with the hash of the blocks before
// it. `hash` covers the bytes after the last whole block, and is seeded with `block_hash`. So the
// bytes of a single block are enough to continue a hash, or to compare it with a local file.
//
// The hash is 64-bit XXH3 (kernel/format/hash.h). It detects copies that have diverged, but not
// forgery.
struct Journal_State {
  Offset end = journal_start;
  std::uint64_t block_hash = 0;  // hash of the whole blocks before `end`; 0 if there are none
  std::uint64_t hash = 0;        // hash of all bytes before `end`; 0 if there are none

  bool operator==(const Journal_State&) const = default;
};

// Computes a Journal_State incrementally.
class Prefix_Hash {
 public:
  static constexpr Offset block_size = Offset{1} << 14;

  // Begins with an empty journal.
  Prefix_Hash() = default;
  // Continues from `state`. Reads from `file` the bytes after the last whole block, and throws
  // Content_Mismatch if their hash differs.
  Prefix_Hash(const Journal_State& state, const Abstract_File& file);

  void append(std::string_view bytes);
  // Appends the bytes of the file from end() up to `end`.
  void append(const Abstract_File& file, Offset end);
  Journal_State state() const;
  Offset end() const { return block_start_ + static_cast<Offset>(block_.size()); }

 private:
  Offset block_start_ = journal_start;
  std::uint64_t block_hash_ = 0;
  std::string block_;  // the bytes after the last whole block
};

}  // namespace joedb::inline v1

#endif
