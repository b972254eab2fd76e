#ifndef JOEDB_SRC_SHARE_SERVER_SERVER_CORE_H
#define JOEDB_SRC_SHARE_SERVER_SERVER_CORE_H

#include <array>
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

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "kernel/io/staged_file.h"
#include "share/server/access.h"
#include "share/server/fair_queue.h"
#include "share/server/prefix_hashes.h"
#include "share/server/served_journal.h"

namespace joedb::server {

using Session_Id = std::int64_t;

// The environment of a Server_Core: real sockets and threads, or a simulation.
class Server_Host {
 public:
  virtual ~Server_Host() = default;

  // Sends the bytes, then calls Server_Core::sent. Until then, the core sends nothing else to this
  // session.
  virtual void send(Session_Id session, std::string bytes) = 0;
  // Reads some bytes, then calls Server_Core::received or Server_Core::closed, once.
  virtual void receive(Session_Id session) = 0;
  // Closes a connection. Afterwards, neither the core nor the host makes a call about this session.
  virtual void close(Session_Id session) = 0;

  // The lanes: full hashes, in steps (`hashes`); reads and writes that may wait for the disk
  // (`disk`); and the fast hashes with which clients begin (`samples`).
  enum class Lane { journal, hashes, disk, samples };
  static constexpr std::size_t lane_count = 4;
  // Calls work() outside the core's thread, and then done() in the core's thread. Each lane runs
  // one work at a time, in order. Neither function throws.
  virtual void run(Lane lane, std::function<void()> work, std::function<void()> done) = 0;
};

// Implements the sessions of a server and their protocol, without sockets, threads or clocks. A
// Server_Core never blocks: it gives the host all work that may take long.
//
// Invariants:
//
// 1. A push is staged until all its bytes have arrived, and is then given to the journal. So a push
//    that is incomplete, refused or late changes nothing.
// 2. Only the session that holds the lock may push, and its push starts at the checkpoint.
// 3. A session sends one reply to each request, in order.
// 4. A session has at most max_input bytes of input, one block to send, and one staged push.
// 5. A session has at most one piece of work in the lanes, and its size is limited. Clients take
//    turns there, by name. When a session ends, its work is dropped.
//
// Not thread-safe: the host makes all calls from one thread, including done().
class Server_Core {
 public:
  struct Limits {
    // A client loses the lock if it sends no request for this time, or if it transfers, on average
    // over this time, less than 1 KiB per second. 0: no limit.
    System::Duration lock_time{};
    System::Duration hello_time = std::chrono::seconds(10);
    // A session is ended if, for this time or up to a quarter more, it sends no request, or makes
    // no progress with sending a push or with reading a reply. 0: no limit.
    System::Duration idle_time{};
    // Maximum number of sessions, and of strangers. A stranger is a session without a name that has
    // not said hello. If either limit is reached, the oldest stranger is ended. All sessions of a
    // client with a name can be half of max_sessions.
    std::size_t max_sessions = 10'000;
    std::size_t max_strangers = 1000;
  };

  // The references must outlive the core. `scratch` is the prefix of the names of temporary files
  // for large pushes. `database` is the name to log.
  Server_Core(Served_Journal& journal, Server_Host& host, System& system, Logger& log,
              Limits limits, std::string scratch, std::string database = "");
  Server_Core(const Server_Core&) = delete;
  Server_Core& operator=(const Server_Core&) = delete;

  // ---- called by the host

  // Begins the session of a new connection. Session ids count from 0. Returns nullopt if there are
  // too many sessions. `name` is the name in the access list, or empty. A client with Role::pull
  // sees a read-only server, and cannot get the lock.
  std::optional<Session_Id> connected(const std::string& name = "", Role role = Role::admin);
  // Returns false if connected() would return nullopt.
  bool can_connect(const std::string& name) const;
  // Ends the oldest session without a name that has not said hello. Returns false if there is none.
  bool end_oldest_stranger();
  // Returns the id that the next session will get.
  Session_Id next_session() const { return next_session_; }
  void received(Session_Id session, std::string_view bytes);
  void sent(Session_Id session);
  // Ends a session whose connection was lost, or was closed by the client.
  void closed(Session_Id session);
  // Ends a session, if it exists. `why` and `error` are logged.
  void end(Session_Id session, std::string_view why, std::string_view error = {});
  // Returns the time at which tick() should be called; nullopt if there is no deadline.
  std::optional<System::Time> next_deadline() const;
  void tick();

  // Reads the entries that other writers have appended to the file or to the other copy, and wakes
  // the sessions that wait for them.
  void refresh();

  // The state of the core, and counters since it was created.
  struct Status {
    Offset checkpoint = 0;
    bool can_push = false;
    std::size_t sessions = 0;
    std::size_t waiting_for_lock = 0;
    std::optional<Session_Id> lock_holder;
    std::string lock_holder_name;
    System::Duration lock_held{};  // for how long lock_holder has held the lock
    std::uint64_t pulls = 0;
    std::uint64_t bytes_sent = 0;  // bytes of the journal
    std::uint64_t pushes = 0;
    std::uint64_t bytes_pushed = 0;
    std::uint64_t pushes_refused = 0;
    std::uint64_t locks_lost = 0;  // locks taken from silent or slow clients, or by an admin
  };
  Status status() const;

