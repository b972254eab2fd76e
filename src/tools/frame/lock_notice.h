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

// The option --busy-timeout: how long the tool waits for the lock of a file. busy_timeout() returns
// its value: by default, 5 seconds; with --classic, no limit. Process-wide, like --classic.
void add_busy_option(Options& options);
System::Duration busy_timeout();
// Returns true if the tool has this option.
bool has_busy_option();

// Sets up waits for locks of files, for the rest of the process. If a wait takes longer than a
// second, prints the holder of the lock on standard error. Control-C ends the wait; if there is a
// Stop_Signal or an Interrupts, the wait then throws Interrupted.
void announce_lock_waits();

// Sends `word` to a server instead of a hello (share/network/protocol.h). Returns the reply, which
// may have any bytes; empty if there is none.
std::string ask_server(Connector& connector, std::string_view word);

// If a tool waits for the lock of a server for longer than a second, prints its holder on standard
// error. The wait begins with the constructor, and ends with the destructor.
class Lock_Notice {
 public:
  // If `connector` is null, this object does nothing. Otherwise, `connector` must outlive it.
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
