#ifndef JOEDB_INTERPRETER_BYTE_SEARCH_H
#define JOEDB_INTERPRETER_BYTE_SEARCH_H

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Looks for any number of texts in a file, in one pass, wherever they stand. It keeps hashes of the
// texts, about 100 bytes for each, whatever their length. (A text is taken for another one if both
// have the same 64-bit hash, the same size and the same hash of their beginning.)
class Byte_Search {
 public:
  // Shorter ones are not searched: they are found everywhere by chance.
  static constexpr std::size_t shortest = 4;

  // For so many different texts.
  explicit Byte_Search(std::size_t limit) : limit_(limit) {}

  // Returns false, and has added nothing, if the text is another one than those before, and these
  // are as many as the limit. A text that is too short is not added, either, but returns true.
  bool add(std::string_view text);
  // The same for bytes of a file. Throws Corruption_Error if it ends before them, Io_Error.
  bool add(const Abstract_File& file, Offset position, Offset size);
  std::size_t size() const { return texts_.size(); }

  // Calls found(position, size) for each place of a text in the file, in the order of positions in
  // which their beginnings are complete (of texts of different sizes, that may be another one).
  // Throws Io_Error.
  using Found = std::function<void(Offset, std::size_t)>;
  void search(const Abstract_File& file, const Found& found) const;

 private:
  // Texts are sorted into tiers by size: those of tier t have 2^t bytes at least, and begin with a
  // window of so many. The last tier has all that are longer.
  static constexpr int first_tier = 2, last_tier = 12;
  static constexpr std::size_t largest_window = std::size_t{1} << last_tier;

  struct Text {
    std::uint64_t window;  // hash of it
    std::uint64_t size;
    std::uint64_t hash;  // of all bytes
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
