#include "interpreter/command_loop.h"

#include <new>

#include "joedb/base/error.h"
#include "joedb/base/version.h"
#include "joedb/format/header.h"

namespace joedb::inline v1 {

static std::string_view trimmed(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\n\v\f\r");
  return line.substr(0, last + 1);
}

std::string about_text() {
  return std::string("joedb ") + version + ", the journal-only embedded database\n" +
         "file format version: " + std::to_string(format_version) + "\n" +
         "compiled by: " + __VERSION__ + "\n";
}

Command_Loop::Command_Loop(Settings settings, std::function<std::string()> prompt)
    : settings_(settings), prompt_(std::move(prompt)) {
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
  add_group(
      {"General commands",
       {{"about", "about", without_arguments([](std::ostream& out) { out << about_text(); })},
        {"help|?", "help|?", without_arguments([this](std::ostream& out) { print_help(out); })},
        {"quit", "quit", without_arguments([this] { end(End::quit); })},
        {"abort", "abort", without_arguments([this] { end(End::abort); })},
        {"echo", "echo on|off", switch_to(settings_.is_echoing)},
        {"prompt", "prompt on|off", switch_to(settings_.is_prompting)}}});
}

void Command_Loop::add_group(Command_Group group) {
  groups_.push_back(std::make_unique<const Command_Group>(std::move(group)));
  for (const Interpreter_Command& command : groups_.back()->commands) {
    std::string_view names = command.names;
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find('|'));
      commands_[name] = &command;
      names.remove_prefix(std::min(names.size(), name.size() + 1));
    }
  }
}

void Command_Loop::print_help(std::ostream& out) const {
  for (const auto& group : groups_) {
    out << '\n' << group->title << '\n' << std::string(group->title.size(), '~') << '\n';
    for (const Interpreter_Command& command : group->commands) out << ' ' << command.help << '\n';
    out << group->notes;
  }
  out << '\n';
}

// ---- running ------------------------------------------------------------------------------------

Command_Loop::End Command_Loop::run(Line_Source& in, std::ostream& out) {
  in_ = &in;
  line_number_ = 0;
  end_ = End::end_of_input;
  const bool is_answering = out.good();
  const Completer completer = [this](std::string_view line) { return complete(line); };
  while (end_ == End::end_of_input) {
    const std::string prompt = settings_.is_prompting ? prompt_text(prompt_()) : std::string();
    try {
      const auto line = in.next(prompt, completer);
      line_number_ = settings_.is_classic ? line_number_ + 1 : in.line_number();
      if (is_answering && !out) throw Exception("the output cannot be written");
      if (!line) break;
      run_line(trimmed(*line), out);
    } catch (const Line_Too_Long& error) {
      line_number_ = in.line_number();
      fail(error.what(), "", out);
    }
  }
  return end_;
}

void Command_Loop::run_line(std::string_view line, std::ostream& out) {
  try {
    line_ = line;  // a command may read more lines
    execute(line_, out);
  } catch (const Exception& error) {
    return fail(error.what(), line_, out);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", line_, out);
  }
  if (settings_.is_echoing) answer(out);
}

// In one piece, which is faster, unless the line is long: that could take memory.
void Command_Loop::answer(std::ostream& out) {
  constexpr std::size_t longest_piece = 4096;
  if (line_.size() > longest_piece) {
    out << "OK: " << line_ << '\n';
    return;
  }
  answer_.assign("OK: ").append(line_) += '\n';
  out.write(answer_.data(), static_cast<std::streamsize>(answer_.size()));
}

void Command_Loop::fail(std::string_view text, std::string_view line, std::ostream& out) {
  constexpr std::size_t longest_shown = 1000;
  ++failures_.count;
  failures_.line_number = line_number_;
  failures_.text = text;
  failures_.line = line.substr(0, longest_shown);
  if (line.size() > longest_shown) failures_.line += "…";
  out << (settings_.is_classic ? "Exception caught: " : "Error: ") << failures_.message() << '\n';
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
  if (!name.starts_with('#')) find(name).run(reader, out);
}

const Interpreter_Command& Command_Loop::find(std::string_view name) {
  if (name != last_name_) {
    const auto found = commands_.find(name);
    if (found == commands_.end())
      throw Exception("Unknown command. For a list of available commands, try \"help\".");
    last_name_ = found->first;
    last_command_ = found->second;
  }
  return *last_command_;
}

// ---- completion ---------------------------------------------------------------------------------

std::vector<std::string> Command_Loop::complete(std::string_view line) const {
  std::vector<std::string_view> words;
  Line_Reader reader(line);
  while (reader.has_more()) words.push_back(reader.read_word("word"));
  std::string_view prefix;
  if (!words.empty() && words.back().end() == line.end()) {
    prefix = words.back();
    words.pop_back();
  }
  std::vector<std::string> result;
  const auto add = [&](std::string_view candidate) {
    if (candidate.starts_with(prefix)) result.emplace_back(candidate);
  };
  if (words.empty()) {
    for (const auto& [name, command] : commands_) add(name);
  } else if (arguments_) {
    for (const std::string& candidate : arguments_(words)) add(candidate);
  }
  return result;
}

}  // namespace joedb::inline v1
