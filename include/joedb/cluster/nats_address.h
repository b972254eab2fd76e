#ifndef JOEDB_CLUSTER_NATS_ADDRESS_H
#define JOEDB_CLUSTER_NATS_ADDRESS_H

#include <string>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// The address of a database on a cluster of NATS servers: the stream of JetStream that has its
// journal.
struct Nats_Address {
  std::vector<std::string> servers;  // HOST:PORT, at least one; an IPv6 address is in [ ]
  std::string user = {};             // empty: none. Without a password, it is a token
  std::string password = {};
  std::string database;
  std::string stream;   // the stream to read: joedb_DATABASE, or a mirror of it
  std::string subject;  // joedb.DATABASE; messages have joedb.DATABASE.ID
  bool has_tls = false;

  // Parses nats://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?stream=NAME], or tls://.
  // The default port is 4222. User and password may have %XX for characters that a URL cannot have.
  // The name of a database has letters, digits, `_` and `-`. Throws Exception if `url` is not such
  // an address.
  static Nats_Address parse(std::string_view url);

  // Returns the stream that takes the messages, even if `stream` is a mirror.
  std::string origin() const { return "joedb_" + database; }
  // Returns the URL without user and password.
  std::string url() const;
};

}  // namespace joedb::inline v1

#endif
