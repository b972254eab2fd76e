#ifndef JOEDB_SRC_REWRITE_BYTE_SEARCH_H
#define JOEDB_SRC_REWRITE_BYTE_SEARCH_H

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Searches a file for any number of texts in one pass, at all offsets. Keeps hashes of the texts,
// about 100 bytes per text of any length. Two texts count as equal if they have the same 64-bit
// hash, the same size, and the same hash of their beginning.
class Byte_Search {
 public:
  // Shorter texts are not searched for: they would be found everywhere by chance.
  static constexpr std::size_t shortest = 4;

  // `limit`: maximum number of different texts.
  explicit Byte_Search(std::size_t limit) : limit_(limit) {}

  // Adds a text. Returns false, without adding it, if the text is new and the limit is reached.
  // Ignores a text that is too short, and returns true.
  bool add(std::string_view text);
  // Does the same for bytes of a file. Throws Io_Error, and Corruption_Error if the file ends
  // before the end of these bytes.
  bool add(const Abstract_File& file, Offset position, Offset size);
  std::size_t size() const { return texts_.size(); }

  // Calls found(position, size) for each place of a text in the file. Places of texts of the same
  // size are in ascending order; places of texts of different sizes may not be. Throws Io_Error.
  using Found = std::function<void(Offset, std::size_t)>;
  void search(const Abstract_File& file, const Found& found) const;

 private:
  // Texts are divided into tiers by size: a text of tier t has at least 2^t bytes, and its window
  // is its first 2^t bytes. The last tier has all longer texts.
  static constexpr int first_tier = 2, last_tier = 12;
  static constexpr std::size_t max_window = std::size_t{1} << last_tier;

  struct Text {
    std::uint64_t window;  // hash of the window
    std::uint64_t size;
    std::uint64_t hash;  // hash of all bytes
    friend bool operator==(const Text&, const Text&) = default;
    friend auto operator<=>(const Text&, const Text&) = default;
  };
  struct Hash {
    std::size_t operator()(const Text& text) const { return text.hash ^ text.window; }
  };
  class Tier;

  static int tier_of(std::uint64_t size);
  bool add(const Text& text);

  const std::size_t limit_;
  std::unordered_set<Text, Hash> texts_;
};

}  // namespace joedb::inline v1

#endif
