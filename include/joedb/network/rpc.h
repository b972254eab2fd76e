#ifndef JOEDB_NETWORK_RPC_H
#define JOEDB_NETWORK_RPC_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/network/channel.h"

namespace joedb::inline v1 {
class Request_Runner;
}

// Remote procedure calls. joedbc generates the code that uses this header (docs/rpc.md).

namespace joedb::inline v1::rpc {

// Default limit on the size of a message in bytes: the size of its file up to the checkpoint,
// including the prolog.
inline constexpr Offset default_message_limit = Offset{1} << 26;

// Describes a procedure. Client and server compare a hash of all signatures.
struct Signature {
  std::string name;
  std::string prolog;  // the bytes of the file of an empty message
};

// Makes a message by appending `received`, the bytes that a client has sent, to an empty message.
// Runs the procedure, and returns the bytes that the procedure has appended to the message. Throws
// the exceptions of the procedure, and Exception if `received` is not a sequence of whole, valid
// entries.
using Procedure = std::function<std::string(std::string_view received)>;

// Called by generated code. Message is a Memory_Database.
template <class Message>
Signature make_signature(std::string name) {
  const Message message;
  return {std::move(name), {message.get_data().begin(), message.get_data().end()}};
}

// Called by generated code. f(message) runs the procedure.
template <class Message, class F>
Procedure make_procedure(F f) {
  return [f](std::string_view received) {
    Message message;
    try {
      message.append_from_copy(received);
    } catch (const Exception& error) {
      throw Exception(std::string("invalid message: ") + error.what());
    }
    const std::size_t end = message.get_data().size();
    f(message);
    message.soft_checkpoint();
    return std::string(message.get_data().data() + end, message.get_data().size() - end);
  };
}

// ---- client -------------------------------------------------------------------------------------

// Thrown if the procedure has failed on the server. what() is the text of the exception of the
// procedure, truncated to 8183 bytes; control characters other than ends of lines, and bytes that
// are not UTF-8, are written as a backslash and three octal digits. The message is unchanged, and
// the client can still be used.
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
//     client.put(message);  // the server has changed the message
//
// A call throws Error if the procedure fails, Exception if the message is larger than the limit,
// and Corruption_Error if the server has appended bytes that are not valid entries; the message is
// unchanged then. If the channel is lost, this call and all later calls throw Connection_Lost, and
// it is unknown whether the procedure has run. If the server violates the protocol, this call and
// all later calls throw Disconnection.
//
// Thread-safe if each thread uses its own message; calls run one at a time.
class Client {
 public:
  // Performs the handshake. `channel` must outlive the client. If `keep_alive` is positive, a
  // thread sends a ping when the connection has been idle for that long. Throws Connection_Lost,
  // and Disconnection if the server has other procedures or messages, or does not speak the
  // protocol.
  Client(Channel& channel, std::vector<Signature> signatures,
         std::chrono::milliseconds keep_alive = {});
  // Tells the server that the session ends, unless the connection is lost.
  virtual ~Client();
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

// ---- server -------------------------------------------------------------------------------------

// Limits that a server sets for its clients.
struct Limits {
  Offset message_size = default_message_limit;  // bytes, prolog included
  // Maximum number of open sessions. If there is one session more, the oldest session that has not
  // sent its hello is closed; if there is no such session, the new session is closed.
  std::size_t sessions = 1000;
  // Time within which a client must send its hello.
  std::chrono::milliseconds hello_time = std::chrono::seconds(10);
  // A session that neither receives nor sends bytes for this long is closed, unless a procedure is
  // running for it. 0 means never.
  std::chrono::milliseconds idle_time = std::chrono::hours(1);
  // Maximum number of bytes of all messages and answers in memory. If there are more, the session
  // whose message or answer has been incomplete for the longest time is closed.
  Offset total_size = Offset{1} << 30;
};

// Serves procedures at a unix-domain socket to which only the user of this process may connect.
//
//     bank::rpc::Service service(client);
//     bank::rpc::Procedures procedures(service);
//     joedb::rpc::Server server(logger, 1, 1, "bank.sock", bank::rpc::get_signatures(),
//                               procedures.procedures);
//     server.join();
//
// `threads` threads (at least 1) run the procedures; with more than one, the service must be
// thread-safe. The calls of one session run in order. If a procedure throws an exception, its text
// is sent to the client, and the session continues.
//
// Log levels: 0 logs the start and stop of the server; 1 adds sessions, and the reasons why they
// end; 2 adds calls and their errors. Only the constructor and one thread of the server call the
// logger.
class Server {
 public:
  // Starts the server. `log` must outlive the server. Replaces a socket left by a killed server.
  // Throws Exception if another server listens at `path`, if `path` exists and is not a socket, or
  // if the numbers of signatures and procedures differ.
  Server(Logger& log, int log_level, int threads, const std::string& path,
         std::vector<Signature> signatures, std::vector<Procedure> procedures, Limits limits = {});
  // Stops, waits for the running procedures, and removes the socket.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Waits for SIGINT, SIGTERM or stop(). Only one thread may call this.
  void join();
  // Closes all connections. Running procedures finish, but their answers are dropped. Queued calls
  // may still run until the destructor drops them. May be called by any thread, and by a procedure.
  void stop();

 private:
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::inline v1::rpc

#endif
