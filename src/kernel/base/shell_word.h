#ifndef JOEDB_SRC_KERNEL_BASE_SHELL_WORD_H
#define JOEDB_SRC_KERNEL_BASE_SHELL_WORD_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Quotes a file name for a command that a user can paste into a shell: special characters are
// escaped, and "-- " precedes a name that would look like an option.
std::string shell_word(std::string_view name);

}  // namespace joedb::inline v1

#endif
