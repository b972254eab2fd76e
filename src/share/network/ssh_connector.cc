#include "joedb/network/channel.h"

#include <algorithm>
#include <utility>

#include "joedb/base/threads.h"
#include "share/network/patience_clock.h"
#include "share/network/ssh_session.h"

namespace joedb::inline v1 {

namespace {

struct Free_Channel {
  Process_Mark process = {};
  void operator()(ssh_channel channel) const {
    if (!process.is_inherited()) ssh_channel_free(channel);
  }
};
using Ssh_Stream = std::unique_ptr<ssh_channel_struct, Free_Channel>;

class Ssh_Channel final : public Channel {
 public:
  Ssh_Channel(const Ssh_Address& address, std::string name)
      : session_(address, std::move(name)), stream_(ssh_channel_new(session_.get())) {
    if (!stream_ || ssh_channel_open_forward_unix(stream_.get(), address.path.c_str(), "localhost",
                                                  0) != SSH_OK)
      throw Connection_Lost(
          session_.name() +
          ": there is no server at the socket, or it may not be reached: " + session_.error());
  }

  std::size_t read_some(char* data, std::size_t size) override {
    for (;;) {
      const auto time = static_cast<int>(clock_.next_wait(session_.name()).count());
      const int n = ssh_channel_read_timeout(stream_.get(), data, clamped(size), 0, time);
      if (n > 0) {
        clock_.moved(static_cast<std::size_t>(n));
        return static_cast<std::size_t>(n);
      }
      if (n == SSH_ERROR) throw Connection_Lost(session_.name() + ": " + session_.error());
      // The result is 0 after the time limit, but also if the server has closed the channel.
      if (ssh_channel_is_eof(stream_.get()) != 0 || ssh_channel_is_closed(stream_.get()) != 0)
        throw Connection_Lost(session_.name() + ": closed by the server");
    }
  }

  // The library itself gives up if it cannot send anything for 10 seconds (Ssh_Session).
  void write(const char* data, std::size_t size) override {
    while (size > 0) {
      clock_.next_wait(session_.name());
      const int n = ssh_channel_write(stream_.get(), data, clamped(size));
      if (n <= 0) throw Connection_Lost(session_.name() + ": " + session_.error());
      clock_.moved(static_cast<std::size_t>(n));
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

  void set_patience(const Patience& patience) override { clock_.start(patience); }

 private:
  static std::uint32_t clamped(std::size_t size) {
    return static_cast<std::uint32_t>(std::min(size, std::size_t{1} << 30));
  }

  const Ssh_Session session_;
  Ssh_Stream stream_;  // destroyed before the session
  network::Patience_Clock clock_;
};

}  // namespace

std::unique_ptr<Channel> Ssh_Connector::new_channel() {
  return std::make_unique<Ssh_Channel>(address_, name());
}

std::string Ssh_Connector::name() const {
  return "ssh " + (address_.user.empty() ? "" : address_.user + "@") + address_.host + ":" +
         address_.path;
}

}  // namespace joedb::inline v1
