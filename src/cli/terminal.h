#ifndef JOEDB_CLI_TERMINAL_H
#define JOEDB_CLI_TERMINAL_H

#include <memory>
#include <ostream>
#include <string>

#include "cli/stop_signal.h"
#include "interpreter/display.h"
#include "interpreter/line_source.h"

namespace joedb {

// Lines typed at a terminal, with editing, a history and completion by the tab key (libedit), and
// the screen that shows the answers. While it lives, control-C does not end the program: it gives
// up the line that is being typed, or stops what is being shown. There can be one at a time.
class Terminal : public Line_Source, public Screen {
 public:
  // The history is kept in $HOME/`history`. With `has_multiline`, a string that is not closed goes
  // on on the next line.
  Terminal(std::ostream& out, const char* history, bool has_multiline);
  ~Terminal() override;

  // From now on, control-C at a prompt makes next() throw Display_Stopped: what was typed before
  // belongs to the line that is given up.
  void stop_at_interrupts() { stops_at_interrupts_ = true; }

  Size size() const override;
  void check() override;
  std::ostream& begin_page(bool has_pager) override;
  void end_page() override;

 private:
  struct Editor;
  class Page;

  std::optional<std::string_view> read_line(const std::string& prompt,
                                            const Completer& completer) override;
  enum class Got { line, interrupt, end };
  Got edit_line(const std::string& prompt, std::string& line);

  std::ostream& out_;
  const bool has_multiline_;
  bool stops_at_interrupts_ = false;
  const Interrupts interrupts_;
  std::unique_ptr<Editor> editor_;
  std::unique_ptr<Page> page_;
  std::string text_;  // what was typed last; several lines if a string has more
};

// What is shown in colour: --color, NO_COLOR and TERM say it.
enum class Colour { automatic, always, never };
bool has_colours(Colour colour);

}  // namespace joedb

#endif
