#ifndef JOEDB_CLUSTER_REPLICATED_LOG_H
#define JOEDB_CLUSTER_REPLICATED_LOG_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// What a message survives after its append was acknowledged, in increasing order.
enum class Durability {
  unknown,  // the log does not say
  process,  // the end of a process of the log, not of a machine
  machine,  // the loss of one machine, not a power cut of all
  power     // a power cut of all machines
};
// Returns a text such as "survives a power cut of all machines".
const char* text_of(Durability durability);

// A log of messages that is replicated on several machines, such as a stream of NATS JetStream. It
// has one order. A message is appended only after the last message that its writer knows, and an
// append is acknowledged when most machines have the message. Log_Connection makes a Connection of
// such a log. Derive from this class for a log of another kind.
//
// Messages are numbered 1, 2, 3 and so on, without gaps. The first messages may have been removed,
// because an archive has them.
//
// Functions throw Connection_Lost if no answer arrives in time; they can be called again then. They
// throw Disconnection if the log refuses. Not thread-safe.
class Replicated_Log {
 public:
  using Number = std::int64_t;

  Replicated_Log() = default;
  virtual ~Replicated_Log() = default;
  Replicated_Log(const Replicated_Log&) = delete;
  Replicated_Log& operator=(const Replicated_Log&) = delete;

  // Returns a URL without secrets, for error messages.
  virtual std::string name() const = 0;
  // False for a copy that follows another log. Does not change.
  virtual bool can_append() const = 0;
  // Returns a size in bytes that every message may have: at least 64 KiB.
  virtual std::size_t max_message_size() const = 0;
  // Returns the number of messages that can be appended at once, all of them or none: at least 1.
  virtual std::size_t max_batch() const = 0;

  struct Range {
    Number first = 1;  // number of the first message in the log
    Number last = 0;   // number of the last message; 0: none yet
  };
  // Asks the machine that orders the messages. The answer may be stale: a deposed leader may answer
  // before it learns of its successor.
  virtual Range range() = 0;

  // Appends messages if the last message in the log is number `last`. Returns true if they have the
  // numbers that follow, and most machines have them. Returns false if there are messages after
  // `last`: nothing was appended, except perhaps by an earlier call.
  //
  // After Connection_Lost, the messages may have been appended, or may be later, since they may
  // still be in flight. It is safe to append the same messages with the same `last` again.
  virtual bool append(std::span<const std::string> messages, Number last) = 0;

  // Returns a message. If it is the next one, waits for it, for at most `wait`; returns nullopt if
  // it has not arrived then. Sequential reads are fast.
  //
  // Throws Missing_Message if there are later messages, and no machine that was asked has this one.
  virtual std::optional<std::string> read(Number number, System::Duration wait) = 0;
  // Returns the same message from another machine, if possible a different one each time. Call this
  // when read() has returned damaged bytes. Returns nullopt if that machine does not have it.
  virtual std::optional<std::string> read_elsewhere(Number number) = 0;

  struct Promise {
    Durability durability = Durability::unknown;
    std::string reason = {};  // in words
  };
  virtual Promise promise() = 0;

  // Returns a number that grows when a connection to the machines is lost and made again: they may
  // have lost messages that were seen before. After the first call of this function, append()
  // throws Connection_Lost if the number has grown since the last call.
  virtual std::int64_t reconnections() const { return 0; }
};

// A message of a replicated log is missing or damaged on all machines that were asked, although
// there are later ones. The log must not be written until it is repaired.
class Missing_Message : public Disconnection {
 public:
  Missing_Message(const std::string& what, Replicated_Log::Number message)
      : Disconnection(what), number(message) {}
  const Replicated_Log::Number number;
};

}  // namespace joedb::inline v1

#endif
