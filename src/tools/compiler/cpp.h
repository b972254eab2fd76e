#ifndef JOEDB_SRC_TOOLS_COMPILER_CPP_H
#define JOEDB_SRC_TOOLS_COMPILER_CPP_H

#include <string>
#include <vector>

#include "tools/compiler/model.h"

namespace joedb::compiler {

struct Generated_File {
  std::string path;  // relative path, with '/' as separator
  std::string content;
};

// The C++ back end. Generates NAME.h, which has all code; NAME is the last part of the namespace.
// Also generates small headers NAME/….h, with the names that joedb 10 uses, which only include
// NAME.h.
std::vector<Generated_File> generate_cpp(const Model& model);

}  // namespace joedb::compiler

#endif
