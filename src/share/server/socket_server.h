#ifndef JOEDB_SRC_SHARE_SERVER_SOCKET_SERVER_H
#define JOEDB_SRC_SHARE_SERVER_SOCKET_SERVER_H

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "share/server/access.h"
#include "share/server/served_journal.h"
#include "share/server/server_core.h"

namespace joedb::server {

// Files for TLS, and for access of clients over TCP.
struct Tls_Files {
  std::string certificate;       // of the server, with its chain, as PEM
  std::string key;               // of the certificate, as PEM
  std::string client_authority;  // signs certificates of clients, as PEM; empty: none
  std::string access_list;       // an Access_List; empty: every client may push
};

// Where a server listens over TCP.
struct Listen_Address {
  std::string host = "127.0.0.1";
  std::string port;
  // Parses HOST:PORT, [HOST]:PORT or PORT; without a host, this machine only. Throws Exception if
  // PORT is not a number from 0 to 65535.
  static Listen_Address parse(const std::string& text);
};

// Serves journals, each at a unix-domain socket that only the user of the process may open, and all
// of them at a TCP port.
class Socket_Server {
 public:
  // `log` must outlive the server. Of more than `max_connections` to all journals and ports, the
  // oldest that has not shown who it is makes room, or the new one is refused. Nobody knows yet who
  // a client is before it has sent its hello or, over TCP, the line of its access.
  Socket_Server(Server_Core::Limits limits, Logger& log,
                std::size_t max_connections = std::numeric_limits<std::size_t>::max());
  // Waits until running work on the journals has ended: a write, a sync, or an answer of another
  // server.
  ~Socket_Server();
  Socket_Server(const Socket_Server&) = delete;
  Socket_Server& operator=(const Socket_Server&) = delete;

  // Adds a journal. Call this before run(). `journal` must outlive the server. `name` is the name
  // of the database over TCP. Replaces a socket that a killed server has left. Throws Exception if
  // another server listens at `path`, if `path` exists and is not a socket, or if two databases
  // have the same name.
  //
  // `descriptor`, if given, is a socket that already listens at `path`. Its owner (systemd) made
  // this socket, and will remove it.
  void serve(Served_Journal& journal, const std::string& name, const std::string& path,
             std::optional<int> descriptor = std::nullopt);
  // Listens at a Listen_Address. Call this before run(). Without TLS, the host must be this
  // machine, and all its users may connect. Port 0: any free port. Returns the port. Throws
  // Exception if it cannot listen there, or a file cannot be used.
  int listen(const std::string& address, const Tls_Files& tls);

  // Answers HTTP requests at a Listen_Address with the counters of all databases, as text for
  // Prometheus. Call this before run(). Returns the port. Throws Exception if it cannot listen
  // there.
  int listen_for_metrics(const std::string& address);

  // Serves until SIGINT, SIGTERM or stop(), and then removes the sockets. SIGHUP reloads the files
  // of TLS, and ends the sessions of clients whose line of the access list is gone or another, and,
  // if the authority has changed, sessions of clients that have shown a certificate. If a file
  // cannot be used, a line is logged, and the old files stay in use.
  void run();
  // May be called by any thread.
  void stop();
  // Reads the entries that other processes have written to the file of this database, or to its
  // other copy. May be called by any thread.
  void refresh(const std::string& name);

 private:
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::server

#endif
