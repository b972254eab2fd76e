#ifndef JOEDB_NETWORK_SERVER_CONNECTION_H
#define JOEDB_NETWORK_SERVER_CONNECTION_H

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "joedb/base/log.h"
#include "joedb/base/mutex.h"
#include "joedb/base/process_mark.h"
#include "joedb/network/channel_reader.h"
#include "joedb/replica/connection.h"

namespace joedb::inline v1 {

// The journal of a server, joedb_server or that of joedb 10, over the server protocol of joedb 10,
// version 19.
//
//     joedb::Local_Channel channel("city.joedb.sock");
//     joedb::Server_Connection connection(channel);
//     city::Client client(file, connection);
//
// When the channel is lost, all functions throw Connection_Lost from then on, and the lock, if it
// was held, goes to somebody else: Robust_Connection makes a new one. After a reply that is not
// that of the protocol, all functions throw Disconnection; after another Disconnection, which
// refuses one request, they can be called.
//
// Source: docs/reference/protocol.md.
class Server_Connection final : public Connection {
 public:
  using Settings = Connector::Settings;
  // Says hello. `channel` and `log` must outlive the connection. Throws Connection_Lost, and
  // Disconnection if the other side does not speak the protocol.
  explicit Server_Connection(Channel& channel, Logger& log = Logger::none(),
                             const Settings& settings = {});
  // Says good bye.
  ~Server_Connection() override;

  bool can_push() const override { return can_push_; }
  bool can_wait() const override { return true; }
  // False for a server of joedb 10.
  bool can_push_without_lock() const override { return has_extensions_; }
  Offset get_checkpoint() const override { return checkpoint_; }
  std::int64_t get_session_id() const { return session_; }
  // Whether the channel is lost.
  bool is_lost() const {
    const std::lock_guard lock(using_);
    return state_ == State::lost;
  }

  // Compares a hash: of all bytes, or from 4 MiB on (`fast`) of 256 blocks. Looks at all of
  // [41, end), whatever `start` is.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override;

  // Pulls without the bytes.
  void pull_checkpoint(const Pull& pull);
  // Reads into data[0, size) what is at `offset`. Returns the number of bytes, fewer than `size`
  // only at the checkpoint.
  std::size_t read(char* data, std::size_t size, Offset offset);

 private:
  class Incoming;
  enum class State { working, refused, lost };

  template <class F>
  auto request(F&& f);
  void say_hello(bool extensions_are_wanted);
  void ask_for_checkpoint(const Pull& pull, bool has_data);
  char send_push(const Abstract_File& local, Offset end, char c);
  void send_unlock();
  void keep_alive(std::chrono::milliseconds interval);

  Channel& channel_;
  Logger& log_;
  mutable std::mutex using_;  // the channel, and what follows
  State state_ = State::working;
  std::string failure_;
  Channel_Reader input_;
  std::int64_t session_ = 0;
  Offset checkpoint_ = 0;
  bool can_push_ = false;
  bool has_extensions_ = false;
  bool is_locked_ = false;

  Condition stopping_;
  bool must_stop_ = false;
  std::chrono::steady_clock::time_point last_use_;
  std::thread keeper_;
  const Process_Mark process_;
};

}  // namespace joedb::inline v1

#endif
