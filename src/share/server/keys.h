#ifndef JOEDB_SRC_SHARE_SERVER_KEYS_H
#define JOEDB_SRC_SHARE_SERVER_KEYS_H

#include <string>

// Keys and certificates for trying a server with other machines. Functions throw Exception.

namespace joedb::server {

// Returns the name of this machine; "localhost" if is_name() does not accept it.
std::string host_name();

// Creates a private key and a self-signed certificate for this machine's names, valid for ten
// years. Throws if one of the files exists.
void make_certificate(const std::string& certificate_file, const std::string& key_file);

}  // namespace joedb::server

#endif
