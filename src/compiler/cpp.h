#ifndef JOEDB_COMPILER_CPP_H
#define JOEDB_COMPILER_CPP_H

#include <string>
#include <vector>

#include "compiler/model.h"

namespace joedb::compiler {

struct Generated_File {
  std::string path;  // relative, with '/'
  std::string content;
};

// The C++ back end: NAME.h with everything, where NAME is the last part of the namespace, and small
// headers NAME/….h, which only include it, under the names that joedb 10 gives them.
std::vector<Generated_File> generate_cpp(const Model& model);

}  // namespace joedb::compiler

#endif
