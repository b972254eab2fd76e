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

// Searches a file at all offsets for any number of texts, in one pass. Stores hashes of the texts,
// about 100 bytes per text of any length. Two texts are taken as equal if they have the same 64-bit
// hash, the same size, and the same hash of their beginning.
class Byte_Search {
 public:
  // Shorter texts are ignored: they would be found everywhere by chance.
  static constexpr std::size_t shortest = 4;

  // `limit`: maximum number of different texts.
  explicit Byte_Search(std::size_t limit) : limit_(limit) {}

  // Adds a text. Returns false if the text is new and the limit is reached; then it is not added.
  // Ignores a text that is too short, and returns true.
  bool add(std::string_view text);
  // Adds bytes of a file. Also throws Io_Error, and Corruption_Error if the file ends before the
  // end of these bytes.
  bool add(const Abstract_File& file, Offset position, Offset size);
  std::size_t size() const { return texts_.size(); }

  // Calls found(position, size) for each occurrence of a text in the file. Occurrences of texts of
  // the same size are in ascending order; those of different sizes may not be. Throws Io_Error.
  using Found = std::function<void(Offset, std::size_t)>;
  void search(const Abstract_File& file, const Found& found) const;

 private:
  // Texts are divided into tiers by size. A text of tier t has at least 2^t bytes; its window is
  // its first 2^t bytes. The last tier also contains all longer texts.
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
