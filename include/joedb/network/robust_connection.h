#ifndef JOEDB_NETWORK_ROBUST_CONNECTION_H
#define JOEDB_NETWORK_ROBUST_CONNECTION_H

#include <memory>

#include "joedb/base/log.h"
#include "joedb/network/channel.h"
#include "joedb/network/server_connection.h"
#include "joedb/replica/connection.h"

namespace joedb::inline v1 {

// A Server_Connection that reconnects when the channel is lost, and repeats the interrupted
// request. It retries without limit, with randomized exponential backoff from 0.1 s to 10 s, and
// logs each retry. Only Connection_Lost is retried: a request that the server refuses
// (Disconnection) would be refused again.
//
// After a reconnection, it compares the copies again, with the same Content_Check. The lock is lost
// with the channel: the next push takes it again, and throws Conflict if another client has pushed
// in between. A push that has arrived is not repeated if only its reply was lost.
class Robust_Connection final : public Connection {
 public:
  // `connector`, `log` and `system` must outlive the connection. Connects, without retries: throws
  // Connection_Lost or Disconnection if that fails.
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

  // As in Server_Connection, with reconnection.
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

  // Local file to compare after a reconnection; null if none.
  const Abstract_File* local_ = nullptr;
  Offset local_checkpoint_ = 0;
  Offset compared_ = 0;  // end of the bytes compared over this connection
  Content_Check check_ = Content_Check::none;
};

}  // namespace joedb::inline v1

#endif
