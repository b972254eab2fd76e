#include "tools/compiler/options.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "joedb/schema/type.h"
#include "kernel/base/byte_order_mark.h"
#include "kernel/base/split.h"
#include "kernel/base/suggestion.h"
#include "tools/compiler/names.h"

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

// Sorts errors by file, in the order of the first error of each file, and then by line.
static std::vector<Diagnostic> in_order(std::vector<Diagnostic> found) {
  const auto rank = [all = found](const std::string& file) {
    return std::find_if(all.begin(), all.end(), [&](const auto& d) { return d.file == file; }) -
           all.begin();
  };
  std::stable_sort(found.begin(), found.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(rank(a.file), a.line) < std::pair(rank(b.file), b.line);
  });
  return found;
}

Schema_Errors::Schema_Errors(std::vector<Diagnostic> found)
    : Exception(join(in_order(found))), diagnostics(in_order(std::move(found))) {}

int column_of(std::string_view line, std::string_view part) {
  const auto bytes = part.data() - line.data();
  return 1 + static_cast<int>(std::count_if(line.begin(), line.begin() + bytes, [](char c) {
           return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // the first byte of a character
         }));
}

std::string Comment_Above::take(std::string_view line, const std::vector<std::string_view>& words) {
  std::string comment = std::exchange(comment_, "");
  if (words.empty()) return "";
  if (!words[0].starts_with('#')) return comment;
  line.remove_prefix(std::min(line.find_first_not_of('#', line.find('#')), line.size()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  comment_ = comment.empty() ? std::string(line) : comment + "\n" + std::string(line);
  std::replace_if(
      comment_.begin(), comment_.end(), [](unsigned char c) { return c < ' ' && c != '\n'; }, ' ');
  return "";
}

// Returns the parts of a::b::c; none if one of them is not a name.
static std::vector<std::string> split_name_space(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, "::")) {
    if (!is_identifier(part) || is_cpp_keyword(part)) return {};
    parts.emplace_back(part);
  }
  return parts;
}

// Returns the parts of a,b,c; empty if a part is empty.
static std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> fields;
  for (const std::string_view field : split(text, ",")) {
    if (field.empty()) return {};
    fields.emplace_back(field);
  }
  return fields;
}

static std::vector<int> columns_of_fields(std::string_view line, std::string_view text) {
  std::vector<int> columns;
  for (const std::string_view field : split(text, ",")) columns.push_back(column_of(line, field));
  return columns;
}

static const std::vector<std::string>& option_names() {
  static const std::vector<std::string> names{
      "namespace",      "create_index",           "create_unique_index",
      "set_single_row", "timestamp_transactions", "unmarked_transactions"};
  return names;
}

static std::string unknown_option(const std::string& name, const std::string& file) {
  static const std::vector<std::string> of_schema{
      "create_table", "drop_table",   "rename_table", "add_field",   "drop_field",
      "rename_field", "retype_field", "custom",       "insert_into", "update"};
  const std::string schema = std::filesystem::path(file).stem().string() + ".joedbi";
  if (std::find(of_schema.begin(), of_schema.end(), name) != of_schema.end())
    return name + " belongs in " + schema;
  return "unknown command: " + name + did_you_mean(name, option_names());
}

// Returns the words of line `number`.
static std::vector<std::string_view> words_of_line(std::string_view text, int number) {
  for (; number > 1; --number) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return split_words(text.substr(0, text.find('\n')));
}

// Returns the number of the first line that creates the table; 0 if there is none.
static int line_of_table(std::string_view text, std::string_view table) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = split_words(text.substr(0, end));
    if (words.size() > 1 && words[0] == "create_table" && words[1] == table) return number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}

