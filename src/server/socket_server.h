#ifndef SERVER_SOCKET_SERVER_H
#define SERVER_SOCKET_SERVER_H

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "joedb/base/log.h"
#include "joedb/base/process_mark.h"
#include "server/access.h"
#include "server/served_journal.h"
#include "server/server_core.h"

namespace joedb::server {

// How clients of other machines are let in.
struct Tls_Files {
  std::string certificate;       // of the server, with those above it, as PEM
  std::string key;               // of the certificate, as PEM
  std::string client_authority;  // whose certificates of clients are accepted; empty: none
  std::string access_list;       // Access_List; empty: everybody may push
};

// Serves journals, each at a unix-domain socket, which only the user of the process may open, and
// all of them at a TCP port.
class Socket_Server {
 public:
  // Both must outlive the server.
  Socket_Server(Server_Core::Limits limits, Logger& log);
  // Waits for what is being done with the journals: a write, a sync, an answer of another server.
  ~Socket_Server();
  Socket_Server(const Socket_Server&) = delete;
  Socket_Server& operator=(const Socket_Server&) = delete;

  // Before run(). `journal` must outlive the server. `name` is that of the database over TCP.
  // Throws Exception if another server listens at `path`, or something else is there; a socket that
  // a killed server has left is replaced.
  // With a descriptor, that is the socket, which listens already: somebody else has made it
  // (systemd), and removes it.
  void serve(Served_Journal& journal, const std::string& name, const std::string& path,
             std::optional<int> descriptor = std::nullopt);
  // Before run(). HOST:PORT, [HOST]:PORT or PORT; without a host, that of this machine alone.
  // Without TLS the host must be of this machine, and every user of it may connect. Port 0: one
  // that is free. Returns the port. Throws Exception.
  int listen(const std::string& address, const Tls_Files& tls);

  // Before run(). Answers HTTP requests at [HOST:]PORT with the counters of all databases, as text
  // for Prometheus. Without a host, for this machine alone.
  int listen_for_metrics(const std::string& address);

  // Serves until SIGINT or SIGTERM comes, or stop() is called, and removes the sockets then. SIGHUP
  // reads the files of TLS again: if that fails, a log line says so, and the old ones stay.
  void run();
  // May be called by any thread.
  void stop();
  // So may this: others have written to the file of this database, or to its other copy.
  void refresh(const std::string& name);

 private:
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::server

#endif
