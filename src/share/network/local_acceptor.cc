#include "share/network/local_acceptor.h"

#include <filesystem>

#include "joedb/base/error.h"

namespace joedb::network {

namespace {

using Protocol = asio::local::stream_protocol;

// Removes the socket of a server that was killed, which refuses connections. Throws Exception if a
// server listens at `path`, or if `path` is not a socket.
void remove_stale_socket(asio::io_context& io, const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_socket(status))
    throw Exception(path + ": is there already, and no socket");
  Protocol::socket socket(io);
  socket.connect(Protocol::endpoint(path), error);
  if (!error) throw Exception(path + ": another server listens there");
  if (error != asio::error::connection_refused) throw Exception(path + ": " + error.message());
  std::filesystem::remove(path);
}

}  // namespace

Protocol::acceptor listen_at(asio::io_context& io, const std::string& path) {
  remove_stale_socket(io, path);
  Protocol::acceptor acceptor(io);
  acceptor.open();
  acceptor.bind(Protocol::endpoint(path));
  // Restrict access before calling listen(), because nobody can connect earlier.
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  acceptor.listen();
  return acceptor;
}

}  // namespace joedb::network
