#include "tools/compiler/names.h"

#include <algorithm>
#include <array>

namespace joedb::compiler {

static constexpr std::array<std::string_view, 97> keywords{
    "alignas",   "alignof",      "and",           "and_eq",
    "asm",       "auto",         "bitand",        "bitor",
    "bool",      "break",        "case",          "catch",
    "char",      "char16_t",     "char32_t",      "char8_t",
    "class",     "co_await",     "co_return",     "co_yield",
    "compl",     "concept",      "const",         "const_cast",
    "consteval", "constexpr",    "constinit",     "continue",
    "decltype",  "default",      "delete",        "do",
    "double",    "dynamic_cast", "else",          "enum",
    "explicit",  "export",       "extern",        "false",
    "float",     "for",          "friend",        "goto",
    "if",        "inline",       "int",           "joedb",
    "long",      "mutable",      "namespace",     "new",
    "noexcept",  "not",          "not_eq",        "nullptr",
    "operator",  "or",           "or_eq",         "private",
    "protected", "public",       "register",      "reinterpret_cast",
    "requires",  "return",       "short",         "signed",
    "sizeof",    "static",       "static_assert", "static_cast",
    "std",       "struct",       "switch",        "template",
    "this",      "thread_local", "throw",         "true",
    "try",       "typedef",      "typeid",        "typename",
    "union",     "unsigned",     "using",         "virtual",
    "void",      "volatile",     "wchar_t",       "while",
    "xor",       "xor_eq",       "linux",         "unix",
    "errno"};

bool is_cpp_keyword(std::string_view word) {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

static constexpr std::array<std::string_view, 35> python_keywords{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_python_keyword(std::string_view word) {
  return std::find(python_keywords.begin(), python_keywords.end(), word) != python_keywords.end();
}

// Returns true if a parameter must not have this name: it would hide a name that the function uses,
// or a member of a base class, about which compilers warn.
static bool is_used_by_generated_code(std::string_view name) {
  return name == "engine_" || name == "observer_" || name == "file_" || name == "store_" ||
         name == "is_bound_" || name == "Typed_Writer" || name.ends_with("Database") ||
         name.ends_with("_table_") || name.ends_with("_index_");
}

std::string cpp_parameter(std::string_view field, const std::vector<std::string>& taken) {
  std::string name(field);
  if (name.starts_with("id_of_")) name = "the_" + name;
  while (is_cpp_keyword(name) || is_used_by_generated_code(name) ||
         std::find(taken.begin(), taken.end(), name) != taken.end())
    name += '_';
  return name;
}

static std::string with_capitals(std::string_view name) {
  std::string text(name);
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((i == 0 || text[i - 1] == '_') && text[i] >= 'a' && text[i] <= 'z')
      text[i] = static_cast<char>(text[i] - 'a' + 'A');
  return text;
}

std::string cpp_enum(std::string_view table, std::string_view field,
                     const std::vector<std::string>& taken) {
  std::string name = with_capitals(table) + "_" + with_capitals(field);
  while (is_used_by_generated_code(name) || name == "Client_Lock" || name.ends_with("_Client") ||
         name == "Typed_History" || std::find(taken.begin(), taken.end(), name) != taken.end())
    name += '_';
  return name;
}

}  // namespace joedb::compiler
