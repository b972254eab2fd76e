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

// The files for TLS, and for the access of clients over TCP.
struct Tls_Files {
  std::string certificate;       // of the server, with its chain (PEM)
  std::string key;               // private key of the certificate (PEM)
  std::string client_authority;  // signs the certificates of clients (PEM); empty: none
  std::string access_list;       // an Access_List; empty: every client may push
};

// The TCP address at which a server listens.
struct Listen_Address {
  std::string host = "127.0.0.1";
  std::string port;
  // Parses HOST:PORT, [HOST]:PORT or PORT; PORT alone listens to this machine only. Throws
  // Exception if PORT is not a number from 0 to 65535.
  static Listen_Address parse(const std::string& text);
};

// Serves journals, each at its own unix-domain socket, which only the user of the process may open,
// and all of them at one TCP port.
class Socket_Server {
 public:
  // `log` must outlive the server. `max_connections` limits the connections to all journals and
  // ports. At the limit, the oldest anonymous connection is closed, or if there is none, the new
  // one. A connection is anonymous until the client has sent its hello or, over TCP, its access
  // line.
  Socket_Server(Server_Core::Limits limits, Logger& log,
                std::size_t max_connections = std::numeric_limits<std::size_t>::max());
  // Waits for running work on the journals to end: a write, a sync, or a reply of another server.
  ~Socket_Server();
  Socket_Server(const Socket_Server&) = delete;
  Socket_Server& operator=(const Socket_Server&) = delete;

  // Adds a journal. Call this before run(). `journal` must outlive the server. `name` is the name
  // of the database over TCP. Replaces the socket of a server that was killed. Throws Exception if
  // another server listens at `path`, if `path` exists and is not a socket, or if two databases
  // have the same name.
  //
  // If `descriptor` is given, it is a socket that already listens at `path`. Its owner (systemd)
  // created this socket, and will remove it.
  void serve(Served_Journal& journal, const std::string& name, const std::string& path,
             std::optional<int> descriptor = std::nullopt);
  // Listens at a Listen_Address, and returns the port; port 0 selects any free port. Call this
  // before run(). Without TLS, the host must be this machine, and all its users may connect. Throws
  // Exception if the server cannot listen there, or if a file cannot be used.
  int listen(const std::string& address, const Tls_Files& tls);

  // Serves the counters of all databases over HTTP at a Listen_Address, as text for Prometheus, and
  // returns the port. Call this before run(). Throws Exception if the server cannot listen there.
  int listen_for_metrics(const std::string& address);

  // Serves until SIGINT, SIGTERM or stop(), then removes the sockets. On SIGHUP, reloads the files
  // of TLS. If a file cannot be used, logs a line, and keeps using the old files. Otherwise ends
  // the sessions of clients whose line of the access list was removed or changed and, if the
  // authority has changed, of clients with a certificate.
  void run();
  // May be called by any thread.
  void stop();
  // Reads the entries that other processes have appended to the file of this database, or to its
  // other copy. May be called by any thread.
  void refresh(const std::string& name);

 private:
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::server

#endif
