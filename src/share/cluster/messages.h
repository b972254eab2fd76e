#ifndef JOEDB_SRC_SHARE_CLUSTER_MESSAGES_H
#define JOEDB_SRC_SHARE_CLUSTER_MESSAGES_H

#include <memory>
#include <string>
#include <utility>

#include "joedb/base/log.h"
#include "joedb/cluster/log_connection.h"
#include "share/cluster/message.h"

namespace joedb::inline v1 {

// A message in both forms: its bytes, and its decoded content. The constructor throws
// Corruption_Error.
struct Received_Message {
  explicit Received_Message(std::string all)
      : bytes(std::move(all)), content(decode_message(bytes)) {}
  // Not copyable, because the text of `content` points into `bytes`.
  Received_Message(const Received_Message&) = delete;
  Received_Message& operator=(const Received_Message&) = delete;
  const std::string bytes;
  const Message content;
};

// Reads the messages of a log that carries a journal. If a message is damaged, reads it from
// another machine.
class Messages {
 public:
  // `log` and `logger` must outlive the object.
  Messages(Replicated_Log& log, Logger& logger) : log_(log), logger_(logger) {}

  // Like Replicated_Log::read, but returns null where that function returns nullopt. Also throws
  // Missing_Message if the message is damaged on all machines.
  std::unique_ptr<Received_Message> read(Replicated_Log::Number number, System::Duration wait);
  // Reads a message that is known to be in the log. Throws Missing_Message if it does not arrive
  // within 10 s.
  std::unique_ptr<Received_Message> read_known(Replicated_Log::Number number);

  // Returns the number of messages whose first copy was damaged, so that another machine was asked.
  std::int64_t damaged() const { return damaged_; }

 private:
  Replicated_Log& log_;
  Logger& logger_;
  std::int64_t damaged_ = 0;
};

}  // namespace joedb::inline v1

#endif
