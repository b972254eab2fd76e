#ifndef CLUSTER_PREFIX_HASH_H
#define CLUSTER_PREFIX_HASH_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/format/header.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A position of a journal, with a hash of everything before it: of the blocks of 16 KiB from
// position 41 on. The hash of a block is seeded with that of all blocks before it, and `hash`, of
// the bytes behind the last whole block, with `block_hash`. So a hash can be continued, and
// compared with a local file, from the bytes of one block alone.
//
// XXH3, 64 bits (format/hash.h): for copies that have diverged, not against forgery.
struct Journal_State {
  Offset end = journal_start;
  std::uint64_t block_hash = 0;  // of all whole blocks before `end`; of none: 0
  std::uint64_t hash = 0;        // of everything before `end`; of nothing: 0

  bool operator==(const Journal_State&) const = default;
};

// Computes it.
class Prefix_Hash {
 public:
  static constexpr Offset block_size = Offset{1} << 14;

  // Nothing yet.
  Prefix_Hash() = default;
  // Continues from a state of which `file` has the bytes. Reads those of the last block, and throws
  // Content_Mismatch if they are others.
  Prefix_Hash(const Journal_State& state, const Abstract_File& file);

  void append(std::string_view bytes);
  // The bytes of the file from here up to `end`.
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
