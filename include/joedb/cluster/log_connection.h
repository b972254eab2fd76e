#ifndef JOEDB_CLUSTER_LOG_CONNECTION_H
#define JOEDB_CLUSTER_LOG_CONNECTION_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/replica/client.h"

namespace joedb::inline v1 {

// The failures that a message survives after its append was acknowledged, in increasing order.
enum class Durability {
  unknown,  // the log does not say
  process,  // the end of a process of the log, but not the loss of a machine
  machine,  // the loss of one machine, but not a power cut of all machines
  power     // a power cut of all machines
};
// Returns a text such as "survives a power cut of all machines".
const char* text_of(Durability durability);

// A log of messages that is replicated on several machines, such as a stream of NATS JetStream. All
// machines have the messages in the same order. A message is appended only if the last message of
// the log is the last message that its writer knows. An append is acknowledged when most machines
// have the message. Log_Connection makes such a log a Connection. Derive from this class to
// implement another kind of log.
//
// Messages are numbered 1, 2, 3 and so on, without gaps. The first messages may have been moved to
// an archive.
//
// Functions throw Connection_Lost if no answer arrives in time; the call can be repeated then. They
// throw Disconnection if the log refuses the request. Not thread-safe.
class Replicated_Log {
 public:
  using Number = std::int64_t;

  Replicated_Log() = default;
  virtual ~Replicated_Log() = default;
  Replicated_Log(const Replicated_Log&) = delete;
  Replicated_Log& operator=(const Replicated_Log&) = delete;

  // Returns a URL without secrets, for error messages.
  virtual std::string name() const = 0;
  // False for a copy that follows another log. The result never changes.
  virtual bool can_append() const = 0;
  // Returns the maximum size of a message in bytes, at least 64 KiB. It may change when the
  // connection is reestablished.
  virtual std::size_t max_message_size() const = 0;
  // Returns the maximum number of messages that can be appended atomically, at least 1.
  virtual std::size_t max_batch() const = 0;

  struct Range {
    Number first = 1;  // number of the first message in the log
    Number last = 0;   // number of the last message; 0 if there is none yet
  };
  // Asks the leader, the machine that orders the messages, for the range of messages. The answer
  // may be stale, because a deposed leader may answer before it learns of the new leader.
  virtual Range range() = 0;

  // Appends messages if the last message in the log has number `last`. Returns true if the messages
  // have the numbers after `last`, and most machines have them. Returns false if the log has other
  // messages after `last`: nothing was appended, except perhaps by an earlier call.
  //
  // Throws Message_Too_Large, and appends nothing, if a message is larger than the current
  // max_message_size(). After Connection_Lost, the messages may have been appended, or may be
  // appended later, because they may still be in flight. It is safe to append the same messages
  // with the same `last` again.
  virtual bool append(std::span<const std::string> messages, Number last) = 0;

  // Returns a message. If the message is the next after the end of the log, waits for it, for at
  // most `wait`; returns nullopt if it has not arrived by then. Sequential reads are fast.
  //
  // Throws Missing_Message if there are later messages, and no machine that was asked has this
  // message.
  virtual std::optional<std::string> read(Number number, System::Duration wait) = 0;
  // Returns the same message from another machine, if possible from a different machine each time.
  // Call this when read() has returned damaged bytes. Returns nullopt if that machine does not have
  // the message.
  virtual std::optional<std::string> read_elsewhere(Number number) = 0;

  struct Promise {
    Durability durability = Durability::unknown;
    std::string reason = {};  // in words
  };
  virtual Promise promise() = 0;

