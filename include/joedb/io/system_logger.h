#ifndef JOEDB_IO_SYSTEM_LOGGER_H
#define JOEDB_IO_SYSTEM_LOGGER_H

#include <string>

#include "joedb/base/log.h"

namespace joedb::inline v1 {

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
