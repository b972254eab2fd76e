#ifndef JOEDB_CLUSTER_LOG_CONNECTION_H
#define JOEDB_CLUSTER_LOG_CONNECTION_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "joedb/base/log.h"
#include "joedb/base/process_mark.h"
#include "joedb/base/system.h"
#include "joedb/cluster/replicated_log.h"
#include "joedb/replica/connection.h"

namespace joedb::inline v1 {

// Options of a Log_Connection.
struct Log_Settings {
  // Another client may take a lock that was not renewed for this time: 0.1 s to 24 hours. It should
  // be longer than the log needs to replace a failed machine (some 10 s).
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // Renews the lock in time, in a separate thread: the logger must be thread-safe then.
  bool renews_lock = true;
  // Opening the connection fails if the log promises less.
  Durability required = Durability::unknown;
  // Name of this client, for clients that wait for its lock; empty: host and process number.
  std::string owner = {};
  // Called when this client has waited for the lock for a second, and again if the owner changes:
  // `owner` holds the lock.
  std::function<void(const std::string& owner)> on_wait = {};
  // Opens, for reading, the file to which the oldest part of the journal was moved. By default,
  // `place` is the path of a file.
  std::function<std::unique_ptr<Abstract_File>(const std::string& place)> open_archive = {};
};

// A journal on a replicated log, which can be pulled from and pushed to as any other copy.
//
// A push is one message, or several if it is large, appended after the last message that this
// connection knows. If another writer was faster, nothing is appended. So exactly one of two
// writers wins, with or without the lock, and a client that has lost its lock to another client
// cannot push unnoticed. Each push carries a hash of the whole journal, which is compared with the
// local copy.
//
// If the log throws Connection_Lost, the request is repeated without limit, with randomized backoff
// from 0.1 s to 10 s, and a log line each time. A repeated append takes effect once. A push throws
// Connection_Lost in one case only: its append was not answered, and meanwhile an archive has
// replaced the messages there, so that the bytes in the archive may be from another client.
//
// Functions throw Missing_Message if the log has lost or damaged a message on all machines: nothing
// is pushed then, and the local copy is not changed. They throw Disconnection if the messages are
// not those of a journal. Source of the format: src/share/cluster/message.h.
//
// Not thread-safe.
class Log_Connection final : public Connection {
 public:
  // `log`, `logger` and `system` must outlive the connection. Throws Connection_Lost if the log
  // does not answer for 15 s; Disconnection if it has no journal (create() makes one), or promises
  // less than is required; Exception if the lease is out of range.
  explicit Log_Connection(Replicated_Log& log, Logger& logger = Logger::none(),
                          System& system = System::real(), const Log_Settings& settings = {});
  ~Log_Connection() override;

  // Writes the first message of an empty journal. Throws Disconnection if the log already has
  // messages, unless they are from another call that was interrupted.
  static void create(Replicated_Log& log, System& system = System::real());

  // Returns the promise that the log made when the connection was opened.
  const Replicated_Log::Promise& promise() const;

  bool can_push() const override;
  bool can_wait() const override { return true; }
  bool can_push_without_lock() const override { return true; }
  Offset get_checkpoint() const override;
  // `fast` compares at most the last 16 KiB and, if `end` is inside a push, the bytes of that push.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  // Calls the receiver for whole pushes, whenever 16 MiB have arrived, and at the end. Requires an
  // earlier call of compare().
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  // Tries once. If that fails, the lock expires.
  void unlock() noexcept override;

  // The state of the log when status() was called.
  struct Status {
    Replicated_Log::Number messages = 0;  // number of the last message
    Offset checkpoint = 0;
    std::string lock_owner;  // empty: the lock is free
    std::string archive;     // place of the removed part of the journal; empty: none
    Offset archive_end = 0;  // end of the archive
  };
  Status status();

  // Tells readers that a copy of `file` is at `place` (Log_Settings::open_archive), and has all
  // pushes that end at or before `end`, which is its checkpoint. Compares all its bytes. Returns
  // the number of the first message that must stay in the log: earlier messages can be removed.
  // Throws Content_Mismatch if `file` is not a copy, Disconnection if another archive has more.
  Replicated_Log::Number append_archive(const Abstract_File& file, Offset end,
                                        const std::string& place);

 private:
  class Session;
  const Process_Owned<Session> session_;
};

}  // namespace joedb::inline v1

#endif