  // Returns a number that grows whenever a lost connection to the machines is reestablished: the
  // machines may have lost messages that were read before. After the first call of this function,
  // append() throws Connection_Lost if the number has grown since the last call of this function.
  virtual std::int64_t reconnections() const { return 0; }
};

// A message of a replicated log is missing or damaged on all machines that were asked, although
// there are later messages. The log must not be written until it is repaired.
class Missing_Message : public Disconnection {
 public:
  Missing_Message(const std::string& what, Replicated_Log::Number message)
      : Disconnection(what), number(message) {}
  const Replicated_Log::Number number;
};

// A message was not appended, because it is larger than the current limit of the log. Smaller
// messages can be appended.
class Message_Too_Large : public Disconnection {
 public:
  using Disconnection::Disconnection;
};

// Options of a Log_Connection.
struct Log_Settings {
  // If a lock was not renewed for this time, another client may take it: 0.1 s to 24 hours. The
  // lease should be longer than the time that the log needs to replace a failed machine (some 10
  // s).
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // If true, a separate thread renews the lock before it expires; the logger must be thread-safe
  // then.
  bool renews_lock = true;
  // Opening the connection fails if the log promises less.
  Durability required = Durability::unknown;
  // Name of this client, shown to clients that wait for its lock. If empty, the name is made of the
  // host and the process number.
  std::string owner = {};
  // Called when this client has waited for the lock for a second, and again if the owner changes.
  // `owner` is the name of the client that holds the lock.
  std::function<void(const std::string& owner)> on_wait = {};
  // As in Connector::Settings. retry_time: how long a request is repeated after the log has thrown
  // Connection_Lost. on_retry: called when this begins. look: called during the pauses between the
  // tries.
  System::Duration retry_time = std::chrono::seconds(60);
  std::function<void(const std::string& reason)> on_retry = {};
  std::function<void()> look = {};
  // Opens the archive, the file to which the oldest part of the journal was moved, for reading. By
  // default, `place` is the path of a file.
  std::function<std::unique_ptr<Abstract_File>(const std::string& place)> open_archive = {};
};

// A connection to a journal on a replicated log.
//
// A push is one message, or several messages if it is large. It is appended after the last message
// that this connection knows; if another writer has appended a message since, nothing is appended.
// So exactly one of two concurrent pushes succeeds, with or without the lock, and a client that has
// lost its lock to another client cannot push unnoticed. Each push contains a hash of the whole
// journal, which is compared with the local copy.
//
// If the log throws Connection_Lost, the request is repeated for Log_Settings::retry_time, with
// randomized backoff from 0.1 s to 10 s, and a log line for each try. Then Connection_Lost is
// thrown, whose text names the log, the time and the last reason. A repeated append takes effect
// once. If a push throws Connection_Lost, it may have arrived. A push also throws Connection_Lost
// if its append was not answered, and an archive has since replaced the messages at its place: the
// bytes in the archive may be from another client.
//
// Functions throw Missing_Message if a message is lost or damaged on all machines; nothing is
// pushed then, and the local copy is not changed. They throw Disconnection if the messages do not
// form a journal. src/share/cluster/message.h describes the format of messages.
//
// Not thread-safe.
class Log_Connection final : public Connection {
 public:
  // `log`, `logger` and `system` must outlive the connection. Throws Connection_Lost if the log
  // does not answer for 15 s, Disconnection if it has no journal (create() makes one) or does not
  // promise the required durability, and Exception if the lease is out of range.
  explicit Log_Connection(Replicated_Log& log, Logger& logger = Logger::none(),
                          System& system = System::real(), const Log_Settings& settings = {});
  ~Log_Connection() override;

  // Writes the first message of an empty journal. Throws Connection_Lost if the log does not answer
  // for 15 s, and Disconnection if the log already has messages, unless they are from an
  // interrupted call of create().
  static void create(Replicated_Log& log, System& system = System::real());

  // Returns the promise that the log made when the connection was opened.
  const Replicated_Log::Promise& promise() const;

  bool can_push() const override;
  bool can_wait() const override { return true; }
  bool can_push_without_lock() const override { return true; }
  Offset get_checkpoint() const override;
  // With `fast`, compares at most the last 16 KiB and, if `end` is inside a push, the bytes of this
  // push.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  // Calls the receiver whenever 16 MiB have arrived, and at the end, always for whole pushes.
  // Requires an earlier call of compare().
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  // Tries once to release the lock. If this fails, the lock expires.
  void unlock() noexcept override;

  // The state of the log when status() was called.
  struct Status {
    Replicated_Log::Number messages = 0;  // number of the last message
    Offset checkpoint = 0;
    std::string lock_owner;  // empty if the lock is free
    std::string archive;     // place of the removed part of the journal; empty if there is none
    Offset archive_end = 0;  // end of the archive
  };
  Status status();

  // Records in the log that `place` holds an archive (Log_Settings::open_archive): a copy of
  // `file`, with all pushes that end at or before `end`, the checkpoint of `file`. Compares all
  // bytes of `file` with the journal. Returns the number of the first message that must stay in the
  // log; earlier messages can be removed. Throws Content_Mismatch if `file` is not a copy of the
  // journal, and Disconnection if another archive has more pushes.
  Replicated_Log::Number append_archive(const Abstract_File& file, Offset end,
                                        const std::string& place);

 private:
  class Session;
  const Process_Owned<Session> session_;
};

}  // namespace joedb::inline v1

#endif
