#ifndef JOEDB_BASE_LOG_H
#define JOEDB_BASE_LOG_H

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace joedb::inline v1 {

// What belongs to an event: such as the number of a session.
struct Log_Field {
  std::string_view name;
  std::variant<std::int64_t, std::string_view> value;
};

// Receives text line by line. Derive from this for a kind of your own; base/loggers.h has the usual
// ones. A logger that several threads use must be thread-safe itself.
class Logger {
 public:
  // One line, without an end of line. It is valid during the call.
  virtual void log(std::string_view line) = 0;
  // Something that has happened, with its data, for those who search a log or count in it. By
  // default: one line, "EVENT NAME=VALUE ...", with texts in quotation marks.
  virtual void event(std::string_view event, std::span<const Log_Field> fields);
  virtual ~Logger() = default;

  // Drops what it is given.
  static Logger& none();
};

// Where destructors report what they cannot throw, such as a file that cannot be written, or
// changes without a checkpoint. There is one for the process. By default: standard error, with time
// and tag, as "YYYY-MM-DD HH:MM:SS GMT joedb destructor warning: TEXT".
class Destructor_Logger {
 public:
  // The logger must outlive its use. Neither this nor remove_logger may be called while another
  // thread destroys a database.
  static void set_logger(Logger* logger) noexcept;
  // Drops all warnings from here on.
  static void remove_logger() noexcept;
  // Passes the text to the logger, in the calling thread. What the logger throws is ignored.
  static void warning(std::string_view text) noexcept;
};

}  // namespace joedb::inline v1

#endif
