#include <algorithm>
#include <deque>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "history/tags.h"
#include "joedb/history/changes.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "kernel/io/new_file.h"
#include "text/dump.h"
#include "tools/frame/command.h"
#include "tools/frame/output.h"
#include "tools/frame/parser.h"
#include "tools/program/completion_scripts.h"

// Implements `joedb completion`. The scripts are short, and ask this program for the possible
// words. So all shells offer the same words, which match the installed version.

namespace joedb {

namespace {

// Returns the name of a program without its directory.
std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_option(std::string_view word) { return word.starts_with('-'); }

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Prints the words that can follow in a command line: "WORD<tab>MEANING" for each, and
// ":files<tab>PATTERN" or ":directories" for file names.
class Script_Completer {
 public:
  explicit Script_Completer(std::string current) : current_(std::move(current)) {}

  // `words` are the words before the word to complete.
  void run(std::vector<std::string> words) {
    const Command* command = find_command(all_commands(), base_name(words.front()));
    words.erase(words.begin());
    if (command == nullptr) {
      if (words.empty()) return add_commands(all_commands(), true);
      const bool is_man = words.front() == "man" && !is_option(current_);
      if (words.front() == "help" || is_man) return complete_help(words);
      command = take_command(all_commands(), words);
    }
    while (command != nullptr && command->subcommands != nullptr) {
      if (words.empty()) return add_commands(command->subcommands(), false);
      command = take_command(command->subcommands(), words);
    }
    if (command == nullptr) return;
    if (const auto tool = describe(command->run)) {
      find_database(words);
      complete(*tool, words);
    }
  }

 private:
  static const Command* take_command(std::span<const Command> commands,
                                     std::vector<std::string>& words) {
    const Command* const command = find_command(commands, words.front());
    words.erase(words.begin());
    return command;
  }

