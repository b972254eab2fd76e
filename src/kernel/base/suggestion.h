#ifndef JOEDB_SRC_KERNEL_BASE_SUGGESTION_H
#define JOEDB_SRC_KERNEL_BASE_SUGGESTION_H

#include <string>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// Returns the word in `known` that is closest to `word`, or "" if no word is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);
// Returns ". Did you mean X?", to be appended to an error about a name, or "" if no word is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace joedb::inline v1

#endif
