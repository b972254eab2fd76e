#ifndef JOEDB_NETWORK_RPC_SERVER_H
#define JOEDB_NETWORK_RPC_SERVER_H

#include <chrono>
#include <memory>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/network/rpc_procedure.h"

namespace joedb::inline v1::rpc {

// Limits that a server sets for its clients.
struct Limits {
  Offset message_size = default_message_limit;  // bytes, prolog included
  std::size_t sessions = 1000;                  // open at the same time
  // Time for a client to send its hello.
  std::chrono::milliseconds hello_time = std::chrono::seconds(10);
  // A session that neither receives nor sends bytes for this long is closed, unless a procedure is
  // running for it. 0: never.
  std::chrono::milliseconds idle_time = std::chrono::hours(1);
};

// Serves procedures at a unix-domain socket that only the user of the process may open.
//
//     bank::rpc::Service service(client);
//     bank::rpc::Procedures procedures(service);
//     joedb::rpc::Server server(logger, 1, 1, "bank.sock", bank::rpc::get_signatures(),
//                               procedures.procedures);
//     server.join();
//
// `threads` threads (at least 1) run the procedures; with more than one, the service must be
// thread-safe. The calls of one session run in order. An exception that a procedure throws is sent
// to its client as text, and the session continues.
//
// Log levels: 0 logs start and stop of the server; 1 adds sessions, and why they end; 2 adds calls
// and their errors. Only the constructor and one thread of the server call the logger.
class Server {
 public:
  // Starts serving. `log` must outlive the server. Replaces a socket that a killed server has left.
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
  // are dropped by the destructor; until then they may still run. May be called by any thread, and
  // by a procedure.
  void stop();

 private:
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::inline v1::rpc

#endif
