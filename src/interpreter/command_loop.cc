#include "interpreter/command_loop.h"

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
      const std::string_view word = in.read_word();
      if (word == "on") setting = true;
      if (word == "off") setting = false;
    };
  };
  add_group({"General commands",
             {{"about", "about", [](Line_Reader&, std::ostream& out) { out << about_text(); }},
              {"help|?", "help|?", [this](Line_Reader&, std::ostream& out) { print_help(out); }},
              {"quit", "quit", [this](Line_Reader&, std::ostream&) { end(End::quit); }},
              {"abort", "abort", [this](Line_Reader&, std::ostream&) { end(End::abort); }},
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
  const Completer completer = [this](std::string_view line) { return complete(line); };
  while (end_ == End::end_of_input) {
    const auto line =
        in.next(settings_.is_prompting ? prompt_text(prompt_()) : std::string(), completer);
    if (!line) break;
    ++line_number_;
    line_ = trimmed(*line);  // a command may read more lines
    run_line(line_, out);
  }
  return end_;
}

void Command_Loop::run_line(std::string_view line, std::ostream& out) {
  answer_.clear();
  try {
    execute(line, out);
    if (settings_.is_echoing) answer_.append("OK: ").append(line) += '\n';
  } catch (const Exception& error) {
    error_ = error.what();
    error_.append("\nLine ").append(std::to_string(line_number_)).append(": ").append(line);
    answer_.append("Exception caught: ").append(error_) += '\n';
    if (settings_.is_bailing) end_ = End::error;
  }
  out.write(answer_.data(), static_cast<std::streamsize>(answer_.size()));
}

void Command_Loop::execute(std::string_view line, std::ostream& out) {
  Line_Reader reader(line);
  const std::string_view name = reader.read_word();
  if (!name.empty() && name[0] != '#') find(name).run(reader, out);
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
  std::string_view word;
  while (!(word = reader.read_word()).empty()) words.push_back(word);
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
