#ifndef JOEDB_SRC_SHARE_NETWORK_IDLE_TEST_H
#define JOEDB_SRC_SHARE_NETWORK_IDLE_TEST_H

#include <asio.hpp>

namespace joedb::network {

// Enables keep-alive probes: the system probes a connection that has been idle for one minute, and
// drops it after another minute without an answer. This detects a peer that has disappeared.
inline void test_when_idle(asio::ip::tcp::socket& socket) {
  std::error_code ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  using Idle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using Interval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  using Count = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
  socket.set_option(Idle(60), ignored);
  socket.set_option(Interval(15), ignored);
  socket.set_option(Count(4), ignored);
}

}  // namespace joedb::network

#endif
