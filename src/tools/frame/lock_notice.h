#ifndef JOEDB_SRC_TOOLS_FRAME_LOCK_NOTICE_H
#define JOEDB_SRC_TOOLS_FRAME_LOCK_NOTICE_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "joedb/base/threads.h"
#include "joedb/network/channel.h"
#include "tools/frame/parser.h"

namespace joedb {

// --busy_timeout: how long the tool waits for a lock of a file (File). busy_timeout() is its value,
// 5 seconds by default; with --classic, there is no limit. Process-wide, like --classic.
void add_busy_option(Options& options);
System::Duration busy_timeout();
// Returns true if the tool has this option.
bool has_busy_option();

// From now on, a wait for a lock of a file that takes longer than a second prints the holder on
// standard error, and control-C ends each wait, also while a Stop_Signal or an Interrupts exists:
// then it throws Interrupted.
void announce_lock_waits();

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
