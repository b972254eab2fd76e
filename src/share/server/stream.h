#ifndef JOEDB_SRC_SHARE_SERVER_STREAM_H
#define JOEDB_SRC_SHARE_SERVER_STREAM_H

#include <asio.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace joedb::server {

// One end of a connection over any kind of socket. After close(), pending and later operations call
// their handlers with an error.
class Stream {
 public:
  using Handler = std::function<void(const std::error_code& error, std::size_t size)>;
  Stream() = default;
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual void read_some(asio::mutable_buffer buffer, Handler handler) = 0;
  virtual void write(asio::const_buffer buffer, Handler handler) = 0;
  // Writes what can be written at once. Returns its size; 0 also after an error, which the next
  // write() passes to its handler.
  virtual std::size_t write_now(asio::const_buffer buffer) = 0;
  virtual void close() = 0;
};

// `Socket` is an Asio socket, or a TLS stream over one.
template <class Socket>
class Stream_Of final : public Stream {
 public:
  explicit Stream_Of(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {
    if constexpr (is_plain) {
      std::error_code ignored;  // the first use of the socket fails then, too
      socket_->non_blocking(true, ignored);
    }
  }
  void read_some(asio::mutable_buffer buffer, Handler handler) override {
    socket_->async_read_some(buffer, std::move(handler));
  }
  void write(asio::const_buffer buffer, Handler handler) override {
    asio::async_write(*socket_, buffer, std::move(handler));
  }
  std::size_t write_now(asio::const_buffer buffer) override {
    std::error_code ignored;
    if constexpr (is_plain)
      return socket_->non_blocking() ? socket_->write_some(buffer, ignored) : 0;
    else
      return 0;
  }
  void close() override {
    std::error_code ignored;
    socket_->lowest_layer().close(ignored);
  }

 private:
  // Writes to a TLS stream need its state, which a handler may be using.
  static constexpr bool is_plain = requires(Socket & socket) { socket.non_blocking(); };

  const std::unique_ptr<Socket> socket_;
};

}  // namespace joedb::server

#endif
