#ifndef JOEDB_CLUSTER_REPLICATED_LOG_H
#define JOEDB_CLUSTER_REPLICATED_LOG_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "joedb/base/error.h"
#include "joedb/base/system.h"

namespace joedb::inline v1 {

// What survives of a message whose append was acknowledged, in increasing order.
enum class Durability {
  unknown,  // the log did not say
  process,  // the end of a process of the log, not that of a machine
  machine,  // the loss of one machine, not a power cut of all
  power     // a power cut of all machines
};
// "survives a power cut of all machines"
const char* text_of(Durability durability);

// A log of messages that several machines keep, such as a stream of NATS JetStream: it has one
// order, a message is appended only behind the last one that the writer knows, and an
// acknowledgement is given for what most of the machines have. Log_Connection makes a Connection
// of it. Derive from this for a log of another kind.
//
// Messages have the numbers 1, 2, 3 and so on, without gaps. The first ones may have been removed
// behind an archive.
//
// Functions throw Connection_Lost where no answer came in time, and can be repeated then; and
// Disconnection where the log refuses. One thread at a time calls them.
class Replicated_Log {
 public:
  using Number = std::int64_t;

  Replicated_Log() = default;
  virtual ~Replicated_Log() = default;
  Replicated_Log(const Replicated_Log&) = delete;
  Replicated_Log& operator=(const Replicated_Log&) = delete;

  // For messages of errors: a URL, without secrets.
  virtual std::string name() const = 0;
  // False for a copy that follows another log. Does not change.
  virtual bool can_append() const = 0;
  // A size that every message may have, in bytes: at least 64 KiB.
  virtual std::size_t max_message_size() const = 0;
  // So many messages can be appended at once: all of them or none. At least 1.
  virtual std::size_t max_batch() const = 0;

  struct Range {
    Number first = 1;  // that is there
    Number last = 0;   // 0: there is none yet
  };
  // An answer of the machine that orders the messages. It may be late: of a moment before the call,
  // where that machine does not know yet that it is none any more.
  virtual Range range() = 0;

  // Appends messages, if the last one is number `last`, and returns true: they have the numbers
  // that follow, and most machines have them. Returns false if there are more than `last`: nothing
  // was appended, unless by an earlier call.
  //
  // After Connection_Lost, nobody knows whether they were appended, or will be: what was sent may
  // still be on its way. Appending the same with the same `last` is safe.
  virtual bool append(std::span<const std::string> messages, Number last) = 0;

  // Message number `number`; waits for it, at most so long, if it is the next one, and returns
  // nothing if it has not come. Reading numbers in their order is fast.
  //
  // Throws Missing_Message if there are later ones, and no machine that was asked has this one.
  virtual std::optional<std::string> read(Number number, System::Duration wait) = 0;
  // The same message of a machine, each time of another one if possible: read() has returned
  // damaged bytes. Returns nothing if that machine does not have it.
  virtual std::optional<std::string> read_elsewhere(Number number) = 0;

  struct Promise {
    Durability durability = Durability::unknown;
    std::string reason = {};  // for people
  };
  virtual Promise promise() = 0;

  // Grows when a connection to the machines was lost and made again: what was seen before may have
  // been lost there since. Once this was called, append() throws Connection_Lost where it has grown
  // since the last call.
  virtual std::int64_t reconnections() const { return 0; }
};

// A message of a replicated log is missing or damaged on all machines that were asked, though later
// ones are there: the log must not be written until it is repaired.
class Missing_Message : public Disconnection {
 public:
  Missing_Message(const std::string& what, Replicated_Log::Number message)
      : Disconnection(what), number(message) {}
  const Replicated_Log::Number number;
};

}  // namespace joedb::inline v1

#endif
