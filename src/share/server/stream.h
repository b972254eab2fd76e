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
  virtual void close() = 0;
};

// `Socket` is an Asio socket, or a TLS stream over one.
template <class Socket>
class Stream_Of final : public Stream {
 public:
  explicit Stream_Of(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}
  void read_some(asio::mutable_buffer buffer, Handler handler) override {
    socket_->async_read_some(buffer, std::move(handler));
  }
  void write(asio::const_buffer buffer, Handler handler) override {
    asio::async_write(*socket_, buffer, std::move(handler));
  }
  void close() override {
    std::error_code ignored;
    socket_->lowest_layer().close(ignored);
  }

 private:
  const std::unique_ptr<Socket> socket_;
};

}  // namespace joedb::server

#endif
