#ifndef SERVER_SERVER_CORE_H
#define SERVER_SERVER_CORE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "io/staged_file.h"
#include "joedb/base/log.h"
#include "joedb/base/system.h"
#include "server/served_journal.h"

namespace joedb::server {

using Session_Id = std::int64_t;

// What the core of a server needs of its surroundings: sockets and threads, or a simulation.
class Server_Host {
 public:
  virtual ~Server_Host() = default;

  // Sends the bytes, then calls Server_Core::sent. The core waits for that before it sends more.
  virtual void send(Session_Id session, std::string bytes) = 0;
  // Reads some bytes, and calls Server_Core::received once, or closed.
  virtual void receive(Session_Id session) = 0;
  // Ends a connection. There is no other call about it, in either direction.
  virtual void close(Session_Id session) = 0;

  enum class Lane { journal, hashes, disk };  // disk: reads and writes that may wait for it
  static constexpr std::size_t lane_count = 3;
  // Calls work() elsewhere, and then done(). Works of a lane come one after the other. Neither
  // throws.
  virtual void run(Lane lane, std::function<void()> work, std::function<void()> done) = 0;
};

// The sessions of a server, and what they ask for: the protocol without sockets, threads and
// clocks. It never waits: what may take long is given to the host.
//
// Invariants:
//
// 1. A push is staged until all its bytes have come, and only then given to the journal: a push
// that
//    is cut off, refused or late leaves nothing.
// 2. Only the session that holds the lock pushes, from the checkpoint on.
// 3. A session sends one reply for each request, in their order.
// 4. A session has at most max_input bytes waiting, one block to be sent, and one staged push.
//
// Not thread-safe: the host calls it from one thread, also done().
class Server_Core {
 public:
  struct Limits {
    System::Duration lock_time{};  // a lock without traffic; 0: no limit
    System::Duration hello_time = std::chrono::seconds(10);
    // A session that sends no request, or does not go on with a push, or with reading a reply, for
    // so long, up to a quarter more; 0: no limit.
    System::Duration idle_time{};
    std::size_t max_sessions = 10'000;
  };

  // All must outlive the core. `scratch`: how the names of files for large pushes begin.
  // `database` is for the log.
  Server_Core(Served_Journal& journal, Server_Host& host, System& system, Logger& log,
              Limits limits, std::string scratch, std::string database = "");
  Server_Core(const Server_Core&) = delete;
  Server_Core& operator=(const Server_Core&) = delete;

  // ---- called by the host

  // Somebody has connected. Sessions are counted from 0. Nothing if there are too many. `name` is
  // for log lines. Who may not push is told that the server can only be read, and gets no lock.
  std::optional<Session_Id> connected(const std::string& name = "", bool may_push = true);
  // The id that connected() gives next.
  Session_Id next_session() const { return next_session_; }
  void received(Session_Id session, std::string_view bytes);
  void sent(Session_Id session);
  // The connection is lost, or the other side has closed it.
  void closed(Session_Id session);
  // When tick() should be called.
  std::optional<System::Time> next_deadline() const;
  void tick();

  // Others have written to the file, or to the other copy: takes what is there, and wakes those who
  // wait for it.
  void refresh();

  // What the core has done, and what it is doing.
  struct Status {
    Offset checkpoint = 0;
    bool can_push = false;
    std::size_t sessions = 0;
    std::size_t waiting_for_lock = 0;
    std::optional<Session_Id> lock_holder;
    std::string lock_holder_name;
    System::Duration lock_held{};  // for so long
    std::uint64_t pulls = 0;
    std::uint64_t bytes_sent = 0;  // of the journal
    std::uint64_t pushes = 0;
    std::uint64_t bytes_pushed = 0;
    std::uint64_t pushes_refused = 0;
    std::uint64_t locks_lost = 0;  // of silent clients
  };
  Status status() const;