  void add(std::string_view word, std::string help) {
    if (!word.starts_with(current_)) return;
    std::replace_if(
        help.begin(), help.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    std::cout << word << '\t' << help << '\n';
  }

  void add_commands(std::span<const Command> commands, bool has_general_words) {
    for (const Command& command : commands) add(command.name, command.help);
    if (!has_general_words) return;
    add("help", "show the help of a command");
    if (!current_.starts_with('-')) return;
    add("--help", "list the commands");
    add("--version", "print the version");
  }

  // Completes the names of commands, for joedb help and joedb man.
  void complete_help(std::vector<std::string> words) {
    std::span<const Command> commands = all_commands();
    for (words.erase(words.begin()); !words.empty(); words.erase(words.begin())) {
      if (is_option(words.front())) continue;
      const Command* const command = find_command(commands, words.front());
      if (command == nullptr || command->subcommands == nullptr) return;
      commands = command->subcommands();
    }
    add_commands(commands, false);
  }

  void complete(const Tool_Description& tool, const std::vector<std::string>& words) {
    const bool has_ended = has(words, "--");
    if (!has_ended && !words.empty()) {
      const Option_Description* const option = find_option(tool, words.back());
      if (option != nullptr && !option->is_flag()) return add_values(*option, "");
    }
    if (has_ended || !current_.starts_with('-')) return add_words(tool, words);
    const std::size_t equals = current_.find('=');
    if (equals == current_.npos) return add_options(tool, words);
    const std::string name = current_.substr(0, equals);
    if (const Option_Description* const option = find_option(tool, name))
      add_values(*option, name + "=");
  }

  static const Option_Description* find_option(const Tool_Description& tool,
                                               const std::string& word) {
    for (const Option_Description& option : tool.options)
      if (has(option.names, word)) return &option;
    return nullptr;
  }

  void add_values(const Option_Description& option, const std::string& before) {
    for (const std::string& choice : option.choices) add(before + choice, "");
    if (before.empty()) add_content(option.value.name);
    add_files(option.value);
  }

  // The first word that is a file, if it is small: the user waits.
  void find_database(const std::vector<std::string>& words) {
    constexpr std::uintmax_t max_size = std::uintmax_t{16} << 20;
    std::error_code error;
    for (const std::string& word : words)
      if (std::filesystem::is_regular_file(word, error) &&
          std::filesystem::file_size(word, error) <= max_size) {
        database_ = word;
        return;
      }
  }

  // Adds what the database has of this kind: tables, or tags and the positions of transactions.
  // `kind` is a name in a usage or of the value of an option.
  void add_content(const std::string& kind) {
    const bool is_when = kind == "WHEN" || kind == "FROM" || kind == "TO" || kind == "POSITION";
    if (database_.empty() || (kind != "TABLE" && !is_when)) return;
    try {
      File file(database_, Open_Mode::read_existing);
      is_when ? add_positions(file) : add_tables(file);
    } catch (const std::exception&) {  // it is no database
    }
  }

  void add_tables(Abstract_File& file) {
    Database database;
    Readonly_Journal journal(file);
    load(database, journal);
    for (const Table* const table : live_tables(database)) add(table->name(), "");
  }

  void add_positions(Abstract_File& file) {
    const Tags tags = read_tags(file);
    for (const auto& [name, tag] : tags.by_name()) add(name, "at " + std::to_string(tag.position));
    constexpr std::size_t most = 20;
    std::deque<std::pair<Offset, std::string>> last;
    for (const Transaction_Summary& transaction : Summaries(file)) {
      const std::string time = transaction.time ? time_text(*transaction.time) : "";
      const std::string why =
          transaction.comments.empty() ? "" : plain(transaction.comments.front());
      last.emplace_back(transaction.end, time + (time.empty() ? "" : " ") + why);
      if (last.size() > most) last.pop_front();
    }
    for (auto i = last.rbegin(); i != last.rend(); ++i) add(std::to_string(i->first), i->second);
  }

  void add_files(const Value_Kind& kind) {
    if (kind.pattern == "/")
      std::cout << ":directories\t\n";
    else if (!kind.pattern.empty())
      std::cout << ":files\t" << kind.pattern << '\n';
  }

  // Adds the options that were not given yet.
  void add_options(const Tool_Description& tool, const std::vector<std::string>& words) {
    for (const Option_Description& option : tool.options) {
      const auto is_given = [&](const std::string& name) { return has(words, name); };
      if (std::any_of(option.names.begin(), option.names.end(), is_given)) continue;
      for (const std::string& name : option.names) add(name, option.help);
    }
    for (const std::string& mark : tool.marks)
      if (find_option(tool, mark) == nullptr) add(mark, "");
  }

  void add_words(const Tool_Description& tool, const std::vector<std::string>& words) {
    if (const Value_Kind* const next = kind_after(tool, words)) return add_files(*next);
    const std::size_t position = count_words(tool, words);
    if (position < tool.offered.size())
      for (const Offered_Word& word : tool.offered[position]) add(word.word, word.help);
    const std::string kind = word_in_usage(tool.help.usage, position);
    add_content(kind);
    if (!database_.empty() && (kind == "TABLE" || kind == "WHEN")) return;  // no file
    add_files(tool.words.empty() ? kinds::database
                                 : tool.words[std::min(position, tool.words.size() - 1)]);
  }

  // Returns the kind of the value that must follow the previous word; null if none must follow.
  static const Value_Kind* kind_after(const Tool_Description& tool,
                                      const std::vector<std::string>& words) {
    if (words.empty()) return nullptr;
    for (const std::vector<Offered_Word>& position : tool.offered)
      for (const Offered_Word& word : position)
        if (word.word == words.back() && !word.next.name.empty()) return &word.next;
    return nullptr;
  }

  // Counts the positional words. These are all words except options, their values, and words that
  // precede a file name.
  static std::size_t count_words(const Tool_Description& tool,
                                 const std::vector<std::string>& words) {
    std::size_t count = 0;
    bool has_ended = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "--" && !std::exchange(has_ended, true)) continue;
      const Option_Description* const before =
          i == 0 || has_ended ? nullptr : find_option(tool, words[i - 1]);
      const bool is_value = before != nullptr && !before->is_flag();
      if (is_value || (!has_ended && is_option(words[i]))) continue;
      if (kind_after(tool, {words[i]}) == nullptr) ++count;
    }
    return count;
  }

