#ifndef JOEDB_SRC_TOOLS_FRAME_PAGER_H
#define JOEDB_SRC_TOOLS_FRAME_PAGER_H

#include <cstdio>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "tools/frame/stop_signal.h"

namespace joedb {

// Returns true if TERM is unset, empty or "dumb". The terminal can then only show text.
bool is_dumb_terminal();
// Returns true if a pager can be used: its program exists, and the terminal is not dumb.
bool has_pager_program();

// Returns true if the shell finds a program of this name.
bool is_program(const std::string& name);

// Runs the user's pager: $PAGER, or less; or another program that shows a text.
class Pager {
 public:
  Pager() = default;
  ~Pager() { close(); }
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  bool is_open() const { return process_ != nullptr; }
  // Starts the pager. Returns true on success.
  bool open();
  bool open(const char* command);
  // Returns false if the user has quit the pager.
  bool write(std::string_view text);
  // Waits until the user quits the pager. Does nothing if it is not open.
  void close() noexcept;

 private:
  std::FILE* process_ = nullptr;
};

// A stream to standard output or, if `may_page`, to the pager. less is configured to exit by itself
// after a short text. After something was printed to a pager, and until this object is closed,
// control-C ends the output, and not the program.
class Paged_Output : private std::streambuf {
 public:
  explicit Paged_Output(bool may_page);
  ~Paged_Output() override { close(); }

  // Writes to the stream throw Display_Stopped (text/display.h) after the user quits the
  // pager or types control-C.
  std::ostream& stream() { return stream_; }
  // Waits until the user has quit the pager. Throws Exception if some output could not be written.
  void finish();

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type c) override;
  int sync() override;
  void close() noexcept;

  const bool may_page_;
  std::ostream stream_;
  bool is_open_ = false;
  Pager pager_;
  std::unique_ptr<Interrupts> interrupts_;
};

}  // namespace joedb

#endif
