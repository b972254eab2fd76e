#ifndef JOEDB_SRC_SHARE_SERVER_REFUSAL_LOG_H
#define JOEDB_SRC_SHARE_SERVER_REFUSAL_LOG_H

#include <cstdint>
#include <string>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"

namespace joedb::server {

// Logs the connections that a server refuses. To keep strangers from filling the disk, it logs at
// most ten at once, and then one per second; the others are only counted. Not thread-safe.
class Refusal_Log {
 public:
  // `log` and `system` must outlive this object.
  Refusal_Log(Logger& log, System& system) : log_(log), system_(system), time_(system.now()) {}

  // `address`, and `client` (the name that the client has sent), may be empty.
  void add(const std::string& address, const std::string& client, const std::string& why);

 private:
  static constexpr std::int64_t most = 10;

  Logger& log_;
  System& system_;
  System::Time time_;          // the time at which lines_ was updated
  std::int64_t lines_ = most;  // the number of lines that may be logged now
  std::int64_t unlogged_ = 0;  // refusals since the last logged line
};

}  // namespace joedb::server

#endif