 private:
  enum class Phase {
    hello,    // waits for the hello
    ready,    // waits for a request
    working,  // waits for work that the host does
    waiting,  // waits for new entries, or for the deadline
    locking,  // waits for the lock, in lock_queue_
    sending,  // sends the blocks of a reply
    pushing   // receives the bytes of a push
  };
  struct Session {
    Session_Id id = 0;
    std::string name;
    Role role = Role::admin;
    bool has_extensions = false;
    Phase phase = Phase::hello;
    bool must_end = false;  // the session ends when its reply has been sent
    std::string input;
    bool is_receiving = false;
    System::Time deadline{};  // in phases hello and waiting
    System::Time last_progress{};

    // The current request.
    char code = 0;
    std::int64_t wait = 0;
    Offset from = 0;
    Offset until = 0;
    // The end of the bytes that were sent, or for a push received.
    Offset position = 0;
    char refusal = 0;  // 0, or the code that refuses a push; its bytes are then dropped
    std::shared_ptr<Staged_File> staged;
  };

  Session* find(Session_Id id);
  void process(Session_Id id);
  bool take_one(Session& session);
  bool take_hello(Session& session);
  bool take_question(Session& session, std::string_view word);
  bool take_request(Session& session);
  bool take_pushed(Session& session);
  void receive(Session& session);
  void reply(Session& session, std::string bytes, Offset from = 0, Offset until = 0);
  void reply_number(Session& session, char c, std::int64_t number, Offset from, Offset until);
  void send_block(Session& session, std::string bytes);
  void read_and_send(Session& session, std::string bytes, std::size_t size);
  void send(Session& session, std::string bytes, std::size_t size);
  void forget(Session_Id id);

  std::string status_text() const;
  std::string break_lock(const Session& session);

  void check(Session& session, Offset checkpoint, const std::string& hash);
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
  void push_staged(const Staged_File& staged, char& refusal);
  void restore_in_lane();
  void finish_push(Session& session);

  void unlock(Session& session);
  void ask_for_lock(Session& session);
  void grant();
  void lock_for(Session_Id id, bool is_first_try);
  void granted(Session_Id id, const std::string& error);
  void release();
  void take_lock_from(Session& session, std::string_view why);
  void restart_lock_time();
  void pause_lock_time();
  void resume_lock_time();
  void note_lock_traffic(const Session& session, std::size_t size);
  void note_progress(Session& session);
  void end_idle_sessions();
  void set_deadline(Session& session, System::Duration duration);
  void clear_deadline(const Session& session);

  // Calls work() in a lane when the session has its turn. Then calls done(session, error), unless
  // the session has ended. `error` is empty if work() did not throw.
  using Done = std::function<void(Session& session, const std::string& error)>;
  void run(Server_Host::Lane lane, Session& session, std::function<void()> work, Done done);
  void start_next(Server_Host::Lane lane);
  // True unless work on the journal can run at once: if the work may block, is long, or must wait
  // for earlier work on the journal.
  bool needs_lane(bool is_long) const {
    return journal_.may_block() || is_long || journal_works_ > 0;
  }
  // Runs work() on the journal, in the journal lane if needs_lane(is_long), otherwise at once. Then
  // updates checkpoint_ and can_push_, and calls done().
  template <class Work_Function, class Done_Function>
  void run(Work_Function work, Done_Function done, bool is_long = false);
  struct Result {
    std::string error;
    Offset checkpoint = 0;
    bool can_push = false;
  };
  void accept(const Result& result);
  bool can_push(const Session& session) const { return can_push_ && session.role != Role::pull; }
  // Logs an event of a session, with `error` unless it is empty.
  void log(const Session& session, std::string_view event, std::string_view error = {});

  struct Work {
    Session_Id session;
    std::function<void()> work;
    Done done;
  };
  struct Lane_State {
    bool is_busy = false;
    Fair_Queue<Work> queue;
  };

  Served_Journal& journal_;
  Server_Host& host_;
  System& system_;
  Logger& log_;
  const Limits limits_;
  const std::string scratch_;
  const std::string database_;

  std::map<Session_Id, Session> sessions_;
  std::set<Session_Id> strangers_;                         // in Phase::hello, without a name
  std::array<Lane_State, Server_Host::lane_count> lanes_;  // all lanes but the journal lane
  Prefix_Hashes samples_;  // used only by work in lane samples; full_hashes_: in lane hashes
  Prefix_Hashes full_hashes_;
  Session_Id next_session_ = 0;
  Offset checkpoint_;  // of the journal, after the last work on it
  bool can_push_;      // can_push() of the journal, at the same time
  bool could_push_;    // true if can_push_ was ever true
  std::optional<Session_Id> holder_;
  bool is_locked_ = false;  // between Served_Journal::begin and end
  bool is_lock_changing_ = false;
  std::optional<System::Time> lock_deadline_;
  std::optional<System::Duration> lock_left_;  // time left, while the lock time is paused
  std::size_t lock_bytes_ = 0;                 // bytes moved since the lock time was restarted
  std::optional<System::Time> idle_check_;     // time of the next call of end_idle_sessions
  std::deque<Session_Id> lock_queue_;
  std::set<std::pair<System::Time, Session_Id>> deadlines_;  // the deadlines of sessions
  std::uint64_t staged_count_ = 0;
  int journal_works_ = 0;  // the amount of work in the journal lane
  bool is_refreshing_ = false;
  bool must_refresh_ = false;
  std::optional<System::Time> refresh_time_;  // time of the next refresh, after a failure
  std::string refresh_error_;                 // error of the last refresh; empty if it succeeded
  System::Time locked_since_{};
  Status counters_;  // only the counters are used
};

}  // namespace joedb::server

#endif
