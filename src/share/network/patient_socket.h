#ifndef JOEDB_SRC_SHARE_NETWORK_PATIENT_SOCKET_H
#define JOEDB_SRC_SHARE_NETWORK_PATIENT_SOCKET_H

#include <asio.hpp>
#include <string>

#include "kernel/io/wait_for_descriptor.h"
#include "share/network/patience_clock.h"

// Reads and writes of a socket in non-blocking mode, with a time limit. `name` is the name of the
// server, for messages. These functions throw Connection_Lost, and pass on the exceptions of
// Patience::look.

namespace joedb::network {

inline void require_success(const std::error_code& error, const std::string& name) {
  if (error == asio::error::eof) throw Connection_Lost(name + ": closed by the server");
  if (error) throw Connection_Lost(name + ": " + error.message());
}

template <class Socket>
void wait_until_ready(Socket& socket, Direction direction, const Patience_Clock& clock,
                      const std::string& name) {
  while (!wait_for_descriptor(socket.native_handle(), direction, clock.next_wait(name))) {
  }
}

// Polls before it reads, because a poll for input wakes up only when there is input. Linux also
// wakes a blocking recv on a local socket when the other side has read the sent bytes.
template <class Socket>
std::size_t read_some(Socket& socket, Patience_Clock& clock, const std::string& name, char* data,
                      std::size_t size) {
  for (;;) {
    wait_until_ready(socket, Direction::input, clock, name);
    std::error_code error;
    const std::size_t n = socket.read_some(asio::buffer(data, size), error);
    if (error == asio::error::would_block) continue;
    require_success(error, name);
    clock.moved(n);
    return n;
  }
}

template <class Socket>
void write(Socket& socket, Patience_Clock& clock, const std::string& name, const char* data,
           std::size_t size) {
  while (size > 0) {
    std::error_code error;
    const std::size_t n = socket.write_some(asio::buffer(data, size), error);
    if (error == asio::error::would_block) {
      wait_until_ready(socket, Direction::output, clock, name);
      continue;
    }
    require_success(error, name);
    clock.moved(n);
    data += n;
    size -= n;
  }
}

}  // namespace joedb::network

#endif
