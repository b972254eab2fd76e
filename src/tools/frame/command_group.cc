#include <iostream>

#include "text/columns.h"
#include "tools/frame/command.h"
#include "tools/frame/output.h"
#include "tools/frame/parser.h"

namespace joedb {

const Command* find_command(std::span<const Command> commands, std::string_view name) {
  for (const Command& command : commands)
    if (name == command.name || (command.alias != nullptr && name == command.alias))
      return &command;
  return nullptr;
}

std::string suggested_command(std::string_view name, std::span<const Command> commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return did_you_mean(name, names);
}

static void print_help(const Group_Help& help, std::span<const Command> commands) {
  std::cout << help.summary << "\n\nusage: " << help.name
            << " COMMAND [argument...]\n\nCommands:\n";
  Text_Columns layout{std::vector<Text_Columns::Column>(2)};
  for (const Command& command : commands) layout.fit({command.name});
  for (const Command& command : commands)
    std::cout << "  " << layout.line({command.name, command.help}) << '\n';
  std::cout << '\n' << help.notes << "See " << help.name << " COMMAND --help for details.\n";
  finish_standard_output();
}

int run_subcommand(const Group_Help& help, std::span<const Command> commands,
                   std::vector<std::string> arguments) {
  const std::string usage =
      "usage: " + help.name + " COMMAND [argument...]\nMore is shown by " + help.name + " --help.";
  std::string name = arguments.empty() ? "" : arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    // The command line is: joedb NAME help COMMAND.
    if (arguments.size() < 2 || find_command(commands, arguments[1]) == nullptr) {
      print_help(help, commands);
      return 0;
    }
    name = arguments[1];
    arguments = {name, "--help"};
  }
  if (name.empty()) throw Usage_Error("", usage);
  const Command* const command = find_command(commands, name);
  if (command == nullptr)
    throw Usage_Error("unknown command: " + name + suggested_command(name, commands), usage);
  arguments.erase(arguments.begin());
  return command->run(std::move(arguments));
}

}  // namespace joedb