  const std::string current_;
  std::string database_;  // name of the file, if the line has one
};

const char* const completion_details =
    R"help(Prints a script that completes commands, options, option values and file names when the tab key is
pressed. An installed joedb has these scripts where bash (with the package bash-completion), zsh and
fish look for them. Otherwise:

  bash   eval "$(joedb completion bash)"    in ~/.bashrc
  zsh    eval "$(joedb completion zsh)"     in ~/.zshrc, after compinit
  fish   joedb completion fish | source     in ~/.config/fish/config.fish

The scripts call joedb completion words -- JOEDB WORD... It prints one line for each word that
completes the last WORD, which may be empty: the word, a tab and a description; and ":files" or
":directories", a tab and a pattern, where a file name is expected.
)help";

// Returns all names of the program, separated by spaces.
std::string program_names() {
  std::string names = "joedb";
  for (const Command& command : all_commands())
    if (command.alias != nullptr) names.append(" ").append(command.alias);
  return names;
}

// Returns the script for a shell; empty if the shell is unknown.
std::string script_of(std::string_view shell) {
  std::string script = shell == "bash"   ? bash_script
                       : shell == "zsh"  ? zsh_script
                       : shell == "fish" ? fish_script
                                         : "";
  constexpr std::string_view mark = "@NAMES@";
  for (std::size_t i; (i = script.find(mark)) != script.npos;)
    script.replace(i, mark.size(), program_names());
  return script;
}

void write_script(const std::filesystem::path& path, const std::string& script) {
  std::filesystem::create_directories(path.parent_path());
  write_new_file(path.string(), New_File::Existing::replace, script);
}

// Writes one script for zsh. For bash and fish, writes one script per program, because these shells
// load the file that has the name of the program.
void write_scripts(const std::filesystem::path& share) {
  write_script(share / "zsh/site-functions/_joedb", script_of("zsh"));
  std::istringstream names(program_names());
  for (std::string name; names >> name;) {
    write_script(share / "bash-completion/completions" / name, script_of("bash"));
    write_script(share / "fish/vendor_completions.d" / (name + ".fish"), script_of("fish"));
  }
}

void print_script(const Words& words, const std::string& shell) {
  const std::string script = script_of(shell);
  if (script.empty()) words.fail(shell + ": expected bash, zsh or fish");
  words.require_end();
  std::cout << script;
}

void print_possible_words(Words& words) {
  std::vector<std::string> line;
  while (!words.is_empty()) line.push_back(words.take());
  if (line.size() < 2) words.fail("the words of a command line are missing");
  Script_Completer completer(line.back());
  line.pop_back();
  completer.run(std::move(line));
}

}  // namespace

int run_completion(std::vector<std::string> arguments) {
  Options options(
      {"joedb completion [options] bash|zsh|fish\n       joedb completion words -- JOEDB WORD...",
       "Prints a script that lets a shell complete joedb command lines.", completion_details,
       "  eval \"$(joedb completion bash)\"\n"
       "  joedb completion --output ~/.local/share\n"
       "  joedb completion words -- joedb pack --re\n"});
  options.set_words({{"SHELL", ""}});
  options.offer(
      0,
      {{"bash", "a script for bash"}, {"zsh", "a script for zsh"}, {"fish", "a script for fish"}});
  std::string share;
  options.add(
      "--output", share,
      "write the scripts of all shells below this directory, where the shells look for them",
      kinds::directory);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  if (!share.empty()) {
    words->require_end();
    write_scripts(share);
    return 0;
  }
  const std::string shell = words->take_name();
  if (shell == "words")
    print_possible_words(*words);
  else
    print_script(*words, shell);
  finish_standard_output();
  return 0;
}

}  // namespace joedb
