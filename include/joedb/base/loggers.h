#ifndef JOEDB_BASE_LOGGERS_H
#define JOEDB_BASE_LOGGERS_H

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "joedb/base/log.h"

// Kinds of loggers. A line is "YYYY-MM-DD HH:MM:SS GMT TAG: TEXT", without "TAG: " if the tag is
// empty; the time is that of the call. They are not thread-safe.

namespace joedb::inline v1 {

// Writes to a stream, which must outlive the logger, and flushes it after each line. An error only
// sets the state of the stream.
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

// Appends to a text file, which is created if it does not exist. If a line cannot be written, it
// and all later lines are lost.
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

// Forwards each line to other loggers, in the order in which they were added. They must outlive
// this object. If one throws, the loggers after it do not get the line.
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
