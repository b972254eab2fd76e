#ifndef JOEDB_CLI_STANDARD_INPUT_H
#define JOEDB_CLI_STANDARD_INPUT_H

#include <memory>
#include <ostream>

#include "interpreter/line_source.h"

namespace joedb {

// Somebody types the commands and reads the answers.
bool is_interactive();

// The lines of standard input. On a terminal they can be edited; `history` is then the name of a
// file in the home directory that keeps them.
std::unique_ptr<Line_Source> open_standard_input(std::ostream& out, const char* history);

}  // namespace joedb

#endif
