#ifndef JOEDB_SRC_SHARE_CLUSTER_MESSAGES_H
#define JOEDB_SRC_SHARE_CLUSTER_MESSAGES_H

#include <memory>
#include <string>
#include <utility>

#include "joedb/base/log.h"
#include "joedb/cluster/log_connection.h"
#include "share/cluster/message.h"

namespace joedb::inline v1 {

// A message as bytes, and decoded. The constructor throws Corruption_Error.
struct Received_Message {
  explicit Received_Message(std::string all)
      : bytes(std::move(all)), content(decode_message(bytes)) {}
  // The text of the content points into the bytes.
  Received_Message(const Received_Message&) = delete;
  Received_Message& operator=(const Received_Message&) = delete;
  const std::string bytes;
  const Message content;
};

// Reads the messages of a log that carries a journal. Reads a damaged message from other machines.
class Messages {
 public:
  // `log` and `logger` must outlive the object.
  Messages(Replicated_Log& log, Logger& logger) : log_(log), logger_(logger) {}

  // As Replicated_Log::read; returns null instead of nullopt. Also throws Missing_Message if all
  // machines have damaged bytes.
  std::unique_ptr<Received_Message> read(Replicated_Log::Number number, System::Duration wait);
  // Reads a message that the log has. Throws Missing_Message if it does not arrive within 10 s.
  std::unique_ptr<Received_Message> read_known(Replicated_Log::Number number);

  // Returns how many reads first got damaged bytes, and so asked another machine.
  std::int64_t damaged() const { return damaged_; }

 private:
  Replicated_Log& log_;
  Logger& logger_;
  std::int64_t damaged_ = 0;
};

}  // namespace joedb::inline v1

#endif
