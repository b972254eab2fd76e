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

// Repeats a request whose connection was lost, with randomized backoff. Not thread-safe.
class Retry {
 public:
  // `name` is the name of the server, for the text of errors. `settings` are settings of a
  // connection. They have `retry_time`, the limit on the time since the loss (max(): no limit);
  // `on_retry(reason)`, called by the first wait(); and `look()`, which is called about every 20 ms
  // while waiting, and may throw. The references must outlive the object.
  template <class Settings>
  Retry(std::string name, const Settings& settings, Logger& log, System& system)
      : name_(std::move(name)),
        time_(settings.retry_time),
        on_retry_(settings.on_retry),
        look_(settings.look),
        log_(log),
        system_(system),
        backoff_(std::in_place, system, reconnection_pauses) {}

  // Call this when a connection has been made. If it works for a second, the next loss restarts the
  // time limit.
  void connected() { connected_ = system_.now(); }

  // Logs `error`, then sleeps before the next attempt. After the time limit, throws Connection_Lost
  // with the text of `error`.
  void wait(const Connection_Lost& error) {
    const System::Time now = system_.now();
    if (connected_ && now - *connected_ > std::chrono::seconds(1)) {
      tries_ = 0;
      backoff_.emplace(system_, reconnection_pauses);
    }
    connected_.reset();
    if (tries_++ == 0) {
      start_ = now;
      if (time_ <= System::Duration(0)) throw Connection_Lost(error);
      if (on_retry_) on_retry_(error.what());
    }
    const System::Duration left = System::after(start_, time_) - now;
    if (left <= System::Duration(0)) give_up(error, now - start_);
    const System::Duration pause = std::min(backoff_->next(), left);
    log_.log(std::string("connection lost: ") + error.what() + "; " + trying_again(pause));
    sleep(pause);
  }

 private:
  void sleep(System::Duration pause) {
    if (!look_) return system_.sleep(pause);
    const System::Time end = System::after(system_.now(), pause);
    for (;;) {
      look_();
      const System::Duration left = end - system_.now();
      if (left <= System::Duration(0)) return;
      system_.sleep(std::min<System::Duration>(left, std::chrono::milliseconds(20)));
    }
  }
  [[noreturn]] void give_up(const Connection_Lost& error, System::Duration tried) const {
    throw Connection_Lost(name_ + ": given up after " +
                          std::to_string(std::chrono::round<std::chrono::seconds>(tried).count()) +
                          " s without a connection: " + error.what());
  }

  const std::string name_;
  const System::Duration time_;
  const std::function<void(const std::string& reason)>& on_retry_;
  const std::function<void()>& look_;
  Logger& log_;
  System& system_;
  std::optional<Backoff> backoff_;
  std::optional<System::Time> connected_;  // the last call of connected() after the last wait()
  System::Time start_ = {};
  int tries_ = 0;
};

}  // namespace joedb::inline v1

#endif
