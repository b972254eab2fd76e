#include "share/network/request_runner.h"

#include <cassert>
#include <memory>
#include <utility>

namespace joedb::inline v1 {

void Request_Runner::run(const Request& request) {
  process_.require_own("the connection to the server");
  if (!using_.try_lock()) {
    waits_since_ = Clock::now();
    using_.lock();
    waits_since_ = Clock::time_point::max();
  }
  const std::lock_guard lock(using_, std::adopt_lock);
  run_locked(request);
}

void Request_Runner::require_no_waiting() const {
  const Clock::time_point since = waits_since_;
  const bool is_late =
      since != Clock::time_point::max() && Clock::now() - since > std::chrono::seconds(1);
  if (must_stop_ || is_late) throw Connection_Lost("a keep-alive was not answered");
}

// While the request runs, state_ is `lost`, in case the request throws before it has read its whole
// reply.
void Request_Runner::run_locked(const Request& request) {
  if (state_ == State::lost) throw Connection_Lost(failure_);
  if (state_ == State::refused) throw Disconnection(failure_);
  last_use_ = Clock::now();
  state_ = State::lost;
  failure_ = "the connection was given up in a request";
  try {
    request();
    state_ = State::working;
  } catch (const Protocol_Error& error) {
    state_ = State::refused;
    failure_ = error.what();
    throw;
  } catch (const Disconnection&) {
    state_ = State::working;
    throw;
  } catch (const Connection_Lost& error) {
    failure_ = error.what();
    throw;
  }
}

void Request_Runner::start_pings(std::chrono::milliseconds interval, Request ping,
                                 std::function<void(const std::exception&)> report) {
  assert(!pinger_.joinable());
  if (interval <= interval.zero()) return;
  pinger_ = std::thread([this, interval, ping = std::move(ping), report = std::move(report)] {
    send_pings(interval, ping, report);
  });
}

void Request_Runner::send_pings(std::chrono::milliseconds interval, const Request& ping,
                                const std::function<void(const std::exception&)>& report) {
  std::unique_lock lock(using_);
  for (;;) {
    const auto next = last_use_ + interval;
    if (stopping_->wait_until(lock, next, [this] { return must_stop_.load(); })) return;
    if (last_use_ + interval > next) continue;  // a request used the connection
    if (state_ != State::working) return;
    try {
      run_locked(ping);
    } catch (const std::exception& error) {
      lock.unlock();
      report(error);
      return;
    }
  }
}

void Request_Runner::stop_pings() {
  if (!pinger_.joinable()) return;
  if (process_.is_inherited()) {
    // The thread exists only in the parent process, so this process cannot join it.
    keep_until_exit(std::make_shared<std::thread>(std::move(pinger_)));
    return;
  }
  must_stop_ = true;  // ends a ping that waits for its reply
  { const std::lock_guard lock(using_); }
  stopping_->notify_one();
  pinger_.join();
}

void Request_Runner::end(const Request& quit) noexcept {
  stop_pings();
  if (process_.is_inherited() || state_ == State::lost) return;
  try {
    quit();
  } catch (const std::exception&) {  // the server may be gone
  }
}

}  // namespace joedb::inline v1
