#ifndef JOEDB_NETWORK_SERVER_CONNECTION_H
#define JOEDB_NETWORK_SERVER_CONNECTION_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/io/file.h"
#include "joedb/network/channel.h"
#include "joedb/replica/client.h"

namespace joedb::inline v1 {

// ---- connections --------------------------------------------------------------------------------

class Request_Runner;

// A connection to joedb_server, or to the server of joedb 10, with version 19 of the server
// protocol.
//
//     joedb::Local_Channel channel("city.joedb.sock");
//     joedb::Server_Connection connection(channel);
//     city::Client client(file, connection);
//
// Once the channel is lost, all functions throw Connection_Lost, and the server gives the lock to
// another client; Robust_Connection reconnects. Once a reply violates the protocol, all functions
// throw Disconnection. Any other Disconnection means that the server has refused a single request;
// the connection can still be used.
//
// Source: docs/reference/protocol.md.
class Server_Connection final : public Connection {
 public:
  using Settings = Connector::Settings;
  // Performs the handshake. `channel` and `log` must outlive the connection. Throws
  // Connection_Lost, and Disconnection if the other side does not speak the protocol. A request
  // waits for Settings::answer_time at most, and then throws Connection_Lost. A request for the
  // lock waits for Settings::lock_time at most, and then throws Lock_Timeout.
  explicit Server_Connection(Channel& channel, Logger& log = Logger::none(),
                             const Settings& settings = {});
  // Tells the server that the session ends, unless the connection is lost.
  ~Server_Connection() override;

  bool can_push() const override { return can_push_; }
  bool can_wait() const override { return true; }
  // False if the server is of joedb 10, or if extensions were not requested.
  bool can_push_without_lock() const override { return has_extensions_; }
  Offset get_checkpoint() const override { return checkpoint_; }
  std::int64_t get_session_id() const { return session_; }
  // True if the channel is lost. Any thread may call this.
  bool is_lost() const;

  // Compares hashes of the two copies. With `full`, all bytes are hashed; with `fast`, only 256
  // blocks if there are 4 MiB or more. Always compares [41, end), and ignores `start`.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override;

  // Like pull(), but transfers no bytes.
  void pull_checkpoint(const Pull& pull);
  // Reads bytes of the server's journal from `offset` into data[0, size). Returns the number of
  // bytes read, which is less than `size` only at the checkpoint.
  std::size_t read(char* data, std::size_t size, Offset offset);

 private:
  class Incoming;

  void expect_answer(System::Duration time = {});
  void expect_lock();
  void say_hello(bool extensions_are_wanted);
  void ask_for_checkpoint(const Pull& pull, bool has_data);
  char send_push(const Abstract_File& local, Offset end, char c);
  void send_unlock();
  void send_ping();

  Channel& channel_;
  Logger& log_;
  const Settings settings_;
  Channel_Reader input_;
  std::int64_t session_ = 0;
  Offset checkpoint_ = 0;
  bool can_push_ = false;
  bool has_extensions_ = false;
  bool is_locked_ = false;
  const std::unique_ptr<Request_Runner> requests_;  // only this object uses channel_ and input_
};

// A Server_Connection that reconnects when the channel is lost, and repeats the interrupted
// request, with randomized exponential backoff from 0.1 s to 10 s, and a log line for each try.
// After Connector::Settings::retry_time (by default 60 s), it throws Connection_Lost, whose text
// names the server, the time and the last reason. The time counts from the loss of a connection
// that had worked for a second, or else from the first try; the last try may take
// Settings::answer_time more. After Connection_Lost, the request can be repeated; a push may have
// arrived. Requests that the server refuses (Disconnection) are not repeated, because they would be
// refused again.
//
// After a reconnection, this class compares the copies again, with the same Content_Check. If the
// lock was held, it is lost with the channel: the next push takes the lock again, and throws
// Conflict if another client has pushed since. If a push has arrived and only its reply was lost,
// the push is not repeated.
class Robust_Connection final : public Connection {
 public:
  // `connector`, `log` and `system` must outlive the connection. Connects, without retries: throws
  // Connection_Lost or Disconnection if this fails.
  explicit Robust_Connection(Connector& connector, Logger& log = Logger::none(),
                             System& system = System::real());
  ~Robust_Connection() override;

  bool can_push() const override { return can_push_; }
  bool can_wait() const override { return true; }
  bool can_push_without_lock() const override {
    return connection_ && connection_->can_push_without_lock();
  }
  Offset get_checkpoint() const override { return checkpoint_; }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override;

  // Like the functions of Server_Connection, but reconnect.
  void pull_checkpoint(const Pull& pull);
  std::size_t read(char* data, std::size_t size, Offset offset);

 private:
  class Compared_Now;
  void connect();
  void compare_up_to(Offset end);
  void disconnect();
  bool has_arrived(const Abstract_File& local, Offset from, Offset end);
  template <class F>
  auto retry(F&& f);

  Connector& connector_;
  Logger& log_;
  System& system_;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<Server_Connection> connection_;  // null while disconnected
  Offset checkpoint_ = 0;
  bool can_push_ = false;

  // Local file to compare after a reconnection; null if there is none.
  const Abstract_File* local_ = nullptr;
  Offset local_checkpoint_ = 0;
  Offset compared_ = 0;  // end of the bytes compared over this connection
  Content_Check check_ = Content_Check::none;
};

// ---- a file of a server -------------------------------------------------------------------------

// The journal of a server as a file, for a client without a local copy. Bytes are read from the
// server on demand, through a cache of one contiguous range. Bytes that a transaction has written
// stay in memory until they are pushed.
//
//     joedb::Local_Connector connector("city.joedb.sock");
//     joedb::Server_File file(connector);
//     city::Client client(file, file);
//
// The same object must be both the file and the connection of a client. Not thread-safe.
class Server_File final : public Abstract_File, public Connection {
 public:
  // `connector`, `log` and `system` must outlive the file. Throws the exceptions of
  // Robust_Connection.
  explicit Server_File(Connector& connector, Logger& log = Logger::none(),
                       System& system = System::real());

  // ---- the file. Its mode is shared_write. File locks do nothing, because the lock is on the
  // server.
  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Writes to memory. Throws Exception if bytes that the server has would change.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  // Throws Exception if bytes that the server has would be removed.
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

  // ---- the connection. compare() does nothing, because there is no second copy.
  bool can_push() const override { return connection_.can_push(); }
  bool can_wait() const override { return true; }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  // Throws Exception if written bytes have not been pushed. The `source` of `receive` is this file.
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override { connection_.unlock(); }

 private:
  void require_this(const Abstract_File& file) const;
  void require_same(const char* data, std::size_t size, Offset offset) const;
  void take_tail(const Abstract_File& local, Offset end);
  void set_end(Offset checkpoint);
  std::size_t read_body(char* data, std::size_t size, Offset offset) const;
  Offset cache_end() const { return cache_start_ + static_cast<Offset>(cache_.size()); }
  void fill_cache(Offset offset) const;
  void keep_tail();

  mutable Robust_Connection connection_;
  std::vector<char> header_;
  Offset end_ = 0;          // end of the server's journal
  std::vector<char> tail_;  // bytes from end_ on, not pushed yet
  mutable std::vector<char> cache_;
  mutable Offset cache_start_ = 0;
  mutable Offset read_ahead_ = 0;  // length of the last read from the server
};

}  // namespace joedb::inline v1

#endif
