#ifndef JOEDB_BASE_LOG_H
#define JOEDB_BASE_LOG_H

#include <string_view>

namespace joedb::inline v1 {

// Receives one line of text, without its end.
class Logger {
 public:
  virtual void log(std::string_view line) = 0;
  virtual ~Logger() = default;
};

// Where destructors report what they cannot throw. By default: standard error, with time and tag,
// as "YYYY-MM-DD HH:MM:SS GMT joedb destructor warning: TEXT".
class Destructor_Logger {
 public:
  // The logger must outlive its use. Not to be called while another thread destroys a database.
  static void set_logger(Logger* logger) noexcept;
  // No warnings any more.
  static void remove_logger() noexcept;
  static void warning(std::string_view text) noexcept;
};

}  // namespace joedb::inline v1

#endif
