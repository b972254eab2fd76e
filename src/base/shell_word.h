#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// The name of a file as it stands in a command that is shown, to be pasted into a shell: what means
// something there is escaped, and -- stands before what would look like an option.
std::string shell_word(std::string_view name);

}  // namespace joedb::inline v1

#endif
