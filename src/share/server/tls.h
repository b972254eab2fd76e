#ifndef JOEDB_SRC_SHARE_SERVER_TLS_H
#define JOEDB_SRC_SHARE_SERVER_TLS_H

#include <asio/ssl.hpp>
#include <memory>
#include <optional>
#include <string>

#include "share/server/access.h"
#include "share/server/socket_server.h"

namespace joedb::server {

// The content of Tls_Files, loaded and ready for use.
struct Tls_State {
  asio::ssl::context context{asio::ssl::context::tls_server};
  std::string authority;  // content of the file of the authority
  bool has_access_list = false;
  Access_List access_list;
};

// Loads the files. Throws an Exception that names the file.
std::shared_ptr<Tls_State> load_tls(const Tls_Files& files);

// Returns the common name in the verified certificate of the client; nullopt if the client has sent
// no certificate.
std::optional<std::string> name_in_certificate(SSL* connection);

}  // namespace joedb::server

#endif
