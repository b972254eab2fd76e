#include "share/server/prefix_hashes.h"

#include <algorithm>

#include "joedb/format/header.h"

namespace joedb::server {

using network::Content_Hash;
using network::Running_Hash;

static constexpr std::size_t max_known = 1000;

std::optional<Content_Hash> Prefix_Hashes::step(Offset checkpoint) {
  if (const auto found = known_.find(checkpoint); found != known_.end()) return found->second;
  const std::optional<Content_Hash> hash = compute(checkpoint);
  if (!hash) return hash;
  if (known_.size() == max_known) known_.erase(known_.begin());  // clients ask for newer ones
  known_.emplace(checkpoint, *hash);
  return hash;
}

std::optional<Content_Hash> Prefix_Hashes::compute(Offset checkpoint) {
  if (!is_full_) return network::content_hash(read_, checkpoint, false);
  const std::size_t i = std::min(static_cast<std::size_t>((checkpoint - journal_start) / step_size),
                                 states_.size() - 1);
  const Offset start = journal_start + static_cast<Offset>(i) * step_size;
  const Offset end = std::min(checkpoint, start + step_size);
  Running_Hash hash = states_[i];
  hash.add(read_, start, end);
  if (end == start + step_size && i + 1 == states_.size()) states_.push_back(hash);
  if (end < checkpoint) return std::nullopt;
  return hash.padded();
}

}  // namespace joedb::server
