#ifndef JOEDB_BASE_LOG_H
#define JOEDB_BASE_LOG_H

#include <cstdint>
#include <fstream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace joedb::inline v1 {

// A named value of an event, such as the number of a session.
struct Log_Field {
  std::string_view name;
  std::variant<std::int64_t, std::string_view> value;
};

// Receives text line by line. Derive from this class to implement a kind of logger. A logger that
// is used by several threads must be thread-safe.
class Logger {
 public:
  // Logs one line, which has no end-of-line character and is valid only during the call.
  virtual void log(std::string_view line) = 0;
  // Logs an event with its data, so that a log can be searched and counted. The default
  // implementation logs one line, "EVENT NAME=VALUE ...", with texts in quotation marks, and
  // without control characters.
  virtual void event(std::string_view event, std::span<const Log_Field> fields);
  virtual ~Logger() = default;

  // Returns a logger that discards everything.
  static Logger& none();
};

// Receives errors that destructors cannot throw, such as a failed write, or changes without a
// checkpoint. There is one Destructor_Logger per process. Default: standard error, with time and
// tag, as "YYYY-MM-DD HH:MM:SS GMT joedb destructor warning: TEXT".
class Destructor_Logger {
 public:
  // `logger` must exist until it is replaced or removed. Neither this function nor remove_logger
  // may be called while another thread destroys a database.
  static void set_logger(Logger* logger) noexcept;
  // Discards all warnings from now on.
  static void remove_logger() noexcept;
  // Passes the text to the logger, in the calling thread. Ignores exceptions of the logger.
  static void warning(std::string_view text) noexcept;
};

// Receives what a writer has removed from the end of a file, and where it has saved that: an
// unfinished transaction of a killed process, for example. There is one Recovery_Logger per
// process. Default: standard error, one line without a time. Like Destructor_Logger otherwise.
class Recovery_Logger {
 public:
  static void set_logger(Logger* logger) noexcept;
  static void remove_logger() noexcept;
  static void note(std::string_view text) noexcept;
};

// ---- kinds of loggers ---------------------------------------------------------------------------

// A line is "YYYY-MM-DD HH:MM:SS GMT TAG: TEXT", without "TAG: " if the tag is empty; the time is
// that of the call. Control characters and bytes that are not UTF-8 are written as a backslash and
// three octal digits, so that a text of others can neither command a terminal nor forge a line.
// These loggers are not thread-safe.

// Writes to a stream, which must outlive the logger, and flushes the stream after each line. An
// error only sets the state of the stream.
class Stream_Logger : public Logger {
 public:
  explicit Stream_Logger(std::ostream& out, std::string tag = "")
      : out_(out), tag_(std::move(tag)) {}
  void log(std::string_view line) override;

 private:
  std::ostream& out_;
  const std::string tag_;
};

// Writes to std::clog.
class CLog_Logger : public Stream_Logger {
 public:
  explicit CLog_Logger(std::string tag = "");
};

// Appends to a text file, which is created if it does not exist. If a line cannot be written, this
// line and all later lines are lost.
class File_Logger : public Logger {
 public:
  // Throws Io_Error if the file cannot be opened.
  explicit File_Logger(const std::string& file_name, std::string tag = "");
  void log(std::string_view line) override { logger_.log(line); }

 private:
  std::ofstream out_;
  Stream_Logger logger_;
};

// Collects the lines in memory, each with an end of line, without times.
class String_Logger : public Logger {
 public:
  void log(std::string_view line) override { text_.append(line) += '\n'; }
  // Returns all lines so far.
  const std::string& get_text() const { return text_; }

 private:
  std::string text_;
};

// Forwards each line to other loggers, in the order in which they were added. The loggers must
// outlive this object. If a logger throws, the loggers after it do not get the line.
class Multi_Logger : public Logger {
 public:
  void add_logger(Logger& logger) { loggers_.push_back(&logger); }
  void log(std::string_view line) override {
    for (Logger* const logger : loggers_) logger->log(line);
  }

 private:
  std::vector<Logger*> loggers_;
};

// Writes each line to the system log (syslog) as a message of facility LOG_USER and priority
// LOG_INFO, without a timestamp of its own. Errors are not reported.
//
// Only one object may exist at a time: openlog() and closelog() are process-wide. log() is
// thread-safe.
class System_Logger : public Logger {
 public:
  // Each message begins with the tag; an empty tag means the name of the program.
  explicit System_Logger(std::string tag = "");
  ~System_Logger() override;
  void log(std::string_view line) override;

 private:
  const std::string tag_;  // openlog() keeps a pointer to it
};

}  // namespace joedb::inline v1

#endif
