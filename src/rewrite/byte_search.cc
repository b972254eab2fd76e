#include "rewrite/byte_search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "joedb/base/error.h"
#include "joedb/format/header.h"

namespace joedb::inline v1 {

namespace {

constexpr std::uint64_t base = 0x9e3779b97f4a7c15;  // multiplier of the rolling window hash
constexpr std::size_t piece_size = std::size_t{1} << 18;

constexpr std::uint64_t byte_of(char c) { return static_cast<unsigned char>(c) + std::uint64_t{1}; }

std::uint64_t window_hash(std::string_view bytes) {
  std::uint64_t hash = 0;
  for (const char c : bytes) hash = hash * base + byte_of(c);
  return hash;
}

// Hashes the bytes piece by piece, so that a long text need not fit in memory. Returns nullopt if
// the file ends before the last byte.
std::optional<std::uint64_t> hash_of(const Abstract_File& file, Offset position,
                                     std::uint64_t size) {
  std::uint64_t hash = size;
  std::string piece;
  while (size > 0) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size, piece_size)));
    if (file.pread(piece.data(), piece.size(), position) < piece.size()) return {};
    hash = integrity_hash(piece, hash);
    position += static_cast<Offset>(piece.size());
    size -= piece.size();
  }
  return hash;
}
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), piece_size)))
    hash = integrity_hash(text.substr(0, piece_size), hash);
  return hash;
}

}  // namespace

int Byte_Search::tier_of(std::uint64_t size) {
  return std::min(static_cast<int>(std::bit_width(size)) - 1, last_tier);
}

bool Byte_Search::add(const Text& text) {
  if (texts_.contains(text)) return true;
  if (texts_.size() >= limit_) return false;
  texts_.insert(text);
  return true;
}

bool Byte_Search::add(std::string_view text) {
  if (text.size() < shortest) return true;
  const std::size_t window = std::size_t{1} << tier_of(text.size());
  return add(Text{window_hash(text.substr(0, window)), text.size(), hash_of(text)});
}

bool Byte_Search::add(const Abstract_File& file, Offset position, Offset size) {
  if (size < static_cast<Offset>(shortest)) return true;
  const auto bytes = static_cast<std::uint64_t>(size);
  std::string window(std::size_t{1} << tier_of(bytes), '\0');
  const auto hash = hash_of(file, position, bytes);
  if (!hash || file.pread(window.data(), window.size(), position) < window.size())
    throw Corruption_Error("the file ends in a blob", position);
  return add(Text{window_hash(window), bytes, *hash});
}

// ---- searching ----------------------------------------------------------------------------------

// The texts of one tier, indexed by the hash of their windows.
class Byte_Search::Tier {
 public:
  Tier(int number, std::vector<Text> texts)
      : window_(std::size_t{1} << number), texts_(std::move(texts)) {
    std::sort(texts_.begin(), texts_.end());
    for (std::size_t i = 0; i < window_; ++i) out_ *= base;
    std::size_t slots = 64;
    while (slots < 4 * texts_.size()) slots *= 2;
    slots_.resize(slots);
    filter_.resize(8 * slots);
    shift_ = 64 - std::countr_zero(slots);
    filter_shift_ = 64 - std::countr_zero(filter_.size());
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (i > 0 && texts_[i].window == texts_[i - 1].window) continue;
      std::size_t slot = mixed(texts_[i].window) >> shift_;
      while (slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
      slots_[slot] = static_cast<std::uint32_t>(i + 1);
      filter_[mixed(texts_[i].window) >> filter_shift_] = true;
    }
  }

  // Finds the texts whose window ends in bytes[before, size). The beginning of the window may be in
  // bytes of earlier calls. `start` is the offset of bytes[0] in the file.
  void search(const Abstract_File& file, std::string_view bytes, std::size_t before, Offset start,
              const Found& found) {
    for (std::size_t i = before; i < bytes.size(); ++i) {
      hash_ = hash_ * base + byte_of(bytes[i]);
      ++count_;
      if (count_ > window_) hash_ -= byte_of(bytes[i - window_]) * out_;
      if (count_ < window_) continue;
      if (filter_[mixed(hash_) >> filter_shift_]) [[unlikely]]
        look(file, bytes.substr(i + 1 - window_), start + static_cast<Offset>(i + 1 - window_),
             found);
    }
  }

 private:
  static std::uint64_t mixed(std::uint64_t hash) {
    return (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9;
  }

  void look(const Abstract_File& file, std::string_view rest, Offset position, const Found& found) {
    std::size_t slot = mixed(hash_) >> shift_;
    for (;; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == 0) return;
      if (texts_[slots_[slot] - 1].window == hash_) break;
    }
    // Texts of several sizes, and several texts of each size, may have this window.
    for (std::size_t i = slots_[slot] - 1; i < texts_.size() && texts_[i].window == hash_;) {
      const std::uint64_t size = texts_[i].size;
      const auto hash =
          size <= rest.size() ? hash_of(rest.substr(0, size)) : hash_of(file, position, size);
      const auto begin = texts_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = std::upper_bound(
          begin, texts_.end(), Text{hash_, size, std::numeric_limits<std::uint64_t>::max()});
      const bool is_there = hash && std::binary_search(begin, end, Text{hash_, size, *hash});
      if (is_there) found(position, size);
      i = static_cast<std::size_t>(end - texts_.begin());
    }
  }

  const std::size_t window_;
  std::vector<Text> texts_;
  std::uint64_t out_ = 1;  // base to the power of the window size; used to remove a byte
  std::vector<std::uint32_t> slots_;
  std::vector<bool> filter_;
  int shift_ = 0, filter_shift_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t count_ = 0;
};

void Byte_Search::search(const Abstract_File& file, const Found& found) const {
  std::array<std::vector<Text>, last_tier + 1> by_tier;
  for (const Text& text : texts_)
    by_tier[static_cast<std::size_t>(tier_of(text.size))].push_back(text);
  std::vector<Tier> tiers;
  for (int i = first_tier; i <= last_tier; ++i)
    if (!by_tier[static_cast<std::size_t>(i)].empty())
      tiers.emplace_back(i, std::move(by_tier[static_cast<std::size_t>(i)]));
  if (tiers.empty()) return;
  // Keep the end of the previous piece before each piece, because a window may span both.
  std::string buffer(max_window + (std::size_t{1} << 20), '\0');
  std::size_t before = 0;
  for (Offset position = 0;;) {
    const std::size_t n = file.pread(buffer.data() + before, buffer.size() - before, position);
    if (n == 0) return;
    const std::string_view bytes(buffer.data(), before + n);
    for (Tier& tier : tiers)
      tier.search(file, bytes, before, position - static_cast<Offset>(before), found);
    position += static_cast<Offset>(n);
    const std::size_t kept = std::min(bytes.size(), max_window);
    std::copy(bytes.end() - static_cast<std::ptrdiff_t>(kept), bytes.end(), buffer.begin());
    before = kept;
  }
}

}  // namespace joedb::inline v1
