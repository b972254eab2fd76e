#include "share/cluster/prefix_hash.h"

#include <algorithm>

#include "joedb/replica/client.h"
#include "kernel/format/hash.h"
#include "kernel/io/file_pieces.h"

namespace joedb::inline v1 {

static constexpr auto block_bytes = static_cast<std::size_t>(Prefix_Hash::block_size);

Prefix_Hash::Prefix_Hash(const Journal_State& state, const Abstract_File& file)
    : block_start_(state.end - (state.end - journal_start) % block_size),
      block_hash_(state.block_hash) {
  append(file, state.end);
  if (this->state() != state) throw Content_Mismatch(file.get_name(), block_start_, state.end);
}

void Prefix_Hash::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), block_bytes - block_.size());
    block_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (block_.size() < block_bytes) continue;
    block_hash_ = hash_of(block_, block_hash_);
    block_start_ += block_size;
    block_.clear();
  }
}

void Prefix_Hash::append(const Abstract_File& file, Offset end) {
  for_each_piece(file, this->end(), end, block_bytes,
                 [&](std::string_view bytes, Offset) { append(bytes); });
}

Journal_State Prefix_Hash::state() const {
  return {end(), block_hash_, block_.empty() ? block_hash_ : hash_of(block_, block_hash_)};
}

}  // namespace joedb::inline v1
