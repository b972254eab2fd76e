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

// Determines how long a channel waits for the other side.
struct Patience {
  // The other side must send or accept bytes before this time is over. Bytes that arrive prolong
  // the wait by 1 s for each 4 KiB, but never beyond `time` from then on. So a short reply has a
  // fixed deadline, however slowly its bytes arrive, and a long reply must make progress. max()
  // means no limit.
  System::Duration time = System::Duration::max();
  // If not empty, called about every 20 ms while the channel waits. If it throws, the wait ends
  // with this exception.
  std::function<void()> look = {};
};

// A bidirectional byte stream between a client and a server. The destructor closes the stream.
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

  // Limits further waits. If a wait takes longer, the functions above throw Connection_Lost. After
  // that, or after an exception of Patience::look, the channel cannot be used any more. Channels of
  // this library have no limit at first. The default implementation does nothing: a derived class
  // that does not override this function waits without a limit.
  virtual void set_patience(const Patience& patience);
};

// A channel over a unix-domain socket.
class Local_Channel final : public Channel {
 public:
  // Connects to the socket at `path`. Throws Connection_Lost if this fails. Waits for at most 10
  // seconds, or less if `patience` is shorter, because a running server accepts at once.
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
    // When the connection has been idle for this time, a request is sent, because some networks
    // drop idle connections, and a server may take the lock from a silent client. 0 turns this off.
    std::chrono::milliseconds keep_alive{0};
    // If true, the hello requests the extensions of the protocol of joedb 10
    // (docs/reference/protocol.md). A server of joedb 10 ignores this request.
    bool has_extensions = true;

    // How long the server may take to answer a request (Patience::time), in addition to the time
    // for which the request asks it to wait, and to 1 s for each MiB that the server has to hash or
    // write. After that, the connection is lost. Connecting may take at most 10 seconds. max()
    // means no limit.
    System::Duration answer_time = std::chrono::seconds(30);
    // How long to wait for the lock of the server while another client holds it. After that,
    // Lock_Timeout is thrown, and the connection is lost. max() means no limit.
    System::Duration lock_time = std::chrono::seconds(60);
    // How long Robust_Connection tries to reconnect before it throws Connection_Lost. With 0, it
    // does not try; with max(), it tries for ever, as a service should.
    System::Duration retry_time = std::chrono::seconds(60);
    // Called when Robust_Connection begins to repeat a request, once for each request. `reason`
    // names the server, and says how the connection was lost.
    std::function<void(const std::string& reason)> on_retry = {};
    // Called about every 20 ms while a request waits for the server, in the thread of the request,
    // for example to check for a signal. If it throws, the request ends with this exception, and
    // the connection is lost; a Robust_Connection reconnects for the next request.
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
  // Returns the patience while a channel is being opened.
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
  std::string database = "-";  // its name; "-" means the only database of the server
  bool has_tls = true;

  // Parses joedb://HOST[:PORT][/DATABASE], or joedb+tcp://…, which means without TLS, for a server
  // on this machine. An IPv6 address must be in [ ]. Throws Exception if `url` is not such an
  // address.
  static Tcp_Address parse(std::string_view url);
  std::string url() const;
};

// The files with which client and server authenticate each other.
struct Tls_Identity {
  // Certificates (PEM) of the authorities that may sign the server's certificate. If empty, these
  // are the authorities that this machine trusts. The server's certificate must be for the host of
  // the address.
  std::string authority_file = {};
  // The client authenticates itself either by a token or by a certificate. `token_file` has a
  // single line NAME:TOKEN, and must not be readable by other users. Without TLS, the token is sent
  // only to this machine.
  std::string token_file = {};
  // A certificate and its key (PEM). The key must not be readable by other users.
  std::string certificate_file = {};
  std::string key_file = {};
};

// Opens channels over TCP, with TLS 1.3 if the address has_tls. The operating system probes a
// connection that has been idle for a minute, and drops it after another minute without an answer.
class Tcp_Connector final : public Connector {
 public:
  explicit Tcp_Connector(Tcp_Address address, Tls_Identity identity = {});
  ~Tcp_Connector() override;

  // Throws Connection_Lost if the server cannot be reached, Disconnection if either side rejects
  // the other, and Exception if a file cannot be used, or if a token would be sent to another
  // machine without TLS. Connecting, handshake and first answer together may take 10 seconds, or
  // Settings::answer_time if that is shorter. The lookup of the host name is limited only by the
  // operating system.
  std::unique_ptr<Channel> new_channel() override;
  std::string name() const override { return address_.url(); }

 private:
  const Tcp_Address address_;
  const Tls_Identity identity_;
};

// The address of the unix-domain socket of a server on another machine, and how to log in there.
struct Ssh_Address {
  std::string host;                   // name, or a Host of ~/.ssh/config
  std::string user = {};              // if empty: from ~/.ssh/config, or the user of this process
  int port = 0;                       // if 0: from ~/.ssh/config, or 22
  std::string path = {};              // path of the socket
  std::string known_hosts_file = {};  // if empty: ~/.ssh/known_hosts and the system's file
  std::string identity_file = {};     // a private key; if empty: the keys of ~/.ssh and the agent
};

// Opens channels through an SSH server to a joedb_server on the machine of the SSH server. The
// joedb_server then needs no port and no certificate. Part of the library joedb_ssh, which is built
// if libssh is available.
//
// The host must be known, and the user must be able to log in with a key, because no password is
// requested. The operating system probes a connection that has been idle for a minute, and drops it
// after another minute without an answer.
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
