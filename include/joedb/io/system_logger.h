#ifndef JOEDB_IO_SYSTEM_LOGGER_H
#define JOEDB_IO_SYSTEM_LOGGER_H

#include <string>

#include "joedb/base/log.h"

namespace joedb::inline v1 {

// Writes to the log of the system (syslog), as information. One at a time: the tag belongs to the
// process.
class System_Logger : public Logger {
 public:
  explicit System_Logger(std::string tag = "");
  ~System_Logger() override;
  void log(std::string_view line) override;

 private:
  const std::string tag_;  // the system keeps its address
};

}  // namespace joedb::inline v1

#endif
