#ifndef JOEDB_SRC_TOOLS_COMPILER_PYTHON_H
#define JOEDB_SRC_TOOLS_COMPILER_PYTHON_H

#include "tools/compiler/cpp.h"
#include "tools/compiler/model.h"

namespace joedb::compiler {

// The Python back end. Generates NAME.py, a module that uses the package joedb; NAME is the last
// part of the namespace. The module has open(), and typed classes for the tables, which exist only
// for type checkers. Throws Schema_Errors if no module can have this name.
Generated_File generate_python(const Model& model);

}  // namespace joedb::compiler

#endif
