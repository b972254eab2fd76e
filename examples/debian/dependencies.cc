#include "dependencies.h"

#include <algorithm>

#include "text.h"

static Choice parse_choice(std::string_view text, const Paragraph::Field& field) {
  const std::size_t end = std::min(text.find_first_of(" \t\n(:"), text.size());
  Choice choice{text.substr(0, end), trim(text.substr(end)), false};
  std::string_view& constraint = choice.constraint;
  const bool has_parenthesis = constraint.find('(') != constraint.npos;
  if (choice.package.empty() || has_parenthesis != constraint.ends_with(')'))
    throw Index_Error(field.line, "cannot read the dependency '" + std::string(text) + "'");
  if (constraint.starts_with('(')) constraint = trim(constraint.substr(1, constraint.size() - 2));
  return choice;
}

std::vector<Choice> parse_dependencies(const Paragraph::Field& field) {
  std::vector<Choice> choices;
  char separator = ',';
  for (std::string_view rest = field.value; separator != '\0';) {
    const std::size_t end = std::min(rest.find_first_of(",|"), rest.size());
    choices.push_back(parse_choice(trim(rest.substr(0, end)), field));
    choices.back().is_alternative = separator == '|';
    separator = end < rest.size() ? rest[end] : '\0';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return choices;
}

Dependencies dependencies_by_version(const debian::Database& db) {
  Dependencies result;
  for (const auto dependency : db.get_dependency_table())
    result[db.get_version(dependency)].push_back(dependency);
  return result;
}
