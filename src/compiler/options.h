#ifndef JOEDB_COMPILER_OPTIONS_H
#define JOEDB_COMPILER_OPTIONS_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"

namespace joedb::compiler {

// Something wrong in the input. `line` counts from 1; 0 where it concerns no line.
struct Diagnostic {
  std::string file;
  int line = 0;
  std::string text;
};

// All that was found in one go, one "FILE:LINE: TEXT" each.
class Schema_Errors : public Exception {
 public:
  explicit Schema_Errors(std::vector<Diagnostic> found);
  const std::vector<Diagnostic> diagnostics;
};

// The content of a .joedbc file.
struct Options {
  std::vector<std::string> name_space;
  std::vector<Diagnostic> warnings;
};

// Throws Schema_Errors. `file` is its name, for messages.
Options parse_options(std::string_view text, const std::string& file);

}  // namespace joedb::compiler

#endif
