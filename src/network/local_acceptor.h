#ifndef NETWORK_LOCAL_ACCEPTOR_H
#define NETWORK_LOCAL_ACCEPTOR_H

#include <asio.hpp>
#include <string>

namespace joedb::network {

// Listens at the unix-domain socket `path`, which only the user of the process may open. A socket
// that a killed server has left is replaced. Throws Exception if another server listens there, or
// if there is something else than a socket.
asio::local::stream_protocol::acceptor listen_at(asio::io_context& io, const std::string& path);

}  // namespace joedb::network

#endif
