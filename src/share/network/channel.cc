#include "joedb/network/channel.h"

#include <asio.hpp>

#include "kernel/base/standard_descriptors.h"
#include "share/network/patient_socket.h"

namespace joedb::inline v1 {

void Channel::set_patience(const Patience&) {}

class Local_Channel::Socket {
 public:
  Socket(const std::string& path, const Patience& patience) : path_(path) {
    clock_.start_setup(patience);
    connect();
    clock_.start({});
  }

  std::size_t read_some(char* data, std::size_t size) {
    return network::read_some(socket_, clock_, path_, data, size);
  }
  void write(const char* data, std::size_t size) {
    network::write(socket_, clock_, path_, data, size);
  }
  void set_patience(const Patience& patience) { clock_.start(patience); }

 private:
  void connect() {
    const asio::local::stream_protocol::endpoint endpoint(path_);
    for (;;) {
      std::error_code error;
      socket_.open(endpoint.protocol(), error);
      network::require_success(error, path_);
      socket_.non_blocking(true);
      socket_.connect(endpoint, error);
      // The server exists, but its queue of connections to accept is full.
      const bool is_full =
          error == asio::error::no_buffer_space || error == asio::error::would_block;
      if (!is_full) return network::require_success(error, path_);
      socket_.close(error);
      constexpr std::chrono::milliseconds pause{10};
      System::real().sleep(std::min(clock_.next_wait(path_), pause));
    }
  }

  // A context that runs no handlers. It uses three descriptors, so all channels share it.
  static asio::io_context& io() {
    reserve_standard_descriptors();
    static asio::io_context context;
    return context;
  }

  const std::string path_;
  asio::local::stream_protocol::socket socket_{io()};
  network::Patience_Clock clock_;
};

Local_Channel::Local_Channel(const std::string& path, const Patience& patience)
    : socket_(std::make_unique<Socket>(path, patience)) {}
Local_Channel::~Local_Channel() = default;

std::size_t Local_Channel::read_some(char* data, std::size_t size) {
  return socket_->read_some(data, size);
}
void Local_Channel::write(const char* data, std::size_t size) { socket_->write(data, size); }
void Local_Channel::set_patience(const Patience& patience) { socket_->set_patience(patience); }

}  // namespace joedb::inline v1
