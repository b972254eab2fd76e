#include "tools/schema/schema_check.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "commands/commands.h"
#include "joedb/io/memory_file.h"
#include "kernel/base/split.h"
#include "tools/compiler/rpc.h"

namespace joedb {

namespace fs = std::filesystem;

std::optional<std::string> read_from_disk(const std::string& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_io_error("opening", path, -1, errno);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string base_of_schema(const std::string& path) {
  const fs::path file(path);
  const fs::path folder = file.parent_path();
  if (file.has_extension() && folder.extension() == ".rpc")
    return fs::path(folder).replace_extension().string();
  if (file.extension() == ".joedbi" || file.extension() == ".joedbc")
    return fs::path(file).replace_extension().string();
  return path;
}

namespace {

using compiler::Diagnostic;

// ---- the schema ---------------------------------------------------------------------------------

// Returns the index of the word to report for an error without a column: the new name, or the id of
// a record.
std::size_t invalid_word(std::string_view command) {
  if (command == "create_table" || command == "drop_table" || command == "custom" ||
      command.ends_with("_index"))
    return 1;
  return command == "rename_field" ? 3 : 2;
}

// A schema that is executed line by line. Lines that fail are skipped.
class Schema {
 public:
  Schema(const std::string& file, std::string_view text)
      : database_(journal_), loop_({.is_echoing = false, .is_bailing = true}, [] { return ""; }) {
    add_journal_commands(loop_, database_, {});
    add_schema_commands(loop_, database_);
    add_data_commands(loop_, database_, {});
    const std::string_view all = text;
    for (int number = 1; !text.empty() && !has_ended_; ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      if (!run(line)) {
        const std::size_t errors_before = errors_.size();
        add_error({file, number, loop_.failures().text}, line);
        if (errors_.size() > errors_before) add_hint(all, number);
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    database_.soft_checkpoint();
  }

  const std::vector<Diagnostic>& errors() const { return errors_; }
  const Database& database() const { return database_.get_database(); }

 private:
  // Returns false if the line fails.
  bool run(std::string_view line) {
    std::ostringstream ignored;
    Text_Line_Source in(line, ignored);
    const Command_Loop::End end = loop_.run(in, ignored);
    has_ended_ = end != Command_Loop::End::end_of_input && end != Command_Loop::End::error;
    return end != Command_Loop::End::error;
  }

  // Adds the last failure. `error` has no column yet.
  void add_error(Diagnostic error, std::string_view line) {
    const auto words = split_words(line);
    const auto column_of_word = [&](std::size_t index) {
      return compiler::column_of(line, words[std::min(index, words.size() - 1)]);
    };
    try {
      std::rethrow_exception(loop_.failures().error);
    } catch (const Line_Error& failure) {
      // If a table could not be created, report this once, and not for each of its fields.
      const bool is_unknown_table = dynamic_cast<const Unknown_Table*>(&failure) != nullptr;
      if (is_unknown_table && !unknown_tables_.insert(failure.reason).second) return;
      error.text = failure.reason;
      error.column = static_cast<int>(failure.column.value_or(0));
    } catch (const Unknown_Command&) {
      error.column = column_of_word(0);
    } catch (const std::exception&) {
      if (!words.empty()) error.column = column_of_word(invalid_word(words[0]));
    }
    errors_.push_back(std::move(error));
  }

  void add_hint(std::string_view text, int number) {
    Diagnostic& error = errors_.back();
    const std::string options = fs::path(error.file).replace_extension("joedbc").string();
    error.text = compiler::with_hint(std::move(error.text), text, number, options);
  }

  Memory_File journal_;
  Writable_Database database_;
  Command_Loop loop_;
  bool has_ended_ = false;
  std::set<std::string> unknown_tables_;  // tables for which an error was added
  std::vector<Diagnostic> errors_;
};

// Sets the position of a diagnostic to the last declaration of its name in the schema.
void find_place(Diagnostic& diagnostic, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 5> declarations{
      {{"create_table", 1},
       {"rename_table", 2},
       {"add_field", 2},
       {"rename_field", 3},
       {"custom", 1}}};
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto words = split_words(line);
    for (const auto& [command, place] : declarations) {
      if (words.size() <= place || words[0] != command || words[place] != diagnostic.names.back())
        continue;
      const bool is_of_field = command.ends_with("_field");
      if (is_of_field != (diagnostic.names.size() == 2)) continue;
      diagnostic.line = number;
      diagnostic.column = compiler::column_of(line, words[place]);
    }
  }
}

// ---- all of it ----------------------------------------------------------------------------------

class Checker {
 public:
  explicit Checker(const Read_File& read) : read_(read) {}

  // Checks BASE.joedbi and BASE.joedbc. Returns nullopt if they have errors. For a message schema,
  // `main` is the model of the main schema; otherwise null.
  std::optional<compiler::Model> check(const std::string& base,
                                       const compiler::Model* main = nullptr) {
    const std::string file = base + ".joedbi";
    const auto options = check_options(base, main);
    const auto text = read_(file);
    if (!text) throw_io_error("opening", file, -1, ENOENT);
    const Schema schema(file, *text);
    add(schema.errors());
    if (schema.errors().empty()) add(compiler::dropped_values(*text, file), true);
    if (!options || !schema.errors().empty()) return std::nullopt;
    try {
      compiler::Model model = compiler::make_model(schema.database(), *options, file, main);
      if (main != nullptr)
        compiler::require_message_schema(model, *options, fs::path(base).filename().string());
      return model;
    } catch (const compiler::Schema_Errors& errors) {
      for (Diagnostic each : errors.diagnostics) {
        if (each.line == 0 && !each.names.empty()) find_place(each, *text);
        add({each});
      }
    }
    return std::nullopt;
  }

  // Checks the directory BASE.rpc if it exists.
  void check_rpc(const fs::path& folder, const compiler::Model& main) {
    if (!fs::is_directory(folder)) return;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".joedbi") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    std::vector<compiler::Model> messages;
    for (const std::string& name : names)
      if (auto message = check((folder / name).string(), &main))
        messages.push_back(std::move(*message));
    const std::string service = (folder / "Service.h").string();
    const auto text = read_(service);
    if (!text || messages.size() < names.size()) return;
    try {
      compiler::generate_rpc(main, messages, *text, service);
    } catch (const compiler::Schema_Errors& errors) {
      add(errors.diagnostics);
    }
  }

  // Returns the findings by file, in the order of the first finding of each file, and then by line.
  std::vector<Finding> findings() && {
    const auto rank = [all = findings_](const std::string& file) {
      return std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.file == file; }) -
             all.begin();
    };
    std::stable_sort(findings_.begin(), findings_.end(), [&](const Finding& a, const Finding& b) {
      return std::tuple(rank(a.file), a.line, a.column) <
             std::tuple(rank(b.file), b.line, b.column);
    });
    return std::move(findings_);
  }

 private:
  std::optional<compiler::Options> check_options(const std::string& base,
                                                 const compiler::Model* main) {
    std::vector<std::string> parent;
    if (main != nullptr) {
      parent = main->name_space;
      parent.emplace_back("rpc");
    }
    const std::string file = base + ".joedbc";
    try {
      compiler::Options options = compiler::parse_options(read_(file).value_or(""), file, parent);
      add(options.warnings, true);
      return options;
    } catch (const compiler::Schema_Errors& errors) {
      add(errors.diagnostics);
      return std::nullopt;
    }
  }

  void add(const std::vector<Diagnostic>& diagnostics, bool are_warnings = false) {
    for (const Diagnostic& each : diagnostics)
      findings_.push_back(
          {each.file, std::max(each.line, 1), std::max(each.column, 1), are_warnings, each.text});
  }

  const Read_File& read_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_schema(const std::string& base, const Read_File& read) {
  Checker checker(read);
  if (const auto model = checker.check(base)) checker.check_rpc(base + ".rpc", *model);
  return std::move(checker).findings();
}

}  // namespace joedb
