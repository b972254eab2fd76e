#include "compiler/options.h"

#include <algorithm>

#include "compiler/names.h"
#include "joedb/schema/type.h"

namespace joedb::compiler {

static std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string result;
  for (const Diagnostic& d : diagnostics) {
    if (!result.empty()) result += '\n';
    result += d.file;
    if (d.line > 0) result += ":" + std::to_string(d.line);
    result += ": " + d.text;
  }
  return result;
}

Schema_Errors::Schema_Errors(std::vector<Diagnostic> found)
    : Exception(join(found)), diagnostics(std::move(found)) {}

static std::vector<std::string_view> split_words(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t start = line.find_first_not_of(spaces); start < line.size();) {
    const std::size_t end = std::min(line.find_first_of(spaces, start), line.size());
    words.push_back(line.substr(start, end - start));
    start = line.find_first_not_of(spaces, end);
  }
  return words;
}

// The parts of a::b::c, or nothing if they are not all names.
static std::vector<std::string> split_name_space(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find("::");
    const std::string_view part = text.substr(0, end);
    if (!is_identifier(part) || is_cpp_keyword(part)) return {};
    parts.emplace_back(part);
    if (end == text.npos) return parts;
    text.remove_prefix(end + 2);
  }
}

Options parse_options(std::string_view text, const std::string& file) {
  Options options;
  std::vector<Diagnostic> errors;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = split_words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::string command(words[0]);
    const auto error = [&](std::string message) {
      errors.push_back({file, number, std::move(message)});
    };
    if (command == "namespace") {
      if (words.size() == 2) options.name_space = split_name_space(words[1]);
      if (words.size() != 2 || options.name_space.empty())
        error("namespace: expected a C++ name, like geo or company::geo");
    } else if (command == "set_table_storage") {
      options.warnings.push_back({file, number, "set_table_storage is deprecated"});
    } else if (command == "create_index" || command == "create_unique_index" ||
               command == "set_single_row") {
      error(command + ": not available in this version of joedbc");
    } else {
      error("unknown command: " + command);
    }
  }
  if (errors.empty() && options.name_space.empty())
    errors.push_back({file, 0, "missing name space: add a line like 'namespace geo'"});
  if (!errors.empty()) throw Schema_Errors(std::move(errors));
  return options;
}

}  // namespace joedb::compiler