 private:
  enum class Phase {
    hello,    // waits for the first message
    ready,    // waits for a request
    working,  // the host works for this session
    waiting,  // for new bytes, or the end of its time
    locking,  // is in lock_queue_
    sending,  // the blocks of a reply
    pushing   // receives the bytes of a push
  };
  struct Session {
    Session_Id id = 0;
    std::string name;
    bool may_push = true;
    bool has_extensions = false;
    Phase phase = Phase::hello;
    bool must_end = false;  // after what is being sent
    std::string input;
    bool is_receiving = false;
    System::Time deadline{};  // of the phases hello and waiting
    System::Time last_progress{};

    // The request.
    char code = 0;
    std::int64_t wait = 0;
    Offset from = 0;
    Offset until = 0;
    Offset position = 0;  // of what is sent, or has been pushed
    char refusal = 0;     // of a push whose bytes are dropped
    std::shared_ptr<Staged_File> staged;
  };

  Session* find(Session_Id id);
  void process(Session_Id id);
  bool take_one(Session& session);
  bool take_hello(Session& session);
  bool take_status_request(Session& session);
  bool take_request(Session& session);
  bool take_pushed(Session& session);
  void receive(Session& session);
  void reply(Session& session, std::string bytes, Offset from = 0, Offset until = 0);
  void reply_number(Session& session, char c, std::int64_t number, Offset from, Offset until);
  void send_block(Session& session, std::string bytes);
  void read_and_send(Session& session, std::string bytes, std::size_t size);
  void send(Session& session, std::string bytes, std::size_t size);
  void end(Session_Id id, std::string_view why, std::string_view error = {});
  void forget(Session_Id id);

  void check(Session& session, Offset checkpoint, std::string hash);
  void read(Session& session, Offset from, Offset until);
  void pull(Session& session);
  void wait_or_lock(Session& session);
  void lock_or_answer(Session& session);
  void answer_pull(Session& session);
  void wake();
  void refresh_if_free();

  void begin_push(Session& session);
  void start_push(Session& session);
  void stage_on_disk(Session& session, std::string bytes);
  void end_push(Session& session);
  void finish_push(Session& session);

  void unlock(Session& session);
  void ask_for_lock(Session& session);
  void grant();
  void release();
  void restart_lock_time();
  void note_progress(Session& session);
  void end_idle_sessions();
  void set_deadline(Session& session, System::Duration duration);
  void clear_deadline(const Session& session);

  // Calls work() in a lane, then done(error), with an empty text if it did not throw.
  void run(Server_Host::Lane lane, std::function<void()> work,
           std::function<void(const std::string& error)> done);
  // The same for work with the journal, at once if it takes no time. Then takes its new state.
  void run(std::function<void()> work, std::function<void(const std::string& error)> done);
  bool can_push(const Session& session) const { return can_push_ && session.may_push; }
  // Writes an event of a session to the log; an error is left out if it is empty.
  void log(const Session& session, std::string_view event, std::string_view error = {});

  Served_Journal& journal_;
  Server_Host& host_;
  System& system_;
  Logger& log_;
  const Limits limits_;
  const std::string scratch_;
  const std::string database_;

  std::map<Session_Id, Session> sessions_;
  Session_Id next_session_ = 0;
  Offset checkpoint_;  // of the journal, when the host worked last
  bool can_push_;      // so is this
  bool could_push_;    // has been so
  std::optional<Session_Id> holder_;
  bool is_locked_ = false;  // the journal is: Served_Journal::begin
  bool is_lock_changing_ = false;
  std::optional<System::Time> lock_deadline_;
  std::optional<System::Time> idle_check_;  // when end_idle_sessions is called
  std::deque<Session_Id> lock_queue_;
  std::set<std::pair<System::Time, Session_Id>> deadlines_;  // of sessions
  std::uint64_t staged_count_ = 0;
  bool is_refreshing_ = false;
  bool must_refresh_ = false;
  std::optional<System::Time> refresh_time_;  // when it looks again, after a failure
  std::string refresh_error_;                 // the last one; empty: it has succeeded
  System::Time locked_since_{};
  Status counters_;  // only the counters of it
};

}  // namespace joedb::server

#endif
