#ifndef JOEDB_SRC_SHARE_REPLICA_RETRY_H
#define JOEDB_SRC_SHARE_REPLICA_RETRY_H

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "kernel/base/backoff.h"

namespace joedb::inline v1 {

// The repetitions of one request whose connection was lost, with randomized backoff. Not
// thread-safe.
class Retry {
 public:
  struct Settings {
    std::string name;       // of the server, for the error
    System::Duration time;  // begins with a loss; max(): no limit
    std::function<void(const std::string& reason)> on_retry = {};  // called by the first wait()
    std::function<void()> look = {};  // called about every 20 ms; may throw
  };

  // `log` and `system` must outlive the object.
  Retry(Settings settings, Logger& log, System& system)
      : settings_(std::move(settings)),
        log_(log),
        system_(system),
        backoff_(std::in_place, system, reconnection_pauses) {}

  // Call this when the connection works. After it has worked for a second, its next loss begins
  // the time anew.
  void connected() { connected_ = system_.now(); }

  // Logs `error`, and sleeps. If the time is over, throws Connection_Lost with the text of `error`.
  void wait(const Connection_Lost& error) {
    const System::Time now = system_.now();
    if (connected_ && now - *connected_ > std::chrono::seconds(1)) {
      tries_ = 0;
      backoff_.emplace(system_, reconnection_pauses);
    }
    connected_.reset();
    if (tries_++ == 0) {
      start_ = now;
      if (settings_.time <= System::Duration(0)) throw Connection_Lost(error);
      if (settings_.on_retry) settings_.on_retry(error.what());
    }
    const System::Duration left = System::after(start_, settings_.time) - now;
    if (left <= System::Duration(0)) give_up(error, now - start_);
    const System::Duration pause = std::min(backoff_->next(), left);
    log_.log(std::string("connection lost: ") + error.what() + "; " + trying_again(pause));
    sleep(pause);
  }

 private:
  void sleep(System::Duration pause) {
    if (!settings_.look) return system_.sleep(pause);
    const System::Time end = System::after(system_.now(), pause);
    for (;;) {
      settings_.look();
      const System::Duration left = end - system_.now();
      if (left <= System::Duration(0)) return;
      system_.sleep(std::min<System::Duration>(left, std::chrono::milliseconds(20)));
    }
  }
  [[noreturn]] void give_up(const Connection_Lost& error, System::Duration tried) const {
    throw Connection_Lost(settings_.name + ": given up after " +
                          std::to_string(std::chrono::round<std::chrono::seconds>(tried).count()) +
                          " s without a connection: " + error.what());
  }

  const Settings settings_;
  Logger& log_;
  System& system_;
  std::optional<Backoff> backoff_;
  std::optional<System::Time> connected_;  // since the last wait()
  System::Time start_ = {};
  int tries_ = 0;
};

}  // namespace joedb::inline v1

#endif