static std::string unknown_command(const std::string& text,
                                   const std::vector<std::string_view>& words,
                                   const std::string& options_file) {
  const std::string name(words[0]);
  const auto& options = option_names();
  if (std::find(options.begin(), options.end(), name) != options.end())
    return name + " belongs in " + std::filesystem::path(options_file).filename().string();
  const std::string error = "unknown command: " + name;
  if (name.starts_with("//") || name.starts_with("--") || name.starts_with("/*"))
    return error + ". Comments begin with #";
  static const std::vector<std::string> two{"create_table", "drop_table",   "rename_table",
                                            "add_field",    "rename_field", "drop_field",
                                            "retype_field", "insert_into",  "delete_from"};
  const std::string joined = words.size() > 1 ? name + "_" + std::string(words[1]) : "";
  if (std::find(two.begin(), two.end(), joined) != two.end())
    return error + ". Did you mean " + joined + "?";
  const std::size_t meant = text.find(". Did you mean ");
  return meant == std::string::npos ? error : error + text.substr(meant);
}

std::string with_hint(std::string text, std::string_view schema, int number,
                      const std::string& options_file) {
  const auto words = words_of_line(schema, number);
  if (words.empty()) return text;
  if (text.starts_with("Unknown command")) return unknown_command(text, words, options_file);
  constexpr std::string_view no_table = "No such table: ";
  if (const std::size_t at = text.find(no_table); at != std::string::npos) {
    std::string_view name = std::string_view(text).substr(at + no_table.size());
    name = name.substr(0, name.find(". Did you mean"));
    if (const int line = line_of_table(schema, name); line > number)
      text = text.substr(0, at) + std::string(no_table) + std::string(name) +
             " before this line; line " + std::to_string(line) + " creates it";
  }
  if (text.ends_with("update: invalid record_id") && words.size() > 2)
    text += ": insert_into " + std::string(words[1]) + ' ' + std::string(words[2]) + " is missing";
  return text;
}

std::vector<Diagnostic> dropped_values(std::string_view schema, const std::string& file) {
  std::vector<Diagnostic> warnings;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> dropped;  // by table
  Comment_Above above;
  int number = 0;
  for (const std::string_view line : split(without_mark(schema), "\n")) {
    ++number;
    const auto words = split_words(line);
    const bool has_comment = !above.take(line, words).empty();
    if (words.size() < 3) continue;
    const std::string_view change = words[0], table = words[1];
    const std::string_view field = words[change == "rename_field" && words.size() > 3 ? 3 : 2];
    if (change == "rename_table") dropped[std::string(field)] = dropped[std::string(table)];
    auto& names = dropped[std::string(table)];
    if (change == "drop_field" && !has_comment) names.emplace(field);
    if ((change != "add_field" && change != "rename_field") || names.erase(std::string(field)) == 0)
      continue;
    const std::string name(field);
    warnings.push_back({file, number,
                        "the values of the field " + name +
                            " that was dropped are lost: retype_field " + std::string(table) + ' ' +
                            name +
                            " TYPE keeps them, in the place of these lines. A comment above "
                            "drop_field says that they are meant to go",
                        column_of(line, field)});
  }
  return warnings;
}

