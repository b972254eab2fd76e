#ifndef JOEDB_BASE_LOG_H
#define JOEDB_BASE_LOG_H

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace joedb::inline v1 {

// A named value of an event, such as the number of a session.
struct Log_Field {
  std::string_view name;
  std::variant<std::int64_t, std::string_view> value;
};

// Receives text line by line. Derive from this to implement a kind of logger; base/loggers.h has
// the usual ones. A logger that is used by several threads must be thread-safe.
class Logger {
 public:
  // Logs one line, which has no end-of-line character and is valid only during the call.
  virtual void log(std::string_view line) = 0;
  // Logs an event with its data, so that a log can be searched and counted. The default
  // implementation logs one line, "EVENT NAME=VALUE ...", with texts in quotation marks.
  virtual void event(std::string_view event, std::span<const Log_Field> fields);
  virtual ~Logger() = default;

  // Returns a logger that discards everything.
  static Logger& none();
};

// Receives errors that destructors cannot throw, such as a failed write, or changes without a
// checkpoint. There is one per process. Default: standard error, with time and tag, as "YYYY-MM-DD
// HH:MM:SS GMT joedb destructor warning: TEXT".
class Destructor_Logger {
 public:
  // The logger must outlive its use. Neither this function nor remove_logger may be called while
  // another thread destroys a database.
  static void set_logger(Logger* logger) noexcept;
  // Discards all warnings from now on.
  static void remove_logger() noexcept;
  // Passes the text to the logger, in the calling thread. Ignores exceptions of the logger.
  static void warning(std::string_view text) noexcept;
};

}  // namespace joedb::inline v1

#endif
