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

// How a Log_Connection uses its log.
struct Log_Settings {
  // A lock that is not renewed for this time may be taken by another client: 0.1 s to 24 hours.
  // Longer than the log may need to replace a machine that has failed (some 10 s).
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // Renews the lock in time, from a thread of its own: the logger must be thread-safe then.
  bool renews_lock = true;
  // Opening the connection fails where the log promises less.
  Durability required = Durability::unknown;
  // For those who wait for the lock; empty: host and number of the process.
  std::string owner = {};
  // Called when this client has waited for the lock for a second: `owner` has it.
  std::function<void(const std::string& owner)> on_wait = {};
  // Opens the file to which the oldest part of the journal was moved, for reading. By default, the
  // text is the path of a file.
  std::function<std::unique_ptr<Abstract_File>(const std::string& place)> open_archive = {};
};

// A journal on a replicated log, to pull from and push to as from any other copy.
//
// A push is one message, or several for large ones, appended behind the last message that this
// connection knows: where another writer was faster, nothing is appended. So one of two writers
// wins, with or without the lock, and a client whose lock has expired cannot push. Each push
// carries a hash of the whole journal, which is compared with the local copy.
//
// After Connection_Lost from the log, the request is repeated, after pauses of 0.1 s to 10 s, as
// often as it takes, with a log line each time. A repeated append takes effect once. Only a push
// whose append was not answered, until an archive took the place of the messages there, throws
// Connection_Lost: nobody knows whether its bytes in the archive are those of another client.
//
// Functions throw Missing_Message where the log has lost or damaged something on all machines:
// nothing is pushed then; the local copy is not changed. They throw Disconnection where the
// messages are not those of a journal. Source of the format: src/cluster/record.h.
//
// Not thread-safe.
class Log_Connection final : public Connection {
 public:
  // All must outlive the connection. Throws Connection_Lost if the log does not answer for 15 s,
  // Disconnection if it has no journal (create() makes one), or promises less than is required.
  explicit Log_Connection(Replicated_Log& log, Logger& logger = Logger::none(),
                          System& system = System::real(), const Log_Settings& settings = {});
  ~Log_Connection() override;

  // Begins an empty journal. Throws Disconnection if the log has messages already, unless they are
  // those of another call that was interrupted.
  static void create(Replicated_Log& log, System& system = System::real());

  // As of the opening.
  const Replicated_Log::Promise& promise() const;

  bool can_push() const override;
  bool can_wait() const override { return true; }
  bool can_push_without_lock() const override { return true; }
  Offset get_checkpoint() const override;
  // `fast` looks at the last 16 KiB, and at the push in whose middle `end` is, if it is there.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  // The receiver is called for each 16 MiB, or push. compare() must have been called.
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override;

  // As of now.
  struct Status {
    Replicated_Log::Number messages = 0;  // the number of the last one
    Offset checkpoint = 0;
    std::string lock_owner;  // empty: nobody has the lock
    std::string archive;     // what readers open for what is before; empty: there is none
    Offset archive_end = 0;
  };
  Status status();

  // Tells readers that a copy of `file` is at `place` (Log_Settings::open_archive) and has all
  // pushes that end up to position `end`, its checkpoint. Compares all its bytes. Returns the
  // number of the first message that must stay in the log: those before it can be removed. Throws
  // Content_Mismatch if it is no copy.
  Replicated_Log::Number append_archive(const Abstract_File& file, Offset end,
                                        const std::string& place);

 private:
  class Session;
  const Process_Owned<Session> session_;
};

}  // namespace joedb::inline v1

#endif
