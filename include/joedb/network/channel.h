#ifndef JOEDB_NETWORK_CHANNEL_H
#define JOEDB_NETWORK_CHANNEL_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// How long a channel waits for the other side.
struct Patience {
  // The other side must have sent or taken something by the end of this time. What arrives then
  // prolongs the time by 1 s for each 4 KiB, never past `time` from that moment. So a short reply
  // has a deadline, however slowly its bytes arrive, and a long one needs progress. max(): no
  // limit.
  System::Duration time = System::Duration::max();
  // Called about every 20 ms while the channel waits. If it throws, the wait ends with this
  // exception. Empty: not called.
  std::function<void()> look = {};
};

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

  // Limits the waits from now on. After the time, the functions above throw Connection_Lost; the
  // channel cannot be used any more then, nor after an exception of Patience::look. The channels of
  // this library begin without a limit. This implementation does nothing: a channel of another kind
  // that does not override it waits without a limit.
  virtual void set_patience(const Patience& patience);
};

// A channel over a unix-domain socket.
class Local_Channel final : public Channel {
 public:
  // Connects to the socket at `path`. Throws Connection_Lost if this fails. A server that is alive
  // accepts at once: waits for at most 10 seconds, or less if `patience` is shorter.
  explicit Local_Channel(const std::string& path, const Patience& patience = {});
  ~Local_Channel() override;
  std::size_t read_some(char* data, std::size_t size) override;
  void write(const char* data, std::size_t size) override;
  void set_patience(const Patience& patience) override;

 private:
  class Socket;
  const std::unique_ptr<Socket> socket_;
};

// Opens channels to one server. A caller opens a new channel when the last channel is lost.
class Connector {
 public:
  Connector() = default;
  virtual ~Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Throws Connection_Lost if the server cannot be reached, and Disconnection if it refuses.
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

    // How long the server may take to answer a request (Patience::time), besides the time that the
    // request asks it to wait, and 1 s for each MiB that it has to hash or to write. The connection
    // is lost then. To connect, it has 10 seconds at most. max(): no limit.
    System::Duration answer_time = std::chrono::seconds(30);
    // How long to wait for the server's lock while another client has it. Then Lock_Timeout is
    // thrown, and the connection is lost. max(): no limit.
    System::Duration lock_time = std::chrono::seconds(60);
    // How long Robust_Connection tries again after a connection is lost, before it throws
    // Connection_Lost. 0: it does not try again; max(): it tries for ever, as a service should.
    System::Duration retry_time = std::chrono::seconds(60);
    // Called once for each request for which Robust_Connection begins to try again. `reason` names
    // the server, and says how the connection was lost.
    std::function<void(const std::string& reason)> on_retry = {};
    // Called about every 20 ms while a request waits for the server, in the thread of the request,
    // for example to look for a signal. If it throws, the request ends with this exception, and the
    // connection is lost: a Robust_Connection connects again for the next request.
    std::function<void()> look = {};
  };
  void set_keep_alive_interval(std::chrono::milliseconds value) { settings_.keep_alive = value; }
  void set_extensions(bool value) { settings_.has_extensions = value; }
  void set_answer_time(System::Duration value) { settings_.answer_time = value; }
  void set_lock_time(System::Duration value) { settings_.lock_time = value; }
  void set_retry_time(System::Duration value) { settings_.retry_time = value; }
  const Settings& settings() const { return settings_; }
  Settings& settings() { return settings_; }

 protected:
  // Returns the patience for making a channel.
  Patience patience() const { return {settings_.answer_time, settings_.look}; }

 private:
  Settings settings_;
};

// Opens channels to the server at the unix-domain socket `path`.
class Local_Connector final : public Connector {
 public:
  explicit Local_Connector(std::string path) : path_(std::move(path)) {}
  std::unique_ptr<Channel> new_channel() override {
    return std::make_unique<Local_Channel>(path_, patience());
  }
  std::string name() const override { return path_; }

 private:
  const std::string path_;
};

