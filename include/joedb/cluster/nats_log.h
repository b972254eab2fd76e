#ifndef JOEDB_CLUSTER_NATS_LOG_H
#define JOEDB_CLUSTER_NATS_LOG_H

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "joedb/base/log.h"
#include "joedb/base/process_mark.h"
#include "joedb/cluster/nats_address.h"
#include "joedb/cluster/nats_stream.h"
#include "joedb/cluster/replicated_log.h"

namespace joedb::inline v1 {

// A log that is a stream of NATS JetStream. Link joedb::nats.
//
// A message is appended by its expected last sequence, and by nothing else: repeating it is safe.
// Several are appended as one atomic batch, where the stream allows it.
//
// The connection is made again when it is lost, to any server of the cluster; a log line says so.
// Every function ends: a request after Nats_Settings::answer_time (more for large batches), the
// search for a message after search_time, both again for each server that has to be asked.
class Nats_Log final : public Replicated_Log {
 public:
  // The logger must outlive the log. Throws Connection_Lost if no server can be reached, or the
  // leader of the stream does not answer for 15 s,
  // Disconnection if they refuse, if there is no such stream (`joedb nats create` makes it), or if
  // it may drop messages; Exception for files that cannot be used.
  explicit Nats_Log(const Nats_Address& address, const Nats_Settings& settings = {},
                    Logger& logger = Logger::none());
  ~Nats_Log() override;

  // The URL, without user and password.
  std::string name() const override;
  // False for a mirror, which is read alone: what it does not have yet is not there.
  bool can_append() const override;
  // At most 512 KiB.
  std::size_t max_message_size() const override;
  std::size_t max_batch() const override;

  Range range() override;
  bool append(std::span<const std::string> messages, Number last) override;
  // A sequence that is missing is never skipped: the other servers are asked for it.
  std::optional<std::string> read(Number number, System::Duration wait) override;
  std::optional<std::string> read_elsewhere(Number number) override;

  // `power` if there are three replicas, and all servers that have one sync before they acknowledge
  // (sync_interval: always) and say so at their monitoring port; `machine` for three replicas
  // otherwise, `process` for fewer, `unknown` for fewer if nobody could be asked. A mirror promises
  // as much as it would as a log of its own. The monitoring port is asked with libcurl; without it,
  // nobody is.
  Promise promise() override;
  std::int64_t reconnections() const override;

  Nats_Stream_State state();

 private:
  class Reader;
  const Process_Owned<Reader> reader_;
};

}  // namespace joedb::inline v1

#endif
