#ifndef JOEDB_SRC_SHARE_SERVER_PREFIX_HASHES_H
#define JOEDB_SRC_SHARE_SERVER_PREFIX_HASHES_H

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "share/network/content_hash.h"

namespace joedb::server {

// Computes the hashes of a journal up to its checkpoints, in steps that each read at most step_size
// bytes.
//
// The bytes before a checkpoint never change, so intermediate states of SHA-256 are cached. All
// full hashes together read the journal once, plus less than step_size bytes for each hash. The
// states of a journal of 1 GB take 28 kB of memory.
//
// Not thread-safe.
class Prefix_Hashes {
 public:
  static constexpr Offset step_size = Offset{1} << 22;

  // `is_full`: see content_hash(). `read` reads the journal.
  Prefix_Hashes(bool is_full, network::Read_Bytes read)
      : is_full_(is_full), read_(std::move(read)) {}

  // Does one step of computing the hash up to `checkpoint`. Returns nullopt if more steps are
  // needed. Passes on the exceptions of `read`.
  std::optional<network::Content_Hash> step(Offset checkpoint);

 private:
  std::optional<network::Content_Hash> compute(Offset checkpoint);

  const bool is_full_;
  const network::Read_Bytes read_;
  std::vector<network::Running_Hash> states_{1};   // states_[i]: after i * step_size bytes
  std::map<Offset, network::Content_Hash> known_;  // by checkpoint
};

}  // namespace joedb::server

#endif
