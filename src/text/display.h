#ifndef JOEDB_SRC_TEXT_DISPLAY_H
#define JOEDB_SRC_TEXT_DISPLAY_H

#include <cstddef>
#include <ostream>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/schema/type.h"

// Settings of commands that print to a screen, and the interface of the screen.

namespace joedb::inline v1 {

// Thrown if the user stops the output of a command. The message is for the user, and may be empty.
class Display_Stopped : public Exception {
 public:
  using Exception::Exception;
};

// A terminal. The user may interrupt the output. Used by one thread.
class Screen {
 public:
  virtual ~Screen() = default;

  struct Size {
    std::size_t width;
    std::size_t height;
  };
  virtual Size size() const = 0;

  // Throws Display_Stopped if the user has interrupted the current command. Commands with output
  // must call this every few milliseconds, even before they print anything.
  virtual void check() = 0;

  // Begins the output of a command. Writing to the returned stream throws the exceptions of
  // check(). With `has_pager`, output that is longer than the screen is shown in the user's pager.
  virtual std::ostream& begin_page(bool has_pager) = 0;
  // Ends the output. Waits until the user leaves the pager.
  virtual void end_page() = 0;
};

struct Display {
  Screen* screen = nullptr;  // null: the output is not on a terminal
  bool has_colours = false;
  bool has_reference_names = false;  // references are shown with the name of the record
  bool has_pager = false;
  index_t limit = 0;  // number of records to show of each table; 0: all

  void check() const {
    if (screen != nullptr) screen->check();
  }
};

// Escape sequences of a terminal.
namespace colour {
inline constexpr std::string_view heading = "\x1b[1m";
inline constexpr std::string_view dim = "\x1b[2m";
inline constexpr std::string_view error = "\x1b[1;31m";
inline constexpr std::string_view position = "\x1b[33m";  // in a journal
inline constexpr std::string_view inserted = "\x1b[32m";
inline constexpr std::string_view updated = "\x1b[36m";
inline constexpr std::string_view deleted = "\x1b[31m";
inline constexpr std::string_view end = "\x1b[0m";
}  // namespace colour

}  // namespace joedb::inline v1

#endif
