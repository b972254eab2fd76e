#ifndef JOEDB_SRC_TOOLS_COMPILER_NAMES_H
#define JOEDB_SRC_TOOLS_COMPILER_NAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace joedb::compiler {

// Returns true if a word cannot be a name in C++ or in generated code: keywords, and joedb, std,
// linux, unix and errno.
bool is_cpp_keyword(std::string_view word);

// Returns true if a word cannot be a name in Python.
bool is_python_keyword(std::string_view word);

// Returns the name of a parameter for a field. This is the name of the field, changed if it is a
// keyword, hides a name that generated code uses, or is in `taken`.
std::string cpp_parameter(std::string_view field, const std::vector<std::string>& taken);

// Returns the name of the enum of a field: Invoice_State for invoice.state, changed if generated
// code uses it, or if it is in `taken`.
std::string cpp_enum(std::string_view table, std::string_view field,
                     const std::vector<std::string>& taken);

}  // namespace joedb::compiler

#endif
