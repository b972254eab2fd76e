#ifndef JOEDB_IO_SYSTEM_LOGGER_H
#define JOEDB_IO_SYSTEM_LOGGER_H

#include <string>

#include "joedb/base/log.h"

namespace joedb::inline v1 {

// Writes to the log of the system (syslog), each line as a message of facility LOG_USER and
// priority LOG_INFO, without a time of its own. Errors are not reported.
//
// One object at a time: openlog() and closelog() are for the process. log() may be called by
// several threads.
class System_Logger : public Logger {
 public:
  // The tag begins each message; an empty one means the name of the program.
  explicit System_Logger(std::string tag = "");
  ~System_Logger() override;
  void log(std::string_view line) override;

 private:
  const std::string tag_;  // the system keeps its address
};

}  // namespace joedb::inline v1

#endif
