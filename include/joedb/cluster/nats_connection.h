#ifndef JOEDB_CLUSTER_NATS_CONNECTION_H
#define JOEDB_CLUSTER_NATS_CONNECTION_H

#include <string>

#include "joedb/cluster/log_connection.h"
#include "joedb/cluster/nats_log.h"

namespace joedb::inline v1 {

// A journal on a cluster of NATS servers. Link joedb::nats.
//
//     joedb::Nats_Connection connection("nats://a,b,c/city");
//     city::Client client(file, connection);
//
// `joedb nats create nats://a,b,c/city` makes the journal. docs/cluster.md describes how to set up
// the servers, and what an acknowledged transaction survives.
class Nats_Connection final : public Connection {
 public:
  // `logger` must outlive the connection. Throws what Nats_Address::parse, Nats_Log and
  // Log_Connection throw: Connection_Lost if no server can be reached, Disconnection if there is no
  // such journal, or if its promise is less than Log_Settings::required.
  explicit Nats_Connection(const std::string& url, Logger& logger = Logger::none(),
                           const Nats_Settings& settings = {},
                           const Log_Settings& log_settings = {})
      : log_(Nats_Address::parse(url), settings, logger),
        connection_(log_, logger, System::real(), log_settings) {}

  // Returns the promise that the log made when the connection was opened.
  const Replicated_Log::Promise& promise() const { return connection_.promise(); }

  // As in Log_Connection.
  bool can_push() const override { return connection_.can_push(); }
  bool can_wait() const override { return connection_.can_wait(); }
  bool can_push_without_lock() const override { return connection_.can_push_without_lock(); }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override {
    connection_.compare(local, start, end, check);
  }
  void pull(const Pull& pull, const Receive& receive) override { connection_.pull(pull, receive); }
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override {
    connection_.push(local, end, level, after);
  }
  void unlock() noexcept override { connection_.unlock(); }

 private:
  Nats_Log log_;
  Log_Connection connection_;
};

}  // namespace joedb::inline v1

#endif
