#include "kernel/base/suggestion.h"

#include <algorithm>

namespace joedb::inline v1 {

// Returns the edit distance: the number of letters to insert, remove, replace, or swap with the
// next letter. The characters - and _ are equal, as in options.
static std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return x == y || (x == '_' && y == '-') || (x == '-' && y == '_');
  };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;
  if (word.size() > longest) return "";
  std::string best;
  // In a short word, at most half of the letters may be wrong.
  const std::size_t n = word.size();
  std::size_t least = std::min(std::max<std::size_t>(2, n / 3), n / 2) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() >= n + least) continue;
    const std::size_t d = distance(word, candidate);
    if (d >= least) continue;
    least = d;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = suggestion(word, known);
  return meant.empty() ? "" : ". Did you mean " + meant + "?";
}

}  // namespace joedb::inline v1
