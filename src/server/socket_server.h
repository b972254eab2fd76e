#ifndef SERVER_SOCKET_SERVER_H
#define SERVER_SOCKET_SERVER_H

#include <functional>
#include <memory>
#include <string>

#include "joedb/base/log.h"
#include "server/served_journal.h"
#include "server/server_core.h"

namespace joedb::server {

// Serves a journal at a unix-domain socket, which only the user of the process may open.
class Socket_Server {
 public:
  // All but `path` must outlive the server. Throws Exception if another server listens at `path`,
  // or something else is there; a socket that a killed server has left is replaced.
  Socket_Server(Served_Journal& journal, const std::string& path, Server_Core::Limits limits,
                Logger& log);
  // Removes the socket.
  ~Socket_Server();
  Socket_Server(const Socket_Server&) = delete;
  Socket_Server& operator=(const Socket_Server&) = delete;

  // Serves until SIGINT or SIGTERM comes, or stop() is called.
  void run();
  // May be called by any thread.
  void stop();

 private:
  class Implementation;
  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace joedb::server

#endif
