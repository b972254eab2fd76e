#ifndef JOEDB_SRC_COMMANDS_COMMAND_LOOP_H
#define JOEDB_SRC_COMMANDS_COMMAND_LOOP_H

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/line_source.h"
#include "kernel/schema/line_reader.h"
#include "text/display.h"

namespace joedb::inline v1 {

// The help for a command. `help COMMAND` prints it, and completion by the tab key uses it. The
// pages of tools in docs/reference must say the same: tests/docs/help.py compares them.
struct Command_Help {
  std::string_view name;
  // The kinds of its arguments, in order, for completion. The kinds are table, field, record,
  // new_record, row (one value per field), value, type, condition, command, setting and
  // setting_value; new and number, which cannot be completed; or the possible words, separated by
  // |. Three dots after the last kind mean that it may be repeated.
  std::string_view arguments;
  std::string_view summary;
  std::string_view examples;  // whole lines
};

// Returns the help for the commands of joedbi.
std::span<const Command_Help> interpreter_help();

// Prints the help for a command. `forms` are the ways to write the command, like "table
// <table_name>".
void print_command_help(std::ostream& out, const std::vector<std::string_view>& forms,
                        const Command_Help& help);

// A command that users can type.
struct Interpreter_Command {
  std::string_view names;  // all its names: "help|?"
  std::string_view help;   // its line in the list of commands: "help|?"
  // Runs the command. Must read all arguments before it changes anything, and prints to the stream.
  // The text of an Exception is shown to the user.
  std::function<void(Line_Reader&, std::ostream&)> run;
  // True if the command only prints information. On a screen, its output is shown page by page,
  // until the user stops it.
  bool is_display = false;
};

// Returns a run() for a command without arguments. It calls f() or f(stream).
template <class F>
auto without_arguments(F f) {
  return [f](Line_Reader& in, [[maybe_unused]] std::ostream& out) {
    in.require_end();
    if constexpr (std::is_invocable_v<const F&, std::ostream&>)
      f(out);
    else
      f();
  };
}

// Thrown if the first word of a line is not a command.
class Unknown_Command : public Exception {
 public:
  using Exception::Exception;
};

// Commands that `help` lists together.
struct Command_Group {
  std::string_view title;
  std::vector<Interpreter_Command> commands;
  std::string_view notes = "";  // whole lines, printed after the commands
};

// Reads lines, and runs the command at the beginning of each line. Ends at the end of the input, or
// when a command ends the loop. Commands that control the loop are built in; the owner of the loop
// adds the others.
//
// Empty lines, and lines whose first word begins with #, are ignored. The answer to a command that
// succeeds is "OK: LINE". The answer to a command that fails, even because memory is exhausted, is
// "Error: TEXT" and "Line N: LINE"; the loop then continues with the next line. The answer to a
// command that the user stops is "stopped".
class Command_Loop {
 public:
  struct Settings {
    bool is_echoing = true;     // answer "OK: LINE"
    bool is_prompting = false;  // show a prompt before each line
    bool is_bailing = false;    // end at the first error
    // Behave like joedb 10: lines are read leniently (Reading::classic), error messages begin with
    // "Exception caught: ", a nested loop counts lines from its own start, and the command sql
    // writes one statement per value. Commands that joedb 10 does not have, and the command names
    // of SQLite, are unknown.
    bool is_classic = false;
    // Shared with nested loops.
    std::shared_ptr<Display> display = std::make_shared<Display>();
  };

  // The reason why the loop ended.
  enum class End { end_of_input, quit, abort, rollback, error };

  // `prompt` returns the text of the prompt.
  Command_Loop(Settings settings, std::function<std::string()> prompt);
  Command_Loop(const Command_Loop&) = delete;
  Command_Loop& operator=(const Command_Loop&) = delete;

  const Settings& settings() const { return settings_; }
  Display& display() const { return *settings_.display; }

  void add_group(Command_Group group);
  // Adds help for commands. `help` must outlive the loop. If several entries have the same name,
  // the last one added is used. The help of joedbi is always included.
  void add_help(std::span<const Command_Help> help) { help_.push_back(help); }
  // For completion: returns the words that begin with `prefix` and are valid for an argument of
  // kind `kind` (Command_Help). `words` are the command and the words between it and the argument.
  using Arguments = std::function<Completions(
      std::string_view kind, const std::vector<std::string_view>& words, std::string_view prefix)>;
  void set_completions(Arguments arguments) { arguments_ = std::move(arguments); }

  // Runs commands until the loop ends. Returns the reason. Throws Exception if writing to `out`
  // fails, unless it had already failed before the call.
  End run(Line_Source& in, std::ostream& out);

  // The failed commands, including those of nested loops.
  struct Failures {
    std::size_t count = 0;
    std::size_t line_number = 0;  // of the last failed command
    std::exception_ptr error;     // of the last failed command
    std::string text = {};        // the message of `error`
    std::string line = {};        // the beginning of the line of the last failed command
    // Returns "TEXT\nLine N: LINE".
    std::string message() const;
  };
  const Failures& failures() const { return failures_; }
  // Adds the failures of a nested loop on the same input. The command that ran the nested loop
  // calls this.
  void add(const Failures& nested);

  // Makes the loop end after the current command. Called by commands.
  void end(End why) { end_ = why; }
  // Returns the input. Commands that run a nested loop pass it on.
  Line_Source& input() { return *in_; }

  void print_help(std::ostream& out) const;
  Completions complete(std::string_view line) const;

  // Returns null if there is no help for the command.
  const Command_Help* find_help(std::string_view name) const;
  std::vector<std::string> command_names() const;

 private:
  void add_general_commands();
  void run_display(const Interpreter_Command& command, Line_Reader& in);
  void help(Line_Reader& in, std::ostream& out) const;
  void set(Line_Reader& in, std::ostream& out);
  std::string shown_prompt() const;
  Completions complete_argument(std::string_view kind, const std::vector<std::string_view>& words,
                                std::string_view prefix) const;
  void run_line(std::string_view line, std::ostream& out);
  void execute(std::string_view line, std::ostream& out);
  void answer(std::ostream& out);
  // Reports the exception that is being handled. `text` is its message.
  void fail(std::string_view text, std::string_view line, std::ostream& out);
  const Interpreter_Command& find(std::string_view name);

  Settings settings_;
  const std::function<std::string()> prompt_;
  std::vector<std::unique_ptr<const Command_Group>> groups_;
  std::map<std::string_view, const Interpreter_Command*> commands_;
  std::vector<std::span<const Command_Help>> help_{interpreter_help()};
  Arguments arguments_;

  // The state of run().
  Line_Source* in_ = nullptr;
  std::string line_;
  std::size_t line_number_ = 0;
  End end_ = End::end_of_input;
  std::string_view last_name_;  // the previous command, because the same one often follows
  const Interpreter_Command* last_command_ = nullptr;
  std::string answer_;
  Failures failures_;
};

// Returns the output of the command `about`.
std::string about_text();

}  // namespace joedb::inline v1

#endif
