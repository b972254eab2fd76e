#ifndef JOEDB_SRC_SHARE_CLUSTER_PREFIX_HASH_H
#define JOEDB_SRC_SHARE_CLUSTER_PREFIX_HASH_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/format/header.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A position of a journal, with a hash of all bytes before it. From position 41 on, blocks of 16
// KiB are hashed. The hash of a block is seeded with the hash of all blocks before it. `hash`
// covers the bytes after the last whole block, and is seeded with `block_hash`. So the bytes of one
// block suffice to continue a hash, and to compare it with a local file.
//
// The hash is XXH3, 64 bits (kernel/format/hash.h): it detects copies that have diverged, but not
// forgery.
struct Journal_State {
  Offset end = journal_start;
  std::uint64_t block_hash = 0;  // of all whole blocks before `end`; 0 if none
  std::uint64_t hash = 0;        // of all bytes before `end`; 0 if none

  bool operator==(const Journal_State&) const = default;
};

// Computes a Journal_State.
class Prefix_Hash {
 public:
  static constexpr Offset block_size = Offset{1} << 14;

  // Begins with no bytes.
  Prefix_Hash() = default;
  // Continues from `state`, whose bytes `file` has. Reads the bytes after the last whole block, and
  // throws Content_Mismatch if they differ.
  Prefix_Hash(const Journal_State& state, const Abstract_File& file);

  void append(std::string_view bytes);
  // Appends the bytes of the file from end() up to `end`.
  void append(const Abstract_File& file, Offset end);
  Journal_State state() const;
  Offset end() const { return block_start_ + static_cast<Offset>(block_.size()); }

 private:
  Offset block_start_ = journal_start;
  std::uint64_t block_hash_ = 0;
  std::string block_;  // shorter than a block
};

}  // namespace joedb::inline v1

#endif
