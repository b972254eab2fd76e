#include "commands/command_loop.h"

#include <algorithm>
#include <new>

#include "commands/typed_line.h"
#include "joedb/base/error.h"
#include "joedb/base/version.h"
#include "joedb/format/header.h"
#include "kernel/base/interrupts.h"
#include "kernel/base/split.h"
#include "kernel/base/suggestion.h"

namespace joedb::inline v1 {

static std::string_view trimmed(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\n\v\f\r");
  return line.substr(0, last + 1);
}

// `names` are separated by |.
static std::string_view first_name(std::string_view names) {
  return names.substr(0, names.find('|'));
}

std::string about_text() {
  return std::string("joedb ") + version + ", the journal-only embedded database\n" +
         "file format version: " + std::to_string(format_version) + "\n" +
         "compiled by: " + __VERSION__ + "\n";
}

Command_Loop::Command_Loop(Settings settings, std::function<std::string()> prompt)
    : settings_(settings), prompt_(std::move(prompt)) {
  add_general_commands();
}

void Command_Loop::add_general_commands() {
  const auto switch_to = [](bool& setting) {
    return [&setting](Line_Reader& in, std::ostream&) {
      const std::string_view word = in.read_word("on or off");
      const bool is_on = word == "on";
      if (!is_on && word != "off") {
        if (in.is_classic()) return;
        throw in.unexpected("on or off");
      }
      in.require_end();
      setting = is_on;
    };
  };
  const bool is_classic = settings_.is_classic;
  Command_Group group{
      "General commands",
      {{"about", "about", without_arguments([](std::ostream& out) { out << about_text(); })},
       {"help|?", is_classic ? "help|?" : "help|? [<command>]",
        [this](Line_Reader& in, std::ostream& out) { help(in, out); }, true},
       {"quit", "quit", without_arguments([this] { end(End::quit); })},
       {"abort", "abort", without_arguments([this] { end(End::abort); })},
       {"echo", "echo on|off", switch_to(settings_.is_echoing)},
       {"prompt", "prompt on|off", switch_to(settings_.is_prompting)}}};
  if (!is_classic) {
    group.commands.push_back({"exit", "exit", without_arguments([this] { end(End::quit); })});
    group.commands.push_back({"set", "set [<setting> <setting_value>]",
                              [this](Line_Reader& in, std::ostream& out) { set(in, out); }});
  }
  add_group(std::move(group));
}

void Command_Loop::add_group(Command_Group group) {
  groups_.push_back(std::make_unique<const Command_Group>(std::move(group)));
  for (const Interpreter_Command& command : groups_.back()->commands) {
    for (const std::string_view name : split(command.names, "|")) commands_[name] = &command;
  }
}

// ---- help and settings --------------------------------------------------------------------------

void Command_Loop::print_help(std::ostream& out) const {
  for (const auto& group : groups_) {
    out << '\n' << group->title << '\n' << std::string(group->title.size(), '~') << '\n';
    for (const Interpreter_Command& command : group->commands) out << ' ' << command.help << '\n';
    out << group->notes;
  }
  out << '\n';
}

const Command_Help* Command_Loop::find_help(std::string_view name) const {
  for (std::size_t i = help_.size(); i-- > 0;)
    for (const Command_Help& help : help_[i])
      if (help.name == name) return &help;
  return nullptr;
}

// Translates a command name of SQLite to that of joedbi.
static std::string_view without_sqlite(std::string_view name) {
  if (name == ".help") return "help";
  if (name == ".exit" || name == ".quit") return "quit";
  if (name == ".tables") return "describe";
  if (name == ".schema") return "schema";
  return name;
}

void Command_Loop::help(Line_Reader& in, std::ostream& out) const {
  if (in.is_classic() || !in.has_more()) return print_help(out);
  std::string_view name = without_sqlite(in.read_word("command"));
  const std::string_view typed_name = name;
  const auto found = commands_.find(name);
  if (found == commands_.end())
    throw in.error("No such command: " + std::string(name) + did_you_mean(name, command_names()));
  in.require_end();
  const Command_Help* help = find_help(name);
  if (help == nullptr) help = find_help(name = first_name(found->second->names));
  std::vector<std::string_view> forms;
  for (const auto& group : groups_)
    for (const Interpreter_Command& command : group->commands)
      if (const auto names = split(command.names, "|");
          std::find(names.begin(), names.end(), typed_name) != names.end())
        forms.push_back(command.help);
  if (help != nullptr) print_command_help(out, forms, *help);
}

void Command_Loop::set(Line_Reader& in, std::ostream& out) {
  Display& d = display();
  if (!in.has_more()) {
    out << "references " << (d.has_reference_names ? "names" : "ids") << "\nlimit " << d.limit
        << "\npager " << (d.has_pager ? "on" : "off") << '\n';
    return;
  }
  const auto read_choice = [&](std::string_view yes, std::string_view no) {
    const std::string expected = std::string(yes) + " or " + std::string(no);
    const std::string_view word = in.read_word(expected);
    if (word != yes && word != no) throw in.unexpected(expected);
    in.require_end();
    return word == yes;
  };
  const std::string_view name = in.read_word("setting");
  if (name == "references") {
    d.has_reference_names = read_choice("names", "ids");
  } else if (name == "pager") {
    d.has_pager = read_choice("on", "off");
  } else if (name == "limit") {
    const index_t limit = in.read_integer("number of records", 0, {.min = 0});
    in.require_end();
    d.limit = limit;
  } else {
    throw in.unexpected("references, limit or pager");
  }
}

// ---- running ------------------------------------------------------------------------------------

Command_Loop::End Command_Loop::run(Line_Source& in, std::ostream& out) {
  in_ = &in;
  line_number_ = 0;
  end_ = End::end_of_input;
  const bool was_good = out.good();
  const Completer completer = [this](std::string_view line) { return complete(line); };
  while (end_ == End::end_of_input) {
    look_for_interrupt();
    try {
      const std::string prompt = shown_prompt();
      const auto line = in.next(prompt, completer);
      line_number_ = settings_.is_classic ? line_number_ + 1 : in.line_number();
      if (was_good && !out) throw Exception("the output cannot be written");
      if (!line) break;
      run_line(trimmed(*line), out);
    } catch (const Line_Too_Long& error) {
      line_number_ = in.line_number();
      fail(error.what(), "", out);
    }
  }
  return end_;
}

std::string Command_Loop::shown_prompt() const {
  if (!settings_.is_prompting) return "";
  const bool is_plain =
      display().screen != nullptr && !display().has_colours && !settings_.is_classic;
  return is_plain ? prompt_() + "> " : prompt_text(prompt_());
}

void Command_Loop::run_line(std::string_view line, std::ostream& out) {
  try {
    line_ = line;  // a copy, because the command may read more lines
    execute(line_, out);
  } catch (const Display_Stopped& stopped) {
    if (*stopped.what() != 0) out << '\n' << stopped.what() << '\n';
    return;
  } catch (const Exception& error) {
    return fail(error.what(), line_, out);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", line_, out);
  }
  if (settings_.is_echoing) answer(out);
}

// Writes the answer. A short answer is written in one piece, which is faster. A long line is not
// copied, because a copy could take much memory.
void Command_Loop::answer(std::ostream& out) {
  constexpr std::size_t max_piece_size = 4096;
  if (line_.size() > max_piece_size) {
    out << "OK: " << line_ << '\n';
    return;
  }
  answer_.clear();
  if (display().has_colours) answer_.append(colour::dim);
  answer_.append("OK: ").append(line_);
  if (display().has_colours) answer_.append(colour::end);
  answer_ += '\n';
  out.write(answer_.data(), static_cast<std::streamsize>(answer_.size()));
}

void Command_Loop::fail(std::string_view text, std::string_view line, std::ostream& out) {
  constexpr std::size_t max_shown_size = 1000;
  ++failures_.count;
  failures_.line_number = line_number_;
  failures_.error = std::current_exception();
  failures_.text = text;
  failures_.line = line.substr(0, max_shown_size);
  if (line.size() > max_shown_size) failures_.line += "…";
  const bool has_colours = display().has_colours;
  if (has_colours) out << colour::error;
  out << (settings_.is_classic ? "Exception caught:" : "Error:");
  if (has_colours) out << colour::end;
  out << ' ' << failures_.message() << '\n';
  if (settings_.is_bailing) end_ = End::error;
}

std::string Command_Loop::Failures::message() const {
  return text + "\nLine " + std::to_string(line_number) + ": " + line;
}

void Command_Loop::add(const Failures& nested) {
  const std::size_t count = failures_.count + nested.count;
  if (nested.count > 0) failures_ = nested;
  failures_.count = count;
}

void Command_Loop::execute(std::string_view line, std::ostream& out) {
  Line_Reader reader(line, settings_.is_classic ? Reading::classic : Reading::strict);
  if (line.empty()) return;
  const std::string_view name = reader.read_word("command");
  if (name.starts_with('#')) return;
  const Interpreter_Command& command = find(name);
  if (command.is_display && display().screen != nullptr)
    run_display(command, reader);
  else
    command.run(reader, out);
}

void Command_Loop::run_display(const Interpreter_Command& command, Line_Reader& in) {
  Screen& screen = *display().screen;
  struct Page {
    explicit Page(Screen& s) : screen(s) {}
    ~Page() { screen.end_page(); }
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    Screen& screen;
  } page(screen);
  command.run(in, screen.begin_page(display().has_pager));
}

const Interpreter_Command& Command_Loop::find(std::string_view name) {
  if (name != last_name_) {
    auto found = commands_.find(name);
    if (found == commands_.end() && !settings_.is_classic)
      found = commands_.find(without_sqlite(name));
    if (found == commands_.end()) {
      const std::string meant = settings_.is_classic ? "" : did_you_mean(name, command_names());
      throw Unknown_Command("Unknown command. For a list of available commands, try \"help\"" +
                            (meant.empty() ? "." : meant));
    }
    last_name_ = found->first;
    last_command_ = found->second;
  }
  return *last_command_;
}

std::vector<std::string> Command_Loop::command_names() const {
  std::vector<std::string> names;
  for (const auto& [name, command] : commands_) names.emplace_back(name);
  return names;
}

// ---- completion ---------------------------------------------------------------------------------

// Returns the kind of the argument after `words`. The first word is the command.
static std::string_view kind_of_argument(std::string_view kinds,
                                         const std::vector<std::string_view>& words) {
  std::size_t i = words.size() - 1;
  // "references TABLE" is one argument of two words.
  if (words[0] == "add_field" && words.size() > 3 && words[3] == "references") {
    if (i == 3) return "table";
    if (i > 3) --i;
  }
  while (true) {
    const std::string_view kind = kinds.substr(0, kinds.find(' '));
    if (kind.ends_with("...")) return kind.substr(0, kind.size() - 3);
    if (i-- == 0) return kind;
    kinds.remove_prefix(std::min(kinds.size(), kind.size() + 1));
  }
}

static Completions complete_words(std::string_view words, std::string_view prefix) {
  Completions result;
  if (!words.empty())
    for (const std::string_view word : split(words, "|")) result.add(prefix, word);
  return result;
}

Completions Command_Loop::complete(std::string_view line) const {
  const Typed_Line typed = split_typed_line(line);
  if (typed.has_open_string) return {};
  if (typed.words.empty()) return complete_argument("command", {}, typed.last);
  std::vector<std::string_view> words = typed.words;
  words.front() = without_sqlite(words.front());
  if (!commands_.contains(words.front())) return {};
  const Command_Help* help = find_help(words.front());
  if (help == nullptr) help = find_help(first_name(commands_.at(words.front())->names));
  if (help == nullptr) return {};
  return complete_argument(kind_of_argument(help->arguments, words), words, typed.last);
}

Completions Command_Loop::complete_argument(std::string_view kind,
                                            const std::vector<std::string_view>& words,
                                            std::string_view prefix) const {
  Completions result;
  if (kind.empty() || kind == "new" || kind == "number") return result;
  if (kind == "command") {
    for (const auto& [name, command] : commands_) result.add(prefix, name);
    return result;
  }
  if (kind == "setting") return complete_words("references|limit|pager", prefix);
  if (kind == "setting_value")
    return complete_words(words[1] == "references" ? "names|ids"
                          : words[1] == "pager"    ? "on|off"
                                                   : "",
                          prefix);
  if (kind == "=" || kind.find('|') != kind.npos) return complete_words(kind, prefix);
  return arguments_ ? arguments_(kind, words, prefix) : result;
}

}  // namespace joedb::inline v1
