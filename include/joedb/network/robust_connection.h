#ifndef JOEDB_NETWORK_ROBUST_CONNECTION_H
#define JOEDB_NETWORK_ROBUST_CONNECTION_H

#include <memory>

#include "joedb/base/log.h"
#include "joedb/network/channel.h"
#include "joedb/network/server_connection.h"
#include "joedb/replica/connection.h"

namespace joedb::inline v1 {

// A Server_Connection that is made anew when it is lost, as often as it takes: what was asked for
// is asked again, after pauses of 0.1 s to 10 s, each longer than the one before. A log line says
// so each time. Only a Disconnection ends it: what the server refuses, it would refuse again.
//
// After a reconnection, the copies are compared as they were at first. The lock is lost then: a
// push takes it again, and throws Conflict if somebody else has pushed meanwhile. A push whose
// reply was lost, but which the server has, is not repeated.
class Robust_Connection final : public Connection {
 public:
  // All must outlive the connection. Throws Connection_Lost if the first connection fails.
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

  // As in Server_Connection.
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
  std::unique_ptr<Server_Connection> connection_;  // null: to be made
  Offset checkpoint_ = 0;
  bool can_push_ = false;

  // What is compared after a reconnection. No file: nothing.
  const Abstract_File* local_ = nullptr;
  Offset local_checkpoint_ = 0;
  Offset compared_ = 0;  // over this connection: up to here
  Content_Check check_ = Content_Check::none;
};

}  // namespace joedb::inline v1

#endif
