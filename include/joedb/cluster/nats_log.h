#ifndef JOEDB_CLUSTER_NATS_LOG_H
#define JOEDB_CLUSTER_NATS_LOG_H

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/cluster/nats_address.h"
#include "joedb/cluster/nats_stream.h"
#include "joedb/cluster/replicated_log.h"

namespace joedb::inline v1 {

// A log that is a stream of NATS JetStream. Link joedb::nats.
//
// Each append is guarded by the expected last sequence, and by nothing else, so it is safe to
// repeat it. Several messages are appended as one atomic batch if the stream allows that.
//
// If the connection is lost, reconnects to any server of the cluster, and logs it. Every function
// returns or throws in bounded time: a request takes up to Nats_Settings::answer_time (more for
// large batches), the search for a message up to search_time, and both start again for each server
// that has to be asked.
class Nats_Log final : public Replicated_Log {
 public:
  // `logger` must outlive the log. Throws Connection_Lost if no server can be reached, or if the
  // leader of the stream does not answer for 15 s; Disconnection if the servers refuse, if there is
  // no such stream (`joedb nats create` makes it), or if it may drop messages; Exception if a file
  // cannot be used.
  explicit Nats_Log(const Nats_Address& address, const Nats_Settings& settings = {},
                    Logger& logger = Logger::none());
  ~Nats_Log() override;

  // Returns the URL without user and password.
  std::string name() const override;
  // False for a mirror. Only the mirror is read then, so messages that it does not have yet are not
  // there.
  bool can_append() const override;
  // At most 512 KiB.
  std::size_t max_message_size() const override;
  std::size_t max_batch() const override;

  Range range() override;
  bool append(std::span<const std::string> messages, Number last) override;
  // Never skips a missing sequence: asks the other servers for it.
  std::optional<std::string> read(Number number, System::Duration wait) override;
  std::optional<std::string> read_elsewhere(Number number) override;

  // Returns
  //
  // * `power` for three or more replicas if all servers that have one sync before they acknowledge
  //   (sync_interval: always) and say so at their monitoring port,
  // * `machine` for three or more replicas otherwise,
  // * `process` for fewer,
  // * `unknown` for storage in memory, and for fewer if it is not known whether their servers sync,
  //   or if the stream acknowledges before it writes.
  //
  // A mirror promises as much as it would as a log of its own. Asking the monitoring port needs
  // libcurl; without it, no server is asked.
  Promise promise() override;
  std::int64_t reconnections() const override;

  // Asks JetStream for the state of the stream.
  Nats_Stream_State state();

 private:
  class Reader;
  const Process_Owned<Reader> reader_;
};

}  // namespace joedb::inline v1

#endif
