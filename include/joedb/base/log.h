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

// Receives lines of text. Derive from this class to implement a new kind of logger. A logger that
// several threads use must be thread-safe.
class Logger {
 public:
  // Logs one line, which has no end-of-line character and is valid only during the call.
  virtual void log(std::string_view line) = 0;
  // Logs an event with its data, so that programs can search a log and count its events. The
  // default implementation logs one line, "EVENT NAME=VALUE ...". Values that are texts are in
  // quotation marks, without control characters.
  virtual void event(std::string_view event, std::span<const Log_Field> fields);
  virtual ~Logger() = default;

  // Returns a logger that discards everything.
  static Logger& none();
};

// Receives problems that destructors cannot report by exceptions, such as a failed write, or
// entries without a checkpoint. There is one Destructor_Logger per process. By default, it writes
// to standard error: "YYYY-MM-DD HH:MM:SS +HHMM joedb destructor warning: TEXT".
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

// Receives a text when a writer has removed bytes from the end of a file, such as an unfinished
// transaction of a killed process. The text says how many bytes were removed, and where they were
// saved. There is one Recovery_Logger per process. By default, it writes one line, without a time,
// to standard error. The functions are those of Destructor_Logger.
class Recovery_Logger {
 public:
  static void set_logger(Logger* logger) noexcept;
  static void remove_logger() noexcept;
  static void note(std::string_view text) noexcept;
};

// ---- kinds of loggers ---------------------------------------------------------------------------

// Stream_Logger, CLog_Logger and File_Logger write lines "YYYY-MM-DD HH:MM:SS +HHMM TAG: TEXT" with
// the time of the call; "TAG: " is absent if the tag is empty. Control characters and bytes that
// are not UTF-8 are written as a backslash and three octal digits, so that an untrusted text can
// neither control a terminal nor forge a line. These loggers are not thread-safe.

// Writes to a stream, which must outlive the logger, and flushes the stream after each line. Errors
// are not reported: they only set the state of the stream.
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

// Collects the lines in memory. Each line ends with "\n"; no time is added.
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
