#ifndef JOEDB_SRC_SHARE_CLUSTER_NATS_CLIENT_H
#define JOEDB_SRC_SHARE_CLUSTER_NATS_CLIENT_H

#include <nats/nats.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/cluster/nats_connection.h"
#include "kernel/base/backoff.h"

namespace joedb::inline v1 {

// A deleter that calls a function of the C library.
template <class T, void (*destroy)(T*)>
struct Nats_Deleter {
  void operator()(T* object) const { destroy(object); }
};
template <class T, void (*destroy)(T*)>
using Nats_Pointer = std::unique_ptr<T, Nats_Deleter<T, destroy>>;
using Nats_Message = Nats_Pointer<natsMsg, natsMsg_Destroy>;
// Destroy a Nats_Subscription only by Nats_Client::end.
using Nats_Subscription = Nats_Pointer<natsSubscription, natsSubscription_Destroy>;

std::string_view nats_data(const natsMsg& message);
// Returns an empty string if there is no such header.
std::string nats_header(natsMsg& message, const char* key);

// A connection to a cluster of NATS servers. When the connection is lost, the NATS library
// reconnects by itself. The thread that makes the next request logs the events of the connection.
class Nats_Client {
 public:
  using Headers = std::vector<std::pair<const char*, std::string>>;

  // Throws Connection_Lost if no server can be reached, and Disconnection if a server refuses the
  // connection.
  Nats_Client(const Nats_Address& address, const Nats_Settings& settings, Logger& logger);
  ~Nats_Client();
  Nats_Client(const Nats_Client&) = delete;
  Nats_Client& operator=(const Nats_Client&) = delete;

  const Nats_Address& address() const { return address_; }
  const Nats_Settings& settings() const { return settings_; }
  const std::string& name() const { return name_; }

  // Sends a request and returns the reply. Throws Connection_Lost if the reply does not arrive
  // within `time`, which is answer_time if it is zero.
  Nats_Message request(const std::string& subject, std::string_view body,
                       const Headers& headers = {}, System::Duration time = {});
  // Publishes a message without waiting for a reply. The message may be sent after this returns.
  void publish(const std::string& subject, std::string_view body, const Headers& headers);

  // Ends a subscription, even while messages arrive. The receiving thread of the NATS library may
  // still use the subscription, which the library does not check. Therefore the subscription is
  // destroyed later, after this thread has finished with it.
  void end(Nats_Subscription subscription);

  // Returns the JetStream context. Its requests time out after answer_time. Throws Connection_Lost
  // while there is no connection. If a function throws Connection_Lost, the reference is valid only
  // until the next call of this client.
  jsCtx& jetstream();
  // A number that changes when a permanently closed connection was replaced by a new one. Objects
  // made with the old connection must then be destroyed.
  int generation() const { return generation_; }
  // The number of times that the connection was restored.
  std::int64_t reconnections() const;

  // Returns the maximum size in bytes of a message with its headers.
  std::int64_t max_payload();
  // Returns the HOST:PORT of each known server; the server of this connection is first.
  std::vector<std::string> servers();
  // Sends a request to the server at HOST:PORT, and returns its reply. Returns nullopt if the
  // server cannot be reached, or does not reply.
  std::optional<Nats_Message> request_from(const std::string& server, const std::string& subject,
                                           std::string_view body);

  // Throws the exception for `status`, the result of the last call.
  [[noreturn]] void fail(natsStatus status, std::string_view action) const;

 private:
  class Connection;

  void check(natsStatus status, std::string_view action) const;
  void connect();
  natsConnection* connected();
  void log_events();
  std::string take_refusal();
  Nats_Message request_on(natsConnection* connection, const std::string& subject,
                          std::string_view body, const Headers& headers, System::Duration time,
                          natsStatus& status) const;

  const Nats_Address address_;
  const Nats_Settings settings_;
  Logger& logger_;
  const std::string name_;
  std::unique_ptr<Connection> connection_;
  int generation_ = 0;
  // Connections to single servers.
  std::vector<std::pair<std::string, std::unique_ptr<Connection>>> others_;
};

// Calls f(), and repeats it after Connection_Lost for up to `time`. The election of a leader takes
// about 10 s.
template <class F>
auto retry_for(System::Duration time, F f,
               System::Duration pause = std::chrono::milliseconds(100)) {
  Backoff backoff(System::real(), {pause}, time);
  while (true) {
    try {
      return f();
    } catch (const Connection_Lost&) {
      if (!backoff.wait()) throw;
    }
  }
}

}  // namespace joedb::inline v1

#endif
