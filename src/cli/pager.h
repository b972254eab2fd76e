#ifndef JOEDB_CLI_PAGER_H
#define JOEDB_CLI_PAGER_H

#include <cstdio>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string_view>

#include "cli/stop_signal.h"

namespace joedb {

// Whether TERM says that the terminal can do nothing but show text.
bool is_dumb_terminal();
// Whether there is a program that shows long texts page by page.
bool has_pager_program();

// The program that shows long texts: $PAGER, or less.
class Pager {
 public:
  Pager() = default;
  ~Pager() { close(); }
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  bool is_open() const { return process_ != nullptr; }
  // Returns whether it could be started.
  bool open();
  // Returns false if the user has left it.
  bool write(std::string_view text);
  // Waits until the user leaves it.
  void close() noexcept;

 private:
  std::FILE* process_ = nullptr;
};

// What a command prints: to standard output, or, if that is a terminal, through the pager, which
// shows short texts without a question. While it lives, control-C ends the output, and not the
// program, once something was printed to a pager.
class Paged_Output : private std::streambuf {
 public:
  explicit Paged_Output(bool may_page);
  ~Paged_Output() override { close(); }

  // Writing to it throws Display_Stopped (interpreter/display.h) when the user wants no more.
  std::ostream& stream() { return stream_; }
  // Waits until the user has left the pager. Throws if standard output could not take everything.
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
