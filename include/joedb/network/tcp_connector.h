#ifndef JOEDB_NETWORK_TCP_CONNECTOR_H
#define JOEDB_NETWORK_TCP_CONNECTOR_H

#include <memory>
#include <string>
#include <string_view>

#include "joedb/network/channel.h"

namespace joedb::inline v1 {

// The address of a database on a server that listens at a TCP port.
struct Tcp_Address {
  std::string host;
  std::string port = "5619";
  std::string database = "-";  // its name; "-": the only database of the server
  bool has_tls = true;

  // Parses joedb://HOST[:PORT][/DATABASE], or joedb+tcp:// for a server on this machine, without
  // TLS. An IPv6 address is in [ ]. Throws Exception if `url` is not such an address.
  static Tcp_Address parse(std::string_view url);
  std::string url() const;
};

// The files by which client and server authenticate each other.
struct Tls_Identity {
  // Certificates of the authorities that may sign the server's certificate, as PEM. Empty: the
  // authorities that this machine trusts. The server's certificate must be for the host of the
  // address.
  std::string authority_file = {};
  // Either a file whose only line is NAME:TOKEN,
  std::string token_file = {};
  // or a certificate and its key, as PEM.
  std::string certificate_file = {};
  std::string key_file = {};
};

// Opens channels over TCP, with TLS 1.3 if the address has_tls. The system probes a connection that
// has been idle for a minute, and drops it after another minute without an answer.
class Tcp_Connector final : public Connector {
 public:
  explicit Tcp_Connector(Tcp_Address address, Tls_Identity identity = {});
  ~Tcp_Connector() override;

  // Throws Connection_Lost if the server cannot be reached, Disconnection if either side rejects
  // the other, and Exception if a file cannot be used. Waits for at most 10 seconds for each of the
  // connection, the handshake and the first answer.
  std::unique_ptr<Channel> new_channel() override;
  std::string name() const override { return address_.url(); }

 private:
  const Tcp_Address address_;
  const Tls_Identity identity_;
};

}  // namespace joedb::inline v1

#endif
