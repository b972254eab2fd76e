#ifndef JOEDB_NETWORK_CHANNEL_H
#define JOEDB_NETWORK_CHANNEL_H

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

// A bidirectional byte stream between a client and a server. The destructor closes it.
//
// All functions throw Connection_Lost if the connection fails. Not thread-safe.
class Channel {
 public:
  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits for input and reads up to `size` bytes into data[0, size). Returns the number of bytes
  // read, at least 1. Throws Connection_Lost if the other side has closed the channel.
  virtual std::size_t read_some(char* data, std::size_t size) = 0;
  // Writes all of data[0, size). Blocks while the other side is not ready to receive.
  virtual void write(const char* data, std::size_t size) = 0;
};

// A channel over a unix-domain socket.
class Local_Channel final : public Channel {
 public:
  // Connects to the socket at `path`. Throws Connection_Lost if that fails.
  explicit Local_Channel(const std::string& path);
  ~Local_Channel() override;
  std::size_t read_some(char* data, std::size_t size) override;
  void write(const char* data, std::size_t size) override;

 private:
  class Socket;
  const std::unique_ptr<Socket> socket_;
};

// Opens channels to one server. A caller opens a new channel when the last one is lost.
class Connector {
 public:
  Connector() = default;
  virtual ~Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Throws Connection_Lost if the server cannot be reached, Disconnection if it refuses.
  virtual std::unique_ptr<Channel> new_channel() = 0;
  // Returns the address of the server, for messages.
  virtual std::string name() const = 0;

  // Options for connections that are opened after they are set.
  struct Settings {
    // A request is sent when the connection has been idle for this long: some networks drop idle
    // connections, and a server may take the lock from a silent client. 0: no keep-alive.
    std::chrono::milliseconds keep_alive{0};
    // True if the hello asks for extensions of the protocol of joedb 10
    // (docs/reference/protocol.md). A server of joedb 10 ignores the request.
    bool has_extensions = true;
  };
  void set_keep_alive_interval(std::chrono::milliseconds value) { settings_.keep_alive = value; }
  void set_extensions(bool value) { settings_.has_extensions = value; }
  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

// Opens channels to the server at the unix-domain socket `path`.
class Local_Connector final : public Connector {
 public:
  explicit Local_Connector(std::string path) : path_(std::move(path)) {}
  std::unique_ptr<Channel> new_channel() override { return std::make_unique<Local_Channel>(path_); }
  std::string name() const override { return path_; }

 private:
  const std::string path_;
};

}  // namespace joedb::inline v1

#endif
