#ifndef JOEDB_COMPILER_NAMES_H
#define JOEDB_COMPILER_NAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace joedb::compiler {

// Words that cannot be names in C++.
bool is_cpp_keyword(std::string_view word);

// Words that cannot be names in Python.
bool is_python_keyword(std::string_view word);

// The name of a parameter for a field: the field's name, changed a little where it would be a
// keyword, hide what generated code uses, or be one of `taken`.
std::string cpp_parameter(std::string_view field, const std::vector<std::string>& taken);

}  // namespace joedb::compiler

#endif
