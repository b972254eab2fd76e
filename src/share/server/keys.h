#ifndef JOEDB_SRC_SHARE_SERVER_KEYS_H
#define JOEDB_SRC_SHARE_SERVER_KEYS_H

#include <string>

// Creates keys and certificates for trying out a server with other machines. These functions throw
// Exception.

namespace joedb::server {

// Returns the host name of this machine; "localhost" if is_name() refuses that name.
std::string host_name();

// Creates a private key and a self-signed certificate for the names of this machine. The
// certificate is valid for ten years. Throws if one of the files exists.
void make_certificate(const std::string& certificate_file, const std::string& key_file);

}  // namespace joedb::server

#endif
