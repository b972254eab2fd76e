#include "tools/share/watcher.h"

#include <exception>

#include "kernel/io/file_watch.h"
#include "share/server/watch_server.h"

namespace joedb {

// Limits on the delay of the destructor.
static constexpr std::chrono::milliseconds max_watch_time{500};
static constexpr std::chrono::milliseconds max_file_watch_time{150};

Watcher::Watcher(const std::string& path, Logger& log, Notify notify)
    : log_(log), notify_(std::move(notify)), thread_([this, path] { watch_file(path); }) {}

Watcher::Watcher(Connector& connector, Logger& log, Notify notify)
    : log_(log), notify_(std::move(notify)), thread_([&] { watch_server(connector); }) {}

Watcher::Watcher(const Nats_Argument& argument, Logger& log, Notify notify)
    : log_(log), notify_(std::move(notify)), thread_([&] { watch_log(argument); }) {}

Watcher::~Watcher() {
  is_stopping_ = true;
  thread_.join();
}

void Watcher::watch_file(const std::string& path) {
  try {
    File_Watch file(path);
    while (!is_stopping_) {
      file.wait(max_file_watch_time);
      notify_();
    }
  } catch (const std::exception& error) {
    log_.log(error.what());
  }
}

void Watcher::watch_server(Connector& connector) {
  server::watch_server(connector, log_, System::real(), notify_, [this] { return !is_stopping_; });
}

// Watches a log. Reopens it after an error.
void Watcher::watch_log(const Nats_Argument& argument) {
  while (!is_stopping_) {
    try {
      const auto log = open_log(argument, log_);
      Replicated_Log::Number last = log->range().last;
      notify_();
      while (!is_stopping_) {
        if (!log->read(last + 1, max_watch_time)) continue;
        ++last;
        notify_();
      }
    } catch (const std::exception& error) {
      log_.log(std::string("waiting for the log of the connection: ") + error.what());
      System::real().sleep(max_watch_time);
    }
  }
}

}  // namespace joedb
