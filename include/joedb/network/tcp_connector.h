#ifndef JOEDB_NETWORK_TCP_CONNECTOR_H
#define JOEDB_NETWORK_TCP_CONNECTOR_H

#include <memory>
#include <string>
#include <string_view>

#include "joedb/network/channel.h"

namespace joedb::inline v1 {

// A database of a server of another machine.
struct Tcp_Address {
  std::string host;
  std::string port = "5619";
  std::string database = "-";  // its name; "-": the only one of the server
  bool has_tls = true;

  // joedb://HOST[:PORT][/DATABASE], or joedb+tcp:// for a server of this machine, without TLS. An
  // IPv6 address is in [ ]. Throws Exception.
  static Tcp_Address parse(std::string_view url);
  std::string url() const;
};

// How client and server know each other.
struct Tls_Identity {
  // Whose certificates of servers are accepted, as PEM. Empty: those that this machine trusts. The
  // certificate must be for the host of the address.
  std::string authority_file = {};
  // Either NAME:TOKEN, the only line of a file,
  std::string token_file = {};
  // or a certificate and its key, as PEM.
  std::string certificate_file = {};
  std::string key_file = {};
};

// Channels over TCP: to other machines with TLS 1.3. A connection that carries nothing for a minute
// is tested by the system, and lost after another minute without an answer.
class Tcp_Connector final : public Connector {
 public:
  explicit Tcp_Connector(Tcp_Address address, Tls_Identity identity = {});
  ~Tcp_Connector() override;

  // Throws Connection_Lost if the server cannot be reached, Disconnection if one of the two does
  // not accept the other, and Exception for files that cannot be used. Waits 10 seconds at most for
  // the connection, the hand-shake and the first answer, each.
  std::unique_ptr<Channel> new_channel() override;
  std::string name() const override { return address_.url(); }

 private:
  const Tcp_Address address_;
  const Tls_Identity identity_;
};

}  // namespace joedb::inline v1

#endif
