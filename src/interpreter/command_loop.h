#ifndef JOEDB_INTERPRETER_COMMAND_LOOP_H
#define JOEDB_INTERPRETER_COMMAND_LOOP_H

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

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
// "Line N: LINE", and the next line is read.
class Command_Loop {
 public:
  struct Settings {
    bool is_echoing = true;     // answers "OK: LINE"
    bool is_prompting = false;  // shows a prompt before each line
    bool is_bailing = false;    // ends at the first error
    // As joedb 10: lines are read leniently (Reading::classic), errors begin with
    // "Exception caught: ", lines are counted from the start of a nested loop, SQL is one statement
    // for each value.
    bool is_classic = false;
  };

  // Why the loop has ended.
  enum class End { end_of_input, quit, abort, rollback, error };

  // `prompt` gives the text of the prompt.
  Command_Loop(Settings settings, std::function<std::string()> prompt);
  Command_Loop(const Command_Loop&) = delete;
  Command_Loop& operator=(const Command_Loop&) = delete;

  const Settings& settings() const { return settings_; }
  void set_settings(Settings settings) { settings_ = settings; }

  void add_group(Command_Group group);
  // For completion: what may follow these words of a line, command first.
  using Arguments = std::function<std::vector<std::string>(const std::vector<std::string_view>&)>;
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
  std::vector<std::string> complete(std::string_view line) const;

 private:
  void run_line(std::string_view line, std::ostream& out);
  void execute(std::string_view line, std::ostream& out);
  void answer(std::ostream& out);
  void fail(std::string_view text, std::string_view line, std::ostream& out);
  const Interpreter_Command& find(std::string_view name);

  Settings settings_;
  const std::function<std::string()> prompt_;
  std::vector<std::unique_ptr<const Command_Group>> groups_;
  std::map<std::string_view, const Interpreter_Command*> commands_;
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
