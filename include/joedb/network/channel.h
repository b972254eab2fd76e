#ifndef JOEDB_NETWORK_CHANNEL_H
#define JOEDB_NETWORK_CHANNEL_H

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

// A stream of bytes in both directions, between a client and a server. The destructor closes it.
//
// Functions throw Connection_Lost. Used by one thread at a time.
class Channel {
 public:
  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits until there are bytes, and reads at most `size` of them into data[0, size). Returns their
  // number, at least 1. Throws if the other side has closed the channel.
  virtual std::size_t read_some(char* data, std::size_t size) = 0;
  // Writes all of data[0, size), waiting for the other side if it must.
  virtual void write(const char* data, std::size_t size) = 0;
};

// A unix-domain socket.
class Local_Channel final : public Channel {
 public:
  explicit Local_Channel(const std::string& path);
  ~Local_Channel() override;
  std::size_t read_some(char* data, std::size_t size) override;
  void write(const char* data, std::size_t size) override;

 private:
  class Socket;
  const std::unique_ptr<Socket> socket_;
};

// Makes channels to one server, again and again as they are lost.
class Connector {
 public:
  Connector() = default;
  virtual ~Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Throws Connection_Lost if the server cannot be reached, Disconnection if it refuses.
  virtual std::unique_ptr<Channel> new_channel() = 0;
  // What the channels lead to, for messages.
  virtual std::string name() const = 0;

  // Of the connections that are made from now on.
  struct Settings {
    // A request is sent when the connection has been idle for so long: for networks that forget
    // idle connections, and locks that are lost in idle ones. 0: never.
    std::chrono::milliseconds keep_alive{0};
    // The hello asks for what the protocol of joedb 10 does not have (docs/reference/protocol.md).
    // A server of joedb 10 ignores that.
    bool has_extensions = true;
  };
  void set_keep_alive_interval(std::chrono::milliseconds value) { settings_.keep_alive = value; }
  void set_extensions(bool value) { settings_.has_extensions = value; }
  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

// To a server at the unix-domain socket `path`.
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
