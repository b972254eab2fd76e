#ifndef JOEDB_NETWORK_SSH_CONNECTOR_H
#define JOEDB_NETWORK_SSH_CONNECTOR_H

#include <memory>
#include <string>

#include "joedb/network/channel.h"

namespace joedb::inline v1 {

// The address of a server's unix-domain socket on another machine, and how to log in there.
struct Ssh_Address {
  std::string host;                   // name, or a Host of ~/.ssh/config
  std::string user = {};              // empty: from ~/.ssh/config, or that of this process
  int port = 0;                       // 0: from ~/.ssh/config, or 22
  std::string path = {};              // of the socket
  std::string known_hosts_file = {};  // empty: ~/.ssh/known_hosts and the system's file
  std::string identity_file = {};     // a private key; empty: the keys of ~/.ssh and of the agent
};

// Opens channels through an SSH server to a joedb_server on the same machine, which needs no port
// and no certificate of its own. Part of the library joedb_ssh, which is built if libssh is
// available.
//
// The host must be known, and the user must be able to log in with a key: no password is asked for.
// The system probes a connection that has been idle for a minute, and drops it after another minute
// without an answer.
class Ssh_Connector final : public Connector {
 public:
  explicit Ssh_Connector(Ssh_Address address) : address_(std::move(address)) {}

  // Throws Connection_Lost if the machine or the socket cannot be reached, Disconnection if either
  // machine rejects the other. Each step waits for at most 10 seconds.
  std::unique_ptr<Channel> new_channel() override;
  // Returns "ssh USER@HOST:PATH".
  std::string name() const override;

 private:
  const Ssh_Address address_;
};

}  // namespace joedb::inline v1

#endif
