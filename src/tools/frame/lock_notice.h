#ifndef JOEDB_SRC_TOOLS_FRAME_LOCK_NOTICE_H
#define JOEDB_SRC_TOOLS_FRAME_LOCK_NOTICE_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "joedb/network/channel.h"

namespace joedb {

// Sends `word` to a server instead of a hello (share/network/protocol.h). Returns the answer, bytes
// of the server; empty if there is none.
std::string ask_server(Connector& connector, std::string_view word);

// Prints the holder of a server's lock on standard error if a tool waits for the lock longer than a
// second. The wait begins with the constructor and ends with the destructor.
class Lock_Notice {
 public:
  // If `connector` is null, does nothing. It must outlive this object.
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
