#ifndef JOEDB_SRC_TOOLS_FRAME_TERMINAL_H
#define JOEDB_SRC_TOOLS_FRAME_TERMINAL_H

#include <memory>
#include <ostream>
#include <string>

#include "commands/line_source.h"
#include "text/display.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

// A terminal: input lines with editing, history, and completion by the tab key (libedit), and a
// screen for the answers. While it exists, control-C does not end the program: it discards the line
// being typed, or stops the output. Only one object may exist at a time.
class Terminal : public Line_Source, public Screen {
 public:
  // The history is stored in $HOME/`history`. If `has_multiline`, a line with an unclosed string
  // continues on the next line.
  Terminal(std::ostream& out, const char* history, bool has_multiline);
  ~Terminal() override;

  // Makes next() throw Display_Stopped, from now on, if control-C is typed at a prompt. The caller
  // can then discard the earlier lines of an unfinished statement.
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
  std::string text_;  // the last input, which has several lines if it has a multi-line string
};

// Returns true if output is to be coloured, according to --color, NO_COLOR and TERM.
enum class Colour { automatic, always, never };
bool has_colours(Colour colour);

}  // namespace joedb

#endif
