#ifndef JOEDB_BASE_SUGGESTION_H
#define JOEDB_BASE_SUGGESTION_H

#include <string>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// The word of `known` that was probably meant, or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);
// ". Did you mean X?", or nothing: what ends an error about a name.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace joedb::inline v1

#endif
