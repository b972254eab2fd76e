#ifndef JOEDB_CLI_TERMINAL_H
#define JOEDB_CLI_TERMINAL_H

#include <memory>
#include <ostream>
#include <string>

#include "interpreter/line_source.h"

namespace joedb {

// Lines typed at a terminal, with editing, a history and completion by the tab key (libedit). There
// can be one at a time.
class Terminal : public Line_Source {
 public:
  // The history is kept in $HOME/`history`.
  Terminal(std::ostream& out, const char* history);
  ~Terminal() override;

 private:
  struct Editor;

  std::optional<std::string_view> read_line(const std::string& prompt,
                                            const Completer& completer) override;

  std::ostream& out_;
  std::unique_ptr<Editor> editor_;
};

}  // namespace joedb

#endif
