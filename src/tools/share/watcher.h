#ifndef JOEDB_SRC_TOOLS_SHARE_WATCHER_H
#define JOEDB_SRC_TOOLS_SHARE_WATCHER_H

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "joedb/base/log.h"
#include "joedb/network/channel.h"
#include "tools/frame/nats_arguments.h"

namespace joedb {

// Calls a function, in a separate thread, when other writers have written to a file, a server, or a
// replicated log. The function may also be called without a change. The destructor returns within
// half a second, unless it must wait for the reply of a server that hangs.
class Watcher {
 public:
  using Notify = std::function<void()>;
  // The references must outlive this object.
  Watcher(const std::string& path, Logger& log, Notify notify);
  Watcher(Connector& connector, Logger& log, Notify notify);
  // Watches a replicated log.
  Watcher(const Nats_Argument& argument, Logger& log, Notify notify);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  void watch_file(const std::string& path);
  void watch_server(Connector& connector);
  void watch_log(const Nats_Argument& argument);

  Logger& log_;
  const Notify notify_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace joedb

#endif