Options parse_options(std::string_view text, const std::string& file,
                      const std::vector<std::string>& parent) {
  Options options;
  options.file = file;
  text = without_mark(text);
  std::vector<Diagnostic> errors;
  Comment_Above above;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const auto words = split_words(line);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string comment = above.take(line, words);
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::string command(words[0]);
    // Adds an error about the word at `place`; about the first word if the line is too short.
    const auto error = [&](std::string message, std::size_t place) {
      const std::string_view word = words[place < words.size() ? place : 0];
      errors.push_back({file, number, std::move(message), column_of(line, word)});
    };
    if (command == "namespace") {
      if (words.size() == 2) options.name_space = split_name_space(words[1]);
      options.name_space_line = number;
      if (words.size() != 2 || options.name_space.empty())
        error("namespace: expected a C++ name, like geo or company::geo", words.size() > 2 ? 2 : 1);
    } else if (command == "set_table_storage") {
      options.warnings.push_back(
          {file, number, "set_table_storage is deprecated", column_of(line, words[0])});
    } else if (command == "create_index" || command == "create_unique_index") {
      const auto fields = words.size() == 4 ? split_fields(words[3]) : std::vector<std::string>();
      if (fields.empty())
        error(command + ": expected NAME TABLE FIELD[,FIELD…], without spaces around commas",
              words.size() > 4 ? 4 : 3);
      else if (!is_identifier(words[1]))
        error("Invalid index identifier: " + std::string(words[1]), 1);
      else
        options.indexes.push_back({number, column_of(line, words[1]), column_of(line, words[2]),
                                   columns_of_fields(line, words[3]), std::string(words[1]),
                                   std::string(words[2]), fields, command == "create_unique_index",
                                   std::move(comment)});
    } else if (command == "set_single_row") {
      if (words.size() != 3 || (words[2] != "true" && words[2] != "false"))
        error("set_single_row: expected TABLE true", words.size() > 3 ? 3 : 2);
      else if (words[2] == "true")
        options.single_rows.push_back({number, column_of(line, words[1]), std::string(words[1])});
    } else if (command == "timestamp_transactions" || command == "unmarked_transactions") {
      const bool is_marked = command == "timestamp_transactions";
      (is_marked ? options.has_timestamps : options.has_no_marks) = true;
      if (words.size() != 1)
        error(command + ": expected nothing else in this line", 1);
      else if (options.has_timestamps && options.has_no_marks)
        error("timestamp_transactions and unmarked_transactions exclude each other", 0);
    } else {
      error(unknown_option(command, file), 0);
    }
  }
  if (errors.empty() && options.name_space.empty()) {
    const std::string name = std::filesystem::path(file).stem().string();
    options.name_space = split_name_space(name);
    if (options.name_space.empty())
      errors.push_back({file, 0,
                        "missing namespace, and \"" + name +
                            "\" is not a C++ name: add a line like 'namespace geo'"});
    else
      options.name_space.insert(options.name_space.begin(), parent.begin(), parent.end());
  }
  if (!errors.empty()) throw Schema_Errors(std::move(errors));
  return options;
}

std::string no_such_table(const std::string& name, const Database& schema) {
  std::vector<std::string> names;
  for (const auto& table : schema.tables())
    if (table) names.push_back(table->name());  // null: a dropped table
  return "No such table: " + name + did_you_mean(name, names);
}

static std::vector<std::string> names_of_fields(const Table& table) {
  std::vector<std::string> names;
  for (const Field& field : table.fields())
    if (field.column) names.push_back(field.name);
  return names;
}

std::vector<Index_Definition> resolve_indexes(const Options& options, const Database& schema,
                                              std::vector<Diagnostic>& errors) {
  std::vector<Index_Definition> indexes;
  for (const Index_Option& option : options.indexes) {
    const auto error = [&](std::string text, int column) {
      errors.push_back({options.file, option.line, std::move(text), column});
    };
    const auto has_name = [&](const Index_Definition& other) { return other.name == option.name; };
    if (std::any_of(indexes.begin(), indexes.end(), has_name))
      error("there is an index " + option.name + " already", option.name_column);
    const Table* const table = schema.find_table(option.table);
    if (table == nullptr) {
      error(no_such_table(option.table, schema), option.table_column);
      continue;
    }
    Index_Definition index{option.name, table->id(), {}, option.is_unique};
    for (std::size_t i = 0; i < option.fields.size(); ++i) {
      const std::string& name = option.fields[i];
      const Field_Id field = table->find_field(name);
      if (field.is_null())
        error("Field not found: " + name + did_you_mean(name, names_of_fields(*table)),
              option.field_columns[i]);
      if (std::find(index.fields.begin(), index.fields.end(), field) != index.fields.end())
        error("index " + option.name + " has the field " + name + " twice",
              option.field_columns[i]);
      index.fields.push_back(field);
    }
    indexes.push_back(std::move(index));
  }
  return indexes;
}

}  // namespace joedb::compiler
