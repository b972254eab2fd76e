#ifndef JOEDB_SRC_SHARE_SERVER_REFUSAL_LOG_H
#define JOEDB_SRC_SHARE_SERVER_REFUSAL_LOG_H

#include <cstdint>
#include <string>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"

namespace joedb::server {

// Logs the connections that a server refuses: ten at once, and later one a second, so that
// strangers cannot fill the disk. The others are counted. Not thread-safe.
class Refusal_Log {
 public:
  // Both must outlive this object.
  Refusal_Log(Logger& log, System& system) : log_(log), system_(system), time_(system.now()) {}

  // `address` and `client`, the name that was given, may be empty.
  void add(const std::string& address, const std::string& client, const std::string& why);

 private:
  static constexpr std::int64_t most = 10;

  Logger& log_;
  System& system_;
  System::Time time_;          // when lines_ was counted
  std::int64_t lines_ = most;  // that may be logged at once
  std::int64_t unlogged_ = 0;  // since the last line
};

}  // namespace joedb::server

#endif
