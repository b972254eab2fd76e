#ifndef JOEDB_NETWORK_RPC_CLIENT_H
#define JOEDB_NETWORK_RPC_CLIENT_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/network/channel.h"
#include "joedb/network/rpc_procedure.h"

namespace joedb::inline v1 {
class Request_Runner;
}

namespace joedb::inline v1::rpc {

// The procedure failed on the server. what() is the text of its exception, cut to 8183 bytes. The
// message is as it was before the call, and the client can still be used.
class Error : public Exception {
 public:
  using Exception::Exception;
};

// Base class of the generated Client, which has a function for each procedure.
//
//     joedb::Local_Channel channel("bank.sock");
//     bank::rpc::Client client(channel);
//     bank::rpc::deposit::Memory_Database message;
//     message.set_amount(100);
//     client.put(message);  // the server has changed it
//
// A call throws Error if the procedure fails; Exception if the message is larger than the limit;
// Corruption_Error if the bytes that the server appended are not valid entries: the message is then
// as it was before the call. If the channel is lost, this call and all later calls throw
// Connection_Lost, and it is unknown whether the procedure has run. If the server violates the
// protocol, this call and all later calls throw Disconnection.
//
// Thread-safe if each thread uses its own message; calls run one at a time.
class Client {
 public:
  // Performs the handshake. `channel` must outlive the client. If `keep_alive` is positive, a
  // thread sends a ping when the connection has been idle for that long. Throws Connection_Lost;
  // Disconnection if the server has other procedures or messages, or does not speak the protocol.
  Client(Channel& channel, std::vector<Signature> signatures,
         std::chrono::milliseconds keep_alive = {});
  // Tells the server that the session ends, unless the connection is lost.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::int64_t get_session_id() const { return session_; }
  // Sends a request that does nothing, and waits for the reply. Throws Connection_Lost or
  // Disconnection.
  void ping();
  // Sets the size in bytes of the largest message that is sent or accepted. The server has its own
  // limit, and closes the connection when a message exceeds it.
  void set_message_limit(Offset limit) { message_limit_ = limit; }

 protected:
  // Called by generated code. Message is a Memory_Database.
  template <class Message>
  void call(std::size_t procedure, Message& message) {
    message.soft_checkpoint();
    const auto& file = message.get_data();
    const std::string added = exchange(procedure, {file.data(), file.size()});
    if (!added.empty()) message.append_from_copy(added);
  }

 private:
  void say_hello();
  void send_ping();
  std::string exchange(std::size_t procedure, std::string_view file);
  std::string receive(std::size_t size);

  Channel& channel_;
  const std::vector<Signature> signatures_;
  Channel_Reader input_;
  std::int64_t session_ = 0;
  Offset message_limit_ = default_message_limit;
  const std::unique_ptr<Request_Runner> requests_;  // only they use channel_ and input_
};

}  // namespace joedb::inline v1::rpc

#endif
