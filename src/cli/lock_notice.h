#ifndef JOEDB_CLI_LOCK_NOTICE_H
#define JOEDB_CLI_LOCK_NOTICE_H

#include <condition_variable>
#include <mutex>
#include <thread>

#include "joedb/network/channel.h"

namespace joedb {

// While a tool waits for the lock of a server: says on standard error, after a second, who has it.
class Lock_Notice {
 public:
  // Null: nothing happens. The connector must outlive this.
  explicit Lock_Notice(Connector* connector);
  ~Lock_Notice();
  Lock_Notice(const Lock_Notice&) = delete;
  Lock_Notice& operator=(const Lock_Notice&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ending_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace joedb

#endif