// Reads from a channel through a buffer. All functions block until their bytes have arrived, and
// throw Connection_Lost. The channel must outlive the reader.
class Channel_Reader {
 public:
  explicit Channel_Reader(Channel& channel) : channel_(channel), buffer_(std::size_t{1} << 16) {}

  void read_exactly(char* data, std::size_t size);
  char read_byte();
  // Reads a signed 64-bit little-endian number.
  std::int64_t read_number();

 private:
  Channel& channel_;
  std::vector<char> buffer_;
  std::size_t taken_ = 0;   // number of bytes of buffer_ that have been read
  std::size_t filled_ = 0;  // number of bytes in buffer_
};

// The address of a database on a server that listens at a TCP port.
struct Tcp_Address {
  std::string host;
  std::string port = "5619";
  std::string database = "-";  // its name; "-": the only database of the server
  bool has_tls = true;

  // Parses joedb://HOST[:PORT][/DATABASE], or joedb+tcp:// for a server on this machine, without
  // TLS. An IPv6 address is in [ ]. Throws Exception if `url` is not such an address.
  static Tcp_Address parse(std::string_view url);
  std::string url() const;
};

// The files by which client and server authenticate each other.
struct Tls_Identity {
  // Certificates of the authorities that may sign the server's certificate, as PEM. Empty: the
  // authorities that this machine trusts. The server's certificate must be for the host of the
  // address.
  std::string authority_file = {};
  // Either a file whose only line is NAME:TOKEN, and that other users cannot read. Without TLS, the
  // token is sent to this machine only,
  std::string token_file = {};
  // or a certificate and its key, as PEM. Other users cannot read the key, either.
  std::string certificate_file = {};
  std::string key_file = {};
};

// Opens channels over TCP, with TLS 1.3 if the address has_tls. The system probes a connection that
// has been idle for a minute, and drops it after another minute without an answer.
class Tcp_Connector final : public Connector {
 public:
  explicit Tcp_Connector(Tcp_Address address, Tls_Identity identity = {});
  ~Tcp_Connector() override;

  // Throws Connection_Lost if the server cannot be reached, Disconnection if either side rejects
  // the other, and Exception if a file cannot be used, or if a token would be sent to another
  // machine without TLS. Connection, handshake and first answer have 10 seconds together, or
  // Settings::answer_time if that is shorter; finding the host's address takes the time of the
  // system.
  std::unique_ptr<Channel> new_channel() override;
  std::string name() const override { return address_.url(); }

 private:
  const Tcp_Address address_;
  const Tls_Identity identity_;
};

// The address of a server's unix-domain socket on another machine, and how to log in there.
struct Ssh_Address {
  std::string host;                   // name, or a Host of ~/.ssh/config
  std::string user = {};              // empty: from ~/.ssh/config, or that of this process
  int port = 0;                       // 0: from ~/.ssh/config, or 22
  std::string path = {};              // of the socket
  std::string known_hosts_file = {};  // empty: ~/.ssh/known_hosts and the system's file
  std::string identity_file = {};     // a private key; empty: the keys of ~/.ssh and of the agent
};

// Opens channels through an SSH server to a joedb_server on the same machine, which needs no port
// and no certificate of its own. Part of the library joedb_ssh, which is built if libssh is
// available.
//
// The host must be known, and the user must be able to log in with a key: no password is asked for.
// The system probes a connection that has been idle for a minute, and drops it after another minute
// without an answer.
class Ssh_Connector final : public Connector {
 public:
  explicit Ssh_Connector(Ssh_Address address) : address_(std::move(address)) {}

  // Throws Connection_Lost if the machine or the socket cannot be reached, Disconnection if either
  // machine rejects the other. Each step waits for at most 10 seconds.
  std::unique_ptr<Channel> new_channel() override;
  // Returns "ssh USER@HOST:PATH".
  std::string name() const override;

 private:
  const Ssh_Address address_;
};

}  // namespace joedb::inline v1

#endif
