#ifndef JOEDB_INTERPRETER_COMMAND_LOOP_H
#define JOEDB_INTERPRETER_COMMAND_LOOP_H

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/command_help.h"
#include "interpreter/display.h"
#include "interpreter/line_source.h"
#include "schema/line_reader.h"

namespace joedb::inline v1 {

// Something that can be typed.
struct Interpreter_Command {
  std::string_view names;  // "help|?": any of them
  std::string_view help;   // "help|?": its line in the list of commands
  // Reads its arguments, all of them before it changes anything, and prints to the stream. An
  // Exception is shown to the user.
  std::function<void(Line_Reader&, std::ostream&)> run;
  // It only shows things: on a screen page by page, until the user stops it.
  bool is_display = false;
};

// run() of a command without arguments: f() or f(stream).
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

// Commands that are shown together by help.
struct Command_Group {
  std::string_view title;
  std::vector<Interpreter_Command> commands;
  std::string_view notes = "";  // whole lines behind them
};

// Reads lines and runs the command that each begins with, until the end of the input or a command
// says so. Which commands there are is up to the owner; those about the loop itself are built in.
//
// Empty lines, and lines whose first word begins with #, do nothing. A command that succeeds is
// answered by "OK: LINE"; one that fails, also for lack of memory, by "Error: TEXT" and
// "Line N: LINE", and the next line is read. One that the user stops is answered by "stopped".
class Command_Loop {
 public:
  struct Settings {
    bool is_echoing = true;     // answers "OK: LINE"
    bool is_prompting = false;  // shows a prompt before each line
    bool is_bailing = false;    // ends at the first error
    // As joedb 10: lines are read leniently (Reading::classic), errors begin with
    // "Exception caught: ", lines are counted from the start of a nested loop, SQL is one statement
    // for each value; commands that joedb 10 does not have, and the names of SQLite, are unknown.
    bool is_classic = false;
    // Nested loops have the same.
    std::shared_ptr<Display> display = std::make_shared<Display>();
  };

  // Why the loop has ended.
  enum class End { end_of_input, quit, abort, rollback, error };

  // `prompt` gives the text of the prompt.
  Command_Loop(Settings settings, std::function<std::string()> prompt);
  Command_Loop(const Command_Loop&) = delete;
  Command_Loop& operator=(const Command_Loop&) = delete;

  const Settings& settings() const { return settings_; }
  Display& display() const { return *settings_.display; }

  void add_group(Command_Group group);
  // Help for commands, which must outlive the loop. What was added last comes first, where two are
  // about the same name; that of joedbi is there from the beginning.
  void add_help(std::span<const Command_Help> help) { help_.push_back(help); }
  // For completion: what an argument of this kind (Command_Help) may be that begins with `prefix`.
  // `words` are those before it, the command first.
  using Arguments = std::function<Completions(
      std::string_view kind, const std::vector<std::string_view>& words, std::string_view prefix)>;
  void set_completions(Arguments arguments) { arguments_ = std::move(arguments); }

  // Throws Exception when the answers can no longer be written, unless they never could.
  End run(Line_Source& in, std::ostream& out);

  // The commands that failed, with those of nested loops.
  struct Failures {
    std::size_t count = 0;
    std::size_t line_number = 0;  // of the last one
    std::string text = {};        // of the last one: what was wrong
    std::string line = {};        // its beginning
    // "TEXT\nLine N: LINE"
    std::string message() const;
  };
  const Failures& failures() const { return failures_; }
  // For commands that have run another loop on the same input.
  void add(const Failures& nested);

  // For commands: the loop ends when this one is done.
  void end(End why) { end_ = why; }
  // For commands that start another loop on the same input.
  Line_Source& input() { return *in_; }

  void print_help(std::ostream& out) const;
  Completions complete(std::string_view line) const;

  // Null if there is none.
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
  void fail(std::string_view text, std::string_view line, std::ostream& out);
  const Interpreter_Command& find(std::string_view name);

  Settings settings_;
  const std::function<std::string()> prompt_;
  std::vector<std::unique_ptr<const Command_Group>> groups_;
  std::map<std::string_view, const Interpreter_Command*> commands_;
  std::vector<std::span<const Command_Help>> help_{interpreter_help()};
  Arguments arguments_;

  // While it runs:
  Line_Source* in_ = nullptr;
  std::string line_;
  std::size_t line_number_ = 0;
  End end_ = End::end_of_input;
  std::string_view last_name_;  // of the command before: there are often many of a kind
  const Interpreter_Command* last_command_ = nullptr;
  std::string answer_;
  Failures failures_;
};

// What the command `about` prints.
std::string about_text();

}  // namespace joedb::inline v1

#endif
