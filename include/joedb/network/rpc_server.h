#ifndef JOEDB_NETWORK_RPC_SERVER_H
#define JOEDB_NETWORK_RPC_SERVER_H

#include <chrono>
#include <memory>

#include "joedb/base/log.h"
#include "joedb/base/process_mark.h"
#include "joedb/network/rpc_procedure.h"

namespace joedb::inline v1::rpc {

// What a server allows its clients.
struct Limits {
  Offset message_size = default_message_limit;
  std::size_t sessions = 1000;
  std::chrono::milliseconds hello_time = std::chrono::seconds(10);
  // A session in which nothing was received or sent for so long is closed, unless a procedure is
  // running for it. 0: never.
  std::chrono::milliseconds idle_time = std::chrono::hours(1);
};

// Serves procedures at a unix-domain socket, which only the user of the process may open.
//
//     bank::rpc::Service service(client);
//     bank::rpc::Procedures procedures(service);
//     joedb::rpc::Server server(logger, 1, 1, "bank.sock", bank::rpc::get_signatures(),
//                               procedures.procedures);
//     server.join();
//
// `threads` threads run the procedures; with more than one, the service must be thread-safe. The
// calls of one session run in their order. What a procedure throws goes to its client as text; the
// session goes on.
//
// What is logged: with log_level 0, where the server starts and stops; from 1 on, sessions, and why
// they end; from 2 on, calls and their errors. One thread of the server logs, and the constructor.
class Server {
 public:
  // Serves from here on. The logger must outlive the server. Throws Exception if another server
  // listens at `path`, or something else is there; a socket that a killed server has left is
  // replaced.
  Server(Logger& log, int log_level, int threads, const std::string& path,
         std::vector<Signature> signatures, std::vector<Procedure> procedures, Limits limits = {});
  // Stops, waits for the procedures that are running, and removes the socket.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Waits until SIGINT or SIGTERM comes, or stop() is called. For one thread.
  void join();
  // Closes all connections. Calls that wait for a thread are dropped; a procedure that is running
  // ends, and its answer is dropped. May be called by any thread, also by a procedure.
  void stop();

 private:
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::inline v1::rpc

#endif
