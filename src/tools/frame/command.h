#ifndef JOEDB_SRC_TOOLS_FRAME_COMMAND_H
#define JOEDB_SRC_TOOLS_FRAME_COMMAND_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace joedb {

// A subcommand of the program joedb. main.cc has the table of all commands.
struct Command {
  const char* name;   // used as: joedb NAME …
  const char* alias;  // another name under which it is installed, or null
  const char* help;   // one line
  // Runs the command with the arguments that follow its name. Returns the exit code. If it throws,
  // main() prints the exception, and returns 2 for a Usage_Error, otherwise 1.
  int (*run)(std::vector<std::string> arguments);
  // Null, or for a command that only dispatches to subcommands, returns them for man pages and
  // completion.
  std::span<const Command> (*subcommands)() = nullptr;
};

// Returns all commands. Defined in main.cc.
std::span<const Command> all_commands();
// Finds a command by its name or alias. Returns null if there is none.
const Command* find_command(std::span<const Command> commands, std::string_view name);
// Returns the end of a message, ". Did you mean NAME?"; empty if no name is similar.
std::string suggested_command(std::string_view name, std::span<const Command> commands);

// The help of a command that only dispatches to the subcommand named by its first argument. `notes`
// are whole lines for the end of the help.
struct Group_Help {
  std::string name;     // "joedb wal"
  std::string summary;  // one sentence
  std::string notes;
};
int run_subcommand(const Group_Help& help, std::span<const Command> commands,
                   std::vector<std::string> arguments);

int run_alter(std::vector<std::string> arguments);
int run_blame(std::vector<std::string> arguments);
int run_at(std::vector<std::string> arguments);
int run_branch(std::vector<std::string> arguments);
int run_browser(std::vector<std::string> arguments);
int run_interpreter(std::vector<std::string> arguments);
int run_client(std::vector<std::string> arguments);
int run_diff(std::vector<std::string> arguments);
int run_compiler(std::vector<std::string> arguments);
int run_edit(std::vector<std::string> arguments);
int run_forget(std::vector<std::string> arguments);
int run_log(std::vector<std::string> arguments);
int run_logdump(std::vector<std::string> arguments);
int run_sha256sum(std::vector<std::string> arguments);
int run_restore(std::vector<std::string> arguments);
int run_revert(std::vector<std::string> arguments);
int run_show(std::vector<std::string> arguments);
int run_snapshot(std::vector<std::string> arguments);
int run_sql(std::vector<std::string> arguments);
int run_stats(std::vector<std::string> arguments);
int run_tag(std::vector<std::string> arguments);
int run_to_json(std::vector<std::string> arguments);
int run_pack(std::vector<std::string> arguments);
int run_convert(std::vector<std::string> arguments);
int run_import(std::vector<std::string> arguments);
std::span<const Command> import_commands();
int run_export(std::vector<std::string> arguments);
std::span<const Command> export_commands();
int run_merge(std::vector<std::string> arguments);
int run_push(std::vector<std::string> arguments);
int run_undo(std::vector<std::string> arguments);
int run_verify(std::vector<std::string> arguments);
int run_recover(std::vector<std::string> arguments);
int run_multi_server(std::vector<std::string> arguments);
int run_server(std::vector<std::string> arguments);
int run_nats(std::vector<std::string> arguments);
std::span<const Command> nats_commands();
int run_wal(std::vector<std::string> arguments);
std::span<const Command> wal_commands();
int run_crash_lab_command(std::vector<std::string> arguments);
int run_init(std::vector<std::string> arguments);
int run_completion(std::vector<std::string> arguments);
int run_man(std::vector<std::string> arguments);

}  // namespace joedb

#endif
