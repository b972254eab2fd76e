#ifndef JOEDB_SRC_TOOLS_COMPILER_TEXT_H
#define JOEDB_SRC_TOOLS_COMPILER_TEXT_H

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace joedb::compiler {

// Replaces each {{name}} in the template `text` by its value. {{{name}}} becomes the value in
// braces. Precondition: each name has a value.
using Substitutions = std::initializer_list<std::pair<std::string_view, std::string_view>>;
std::string fill(std::string_view text, Substitutions values);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Returns the bytes as a C++ string literal, including the quotes.
std::string cpp_literal(std::string_view bytes);

}  // namespace joedb::compiler

#endif
