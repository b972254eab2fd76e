#ifndef CLUSTER_MESSAGES_H
#define CLUSTER_MESSAGES_H

#include <memory>
#include <string>
#include <utility>

#include "cluster/record.h"
#include "joedb/base/log.h"
#include "joedb/cluster/replicated_log.h"

namespace joedb::inline v1 {

struct Message {
  explicit Message(std::string all) : bytes(std::move(all)), record(decode_record(bytes)) {}
  Message(const Message&) = delete;  // the text of the record points into the bytes
  Message& operator=(const Message&) = delete;
  const std::string bytes;
  const Record record;
};

// Reads the messages of a log that carries a journal. A damaged one is asked for at other machines.
class Messages {
 public:
  // Both must outlive this.
  Messages(Replicated_Log& log, Logger& logger) : log_(log), logger_(logger) {}

  // As Replicated_Log::read. Throws Missing_Message, too, where all machines have damaged bytes.
  std::unique_ptr<Message> read(Replicated_Log::Number number, System::Duration wait);
  // A message that the log has. Throws Missing_Message if it does not come.
  std::unique_ptr<Message> read_known(Replicated_Log::Number number);

  // So many messages were damaged, and read elsewhere.
  std::int64_t damaged() const { return damaged_; }

 private:
  Replicated_Log& log_;
  Logger& logger_;
  std::int64_t damaged_ = 0;
};

}  // namespace joedb::inline v1

#endif
