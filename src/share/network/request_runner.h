#ifndef JOEDB_SRC_SHARE_NETWORK_REQUEST_RUNNER_H
#define JOEDB_SRC_SHARE_NETWORK_REQUEST_RUNNER_H

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// Thrown if a reply violates the protocol. Later bytes of the connection cannot be interpreted.
class Protocol_Error final : public Disconnection {
 public:
  using Disconnection::Disconnection;
};

// Runs the requests of one connection to a server, one at a time, and sends pings while the
// connection is idle.
//
// A request sends bytes, and reads the reply. The connection stays usable if the request returns,
// or throws a Disconnection that is not a Protocol_Error; it must have read the whole reply then.
// After a Protocol_Error, all later requests throw Disconnection with the same text. After any
// other exception, they throw Connection_Lost, because the rest of the reply may still arrive.
//
// Thread-safe, except end() and the destructor. A request must not run another request. In a child
// process (joedb/base/threads.h), requests throw Inherited_Object, and nothing is sent.
class Request_Runner {
 public:
  using Request = std::function<void()>;

  Request_Runner() = default;
  // Stops the pings. If a ping is being sent, waits for it.
  ~Request_Runner() { stop_pings(); }
  Request_Runner(const Request_Runner&) = delete;
  Request_Runner& operator=(const Request_Runner&) = delete;

  void run(const Request& request);
  // Starts a thread that runs `ping` as a request whenever the last request began `interval` ago.
  // If `interval` is 0 or less, does nothing. If a ping fails, the thread calls `report`, without
  // holding a lock. The thread ends after a failed ping, and when the connection is no longer
  // usable. Call this once.
  void start_pings(std::chrono::milliseconds interval, Request ping,
                   std::function<void(const std::exception&)> report);
  // Stops the pings. Then calls `quit` unless the connection is lost, and ignores its exceptions.
  // There must be no later requests.
  void end(const Request& quit) noexcept;

  bool is_lost() const {
    const std::lock_guard lock(using_);
    return state_ == State::lost;
  }
  bool is_inherited() const { return process_.is_inherited(); }

  // Pass this as Patience::look of a ping. Throws Connection_Lost if the pings must stop, or if a
  // request has been waiting for a second because the reply to this ping has not arrived.
  void require_no_waiting() const;

 private:
  enum class State { working, refused, lost };
  using Clock = std::chrono::steady_clock;

  void run_locked(const Request& request);
  void send_pings(std::chrono::milliseconds interval, const Request& ping,
                  const std::function<void(const std::exception&)>& report);
  void stop_pings();

  mutable std::mutex using_;  // guards the connection and the members up to last_use_
  State state_ = State::working;
  std::string failure_;
  Clock::time_point last_use_;
  std::atomic<bool> must_stop_ = false;
  // The time since which a request has been waiting for using_; max() if none waits.
  std::atomic<Clock::time_point> waits_since_ = Clock::time_point::max();
  Condition stopping_;
  std::thread pinger_;
  const Process_Mark process_;
};

}  // namespace joedb::inline v1

#endif
