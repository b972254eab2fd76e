#ifndef JOEDB_BASE_LOGGERS_H
#define JOEDB_BASE_LOGGERS_H

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "joedb/base/log.h"

// Kinds of loggers. A line is "YYYY-MM-DD HH:MM:SS GMT TAG: TEXT", without "TAG: " if the tag is
// empty. Not thread-safe.

namespace joedb::inline v1 {

// Writes to a stream, which must outlive the logger, and flushes it.
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

// Appends to a text file. What cannot be written is lost.
class File_Logger : public Logger {
 public:
  // Throws Io_Error if the file cannot be opened.
  explicit File_Logger(const std::string& file_name, std::string tag = "");
  void log(std::string_view line) override { logger_.log(line); }

 private:
  std::ofstream out_;
  Stream_Logger logger_;
};

// Keeps the lines, each with an end of line, and without times.
class String_Logger : public Logger {
 public:
  void log(std::string_view line) override { text_.append(line) += '\n'; }
  const std::string& get_text() const { return text_; }

 private:
  std::string text_;
};

// Passes each line on to other loggers, which must outlive it.
class Multi_Logger : public Logger {
 public:
  void add_logger(Logger& logger) { loggers_.push_back(&logger); }
  void log(std::string_view line) override {
    for (Logger* const logger : loggers_) logger->log(line);
  }

 private:
  std::vector<Logger*> loggers_;
};

}  // namespace joedb::inline v1

#endif
