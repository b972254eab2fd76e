#include "joedb/network/channel.h"

#include <asio.hpp>

#include "kernel/base/standard_descriptors.h"

namespace joedb::inline v1 {

class Local_Channel::Socket {
 public:
  explicit Socket(const std::string& path) : path_(path) {
    std::error_code error;
    socket_.connect(asio::local::stream_protocol::endpoint(path), error);
    check(error);
  }

  std::size_t read_some(char* data, std::size_t size) {
    // A poll for input sleeps until there is input. A blocking recv is also woken by Linux when the
    // other side has read the sent bytes, only to sleep again.
    std::error_code error;
    socket_.wait(asio::socket_base::wait_read, error);
    check(error);
    const std::size_t n = socket_.read_some(asio::buffer(data, size), error);
    if (error == asio::error::eof) throw Connection_Lost(path_ + ": closed by the server");
    check(error);
    return n;
  }

  void write(const char* data, std::size_t size) {
    std::error_code error;
    asio::write(socket_, asio::buffer(data, size), error);
    check(error);
  }

 private:
  void check(const std::error_code& error) const {
    if (error) throw Connection_Lost(path_ + ": " + error.message());
  }

  // Runs no handlers. It uses three descriptors, so thousands of channels share it.
  static asio::io_context& io() {
    reserve_standard_descriptors();
    static asio::io_context context;
    return context;
  }

  const std::string path_;
  asio::local::stream_protocol::socket socket_{io()};
};

Local_Channel::Local_Channel(const std::string& path) : socket_(std::make_unique<Socket>(path)) {}
Local_Channel::~Local_Channel() = default;

std::size_t Local_Channel::read_some(char* data, std::size_t size) {
  return socket_->read_some(data, size);
}
void Local_Channel::write(const char* data, std::size_t size) { socket_->write(data, size); }

}  // namespace joedb::inline v1
