#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "joedb/base/version.h"
#include "kernel/io/new_file.h"
#include "tools/frame/command.h"
#include "tools/frame/json_output.h"
#include "tools/frame/output.h"
#include "tools/frame/pager.h"
#include "tools/frame/parser.h"
#include "tools/frame/standard_input.h"

// Implements `joedb man`: generates pages for man(1), in roff(7), from the descriptions for --help.

namespace joedb {

namespace {

// ---- roff ---------------------------------------------------------------------------------------

// Escapes a line of text, so that roff does not take it for a request.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  if (result.starts_with('.') || result.starts_with('\'')) result.insert(0, "\\&");
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Writes the lines of a help text. Lines that begin with a space are printed verbatim. Other lines
// form paragraphs, in which a short line ends with a line break.
class Text_Writer {
 public:
  explicit Text_Writer(std::string& out) : out_(out) {}

  void write(const std::string& text) {
    for (const std::string& line : lines_of(text)) write_line(line);
    set_verbatim(false);
  }

 private:
  void write_line(const std::string& line) {
    constexpr std::size_t min_full_line = 70;
    if (line.empty()) {
      set_verbatim(false);
      out_ += ".PP\n";
      return;
    }
    set_verbatim(line.starts_with(' '));
    out_ += escaped(line) + '\n';
    if (!is_verbatim_ && line.size() < min_full_line) out_ += ".br\n";
  }

  void set_verbatim(bool is_verbatim) {
    if (is_verbatim == is_verbatim_) return;
    is_verbatim_ = is_verbatim;
    out_ += is_verbatim ? ".PP\n.nf\n" : ".fi\n.PP\n";
  }

