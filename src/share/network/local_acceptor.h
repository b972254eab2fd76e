#ifndef JOEDB_SRC_SHARE_NETWORK_LOCAL_ACCEPTOR_H
#define JOEDB_SRC_SHARE_NETWORK_LOCAL_ACCEPTOR_H

#include <asio.hpp>
#include <string>

namespace joedb::network {

// Listens at the unix-domain socket `path`, which only the user of the process may open. Replaces
// the socket of a server that was killed. Throws Exception if another server listens at `path`, or
// if `path` exists and is not a socket.
asio::local::stream_protocol::acceptor listen_at(asio::io_context& io, const std::string& path);

}  // namespace joedb::network

#endif
