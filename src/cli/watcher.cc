#include "cli/watcher.h"

#include <exception>
#include <memory>

#include "io/file_watch.h"
#include "joedb/network/server_connection.h"

namespace joedb {

// So long, the end has to wait.
static constexpr std::chrono::milliseconds longest_wait{500};

Watcher::Watcher(const std::string& path, Logger& log, Notify notify)
    : log_(log), notify_(std::move(notify)), thread_([this, path] { watch_file(path); }) {}

Watcher::Watcher(Connector& connector, Logger& log, Notify notify)
    : log_(log), notify_(std::move(notify)), thread_([&] { watch_server(connector); }) {}

Watcher::~Watcher() {
  is_stopping_ = true;
  thread_.join();
}

void Watcher::watch_file(const std::string& path) {
  try {
    File_Watch file(path);
    while (!is_stopping_) {
      file.wait(longest_wait);
      notify_();
    }
  } catch (const std::exception& error) {
    log_.log(error.what());
  }
}

void Watcher::watch_server(Connector& connector) {
  while (!is_stopping_) {
    try {
      const std::unique_ptr<Channel> channel = connector.new_channel();
      Server_Connection connection(*channel);
      notify_();
      while (!is_stopping_) {
        const Offset known = connection.get_checkpoint();
        connection.pull_checkpoint({known, longest_wait});
        if (connection.get_checkpoint() != known) notify_();
      }
    } catch (const std::exception& error) {
      log_.log(std::string("waiting for the server of the connection: ") + error.what());
      std::this_thread::sleep_for(longest_wait);
    }
  }
}

}  // namespace joedb
