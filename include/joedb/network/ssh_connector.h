#ifndef JOEDB_NETWORK_SSH_CONNECTOR_H
#define JOEDB_NETWORK_SSH_CONNECTOR_H

#include <memory>
#include <string>

#include "joedb/network/channel.h"

namespace joedb::inline v1 {

// The unix-domain socket of a server, on another machine, and how to log in there.
struct Ssh_Address {
  std::string host;                   // or a Host of ~/.ssh/config
  std::string user = {};              // empty: that of ~/.ssh/config, or of this process
  int port = 0;                       // 0: that of ~/.ssh/config, or 22
  std::string path = {};              // of the socket
  std::string known_hosts_file = {};  // empty: ~/.ssh/known_hosts, and that of the system
  std::string identity_file = {};     // a private key; empty: those of ~/.ssh, and of the agent
};

// Channels through an SSH server to a joedb_server beside it, which needs no port and no
// certificate of its own. The library joedb_ssh has it: it is built where libssh is.
//
// The host must be known, and let the user in with a key: nobody is asked for
// a password. A connection that carries nothing for a minute is tested by the system, and lost
// after another minute without an answer.
class Ssh_Connector final : public Connector {
 public:
  explicit Ssh_Connector(Ssh_Address address) : address_(std::move(address)) {}

  // Throws Connection_Lost if the machine or the socket cannot be reached, Disconnection if one of
  // the two machines does not accept the other. Waits 10 seconds at most for each step.
  std::unique_ptr<Channel> new_channel() override;
  // "ssh USER@HOST:PATH"
  std::string name() const override;

 private:
  const Ssh_Address address_;
};

}  // namespace joedb::inline v1

#endif