  std::string& out_;
  bool is_verbatim_ = false;
};

// ---- pages --------------------------------------------------------------------------------------

// The content of a page: either the description of a tool, or a list of subcommands.
struct Page {
  std::string name;  // "joedb-wal-dump"
  std::string alias;
  std::string help;  // one line
  std::optional<Tool_Description> tool;
  std::vector<const Command*> commands;
};

std::string heading(const Page& page) {
  std::string title = page.name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = ".\\\" Made by joedb man.\n.TH " + escaped(title) + " 1 \"\" \"joedb " +
                     version + "\" \"joedb\"\n.SH NAME\n" + escaped(page.name);
  if (!page.alias.empty()) text += ", " + escaped(page.alias);
  return text + " \\- " + escaped(page.help) + "\n.SH SYNOPSIS\n.nf\n";
}

std::string text_of(const Option_Description& option) {
  std::string text = ".TP\n";
  for (const std::string& name : option.names)
    text += (&name == &option.names.front() ? "" : ", ") + bold(name);
  if (!option.is_flag()) text += " \\fI" + escaped(option.value.name) + "\\fR";
  return text + '\n' + escaped(option.help) + '\n';
}

std::string body(const Tool_Description& tool) {
  std::string text;
  for (const std::string& line : lines_of(tool.help.usage)) {
    const std::size_t start = line.find_first_not_of(' ');
    text += bold(line.substr(start)) + '\n';
  }
  text += ".fi\n.SH DESCRIPTION\n" + escaped(tool.help.summary) + '\n';
  if (!tool.help.details.empty()) {
    text += ".PP\n";
    Text_Writer(text).write(tool.help.details);
  }
  text += ".SH OPTIONS\n";
  for (const Option_Description& option : tool.options) text += text_of(option);
  text +=
      ".PP\n"
      "Use \\-\\- before an argument that begins with \\-.\n"
      ".SH EXAMPLES\n"
      ".nf\n";
  for (const std::string& line : lines_of(tool.help.examples)) text += escaped(line) + '\n';
  return text + ".fi\n";
}

std::string body(const Page& page) {
  std::string usage = page.name;
  std::replace(usage.begin(), usage.end(), '-', ' ');
  if (page.commands.empty())  // it parses its own command line
    return bold(usage) + "\n.fi\n.SH DESCRIPTION\nSee " + bold(usage + " --help") + ".\n";
  std::string text = bold(usage) + " \\fICOMMAND\\fR [\\fIargument\\fR...]\n.fi\n.SH COMMANDS\n";
  for (const Command* command : page.commands)
    text +=
        ".TP\n" + bold(page.name + "-" + command->name) + "(1)\n" + escaped(command->help) + '\n';
  return text + ".PP\n" + bold(usage + " help") +
         " \\fICOMMAND\\fR shows the help of a command. When a command fails, it says why on "
         "standard error.\n";
}

std::string text_of(const Page& page) {
  std::string text = heading(page) + (page.tool ? body(*page.tool) : body(page));
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n"
      "0\n"
      "success\n"
      ".TP\n"
      "1\n"
      "failure or a negative answer\n"
      ".TP\n"
      "2\n"
      "usage error\n";
  const std::string parent = page.name.substr(0, page.name.rfind('-'));
  if (parent != page.name) text += ".SH SEE ALSO\n" + bold(parent) + "(1)\n";
  return text;
}

Page page_of(const std::string& parent, const Command& command) {
  Page page{parent + "-" + command.name, "", command.help, {}, {}};
  if (command.alias != nullptr) page.alias = command.alias;
  if (command.subcommands != nullptr) {
    for (const Command& each : command.subcommands()) page.commands.push_back(&each);
    return page;
  }
  page.tool = describe(command.run);
  return page;
}

Page first_page() {
  Page page{"joedb", "", "the journal-only embedded database", {}, {}};
  for (const Command& each : all_commands()) page.commands.push_back(&each);
  return page;
}

// Calls f(page) for each command. A command comes before its subcommands.
void for_each_page(const std::string& parent, std::span<const Command> commands,
                   const std::function<void(const Page&)>& f) {
  for (const Command& command : commands) {
    const Page page = page_of(parent, command);
    f(page);
    if (command.subcommands != nullptr) for_each_page(page.name, command.subcommands(), f);
  }
}

Page find_page(Words& words) {
  Page page = first_page();
  std::span<const Command> commands = all_commands();
  while (!words.is_empty()) {
    const std::string name = words.take_name();
    const Command* const command = find_command(commands, name);
    if (command == nullptr)
      words.fail("unknown command: " + name + suggested_command(name, commands));
    page = page_of(page.name, *command);
    commands =
        command->subcommands == nullptr ? std::span<const Command>() : command->subcommands();
  }
  return page;
}

// ---- output -------------------------------------------------------------------------------------

void write_page(const std::filesystem::path& folder, const std::string& name,
                const std::string& text) {
  write_new_file((folder / (name + ".1")).string(), New_File::Existing::replace, text);
}

// Writes the pages of all commands. The page of an alias refers to the page of the command.
void write_pages(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_page(folder, "joedb", text_of(first_page()));
  for_each_page("joedb", all_commands(), [&](const Page& page) {
    write_page(folder, page.name, text_of(page));
    if (!page.alias.empty()) write_page(folder, page.alias, ".so man1/" + page.name + ".1\n");
  });
}

Json json_of(const Tool_Description& tool) {
  Json options = Json::array();
  for (const Option_Description& option : tool.options) {
    Json json{{"names", option.names}, {"help", option.help}};
    if (!option.is_flag()) json["value"] = option.value.name;
    if (!option.choices.empty()) json["choices"] = option.choices;
    options.push_back(std::move(json));
  }
  return {{"usage", tool.help.usage},
          {"summary", tool.help.summary},
          {"options", options},
          {"details", tool.help.details},
          {"examples", tool.help.examples}};
}

void print_all_as_json() {
  Json all = Json::array();
  for_each_page("joedb", all_commands(), [&](const Page& page) {
    Json json{{"page", page.name}, {"alias", page.alias}, {"help", page.help}};
    if (page.alias.empty()) json["alias"] = nullptr;
    if (page.tool) json.update(json_of(*page.tool));
    all.push_back(std::move(json));
  });
  print_json(all);
}

// At a terminal, man formats the page, and shows it in the user's pager.
void print_page(const std::string& text) {
  Pager man;
  if (is_interactive() && is_program("man") && man.open("man -l -"))
    man.write(text);
  else
    std::cout << text;
}

const char* const man_details =
    R"(At a terminal, man shows the page; elsewhere, it is printed for man -l. Without a COMMAND, it is
the page of joedb itself. An installed joedb has its pages where man looks for them: man joedb-pack,
or man joedb_pack. --json prints the data from which man pages, --help and completion are
generated: an array with one object per command.
)";

}  // namespace

int run_man(std::vector<std::string> arguments) {
  Options options({"joedb man [options] [COMMAND...]",
                   "Prints the man page of a command, or writes the pages of all commands.",
                   man_details,
                   "  joedb man pack\n"
                   "  joedb man wal dump > joedb-wal-dump.1\n"
                   "  joedb man --output /usr/local/share/man/man1\n"});
  std::string output;
  bool is_json = false;
  options.add("--output", output, "write the pages of all commands to this directory",
              kinds::directory);
  options.add_flag("--json", is_json, "print the descriptions of all commands as JSON");
  options.set_words({{"COMMAND", ""}});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  if (is_json || !output.empty()) words->require_end();
  if (is_json)
    print_all_as_json();
  else if (!output.empty())
    write_pages(output);
  else
    print_page(text_of(find_page(*words)));
  finish_standard_output();
  return 0;
}

}  // namespace joedb
