#ifndef PYTHON_SESSION_H
#define PYTHON_SESSION_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "session/session.h"

// What the objects of Python stand on. Functions need the lock of the interpreter.

namespace joedb::python {

namespace nb = nanobind;

// The object was closed, or belongs to the process before a fork.
class Closed : public Exception {
 public:
  using Exception::Exception;
};

// SQLite does not do what it was asked for.
class Sql_Failure : public Exception {
 public:
  using Exception::Exception;
};

// What sql.cc keeps for a session.
class Sql_Connection {
 public:
  Sql_Connection() = default;
  virtual ~Sql_Connection() = default;
  Sql_Connection(const Sql_Connection&) = delete;
  Sql_Connection& operator=(const Sql_Connection&) = delete;
};

// While it lives, this thread does not have the lock of the interpreter. At the end of the program,
// other threads than the main one do not get it back: they stay here. (Before Python 3.14, asking
// for it would end them, and so the program.)
class Without_Interpreter {
 public:
  Without_Interpreter() : state_(PyEval_SaveThread()) {}
  ~Without_Interpreter() {
    stop_at_end_of_program();
    PyEval_RestoreThread(state_);
  }
  Without_Interpreter(const Without_Interpreter&) = delete;
  Without_Interpreter& operator=(const Without_Interpreter&) = delete;

 private:
  static void stop_at_end_of_program();
  PyThreadState* const state_;
};

// Calls f() without the lock of the interpreter.
template <class F>
decltype(auto) without_interpreter(F f) {
  const Without_Interpreter release;
  return f();
}

// Throws KeyboardInterrupt, or what another handler of a signal has thrown. Only the main thread
// has any; needs no lock of the interpreter.
void check_signals();

// The numbers of the transactions in whose `with` this code runs, by Shared_Session::keep_to_task:
// a tuple. Tasks and threads of asyncio.to_thread have that of who has started them.
nb::tuple outer_transactions();
void set_outer_transactions(const nb::tuple& numbers);

// A field as Python sees it.
struct Field_Info {
  nb::object name;  // interned
  Field_Id id;
  Type type;
  // Whether a record has another attribute of this name.
  bool is_hidden = false;
};

// The fields of a table that are there.
struct Table_Info {
  std::vector<Field_Info> fields;
  // Null if there is none.
  const Field_Info* find(PyObject* name) const;
};

// An open database. All Python objects of it share one, which outlives them, but may be closed
// before. One thread at a time, which holds a Use: others wait for it, without the lock of the
// interpreter.
class Shared_Session {
 public:
  // ValueError for what is no mode, and what the engine throws.
  static std::shared_ptr<Shared_Session> open(const std::string& path, const std::string& mode,
                                              const std::string& recovery, Session_Options options);
  std::shared_ptr<Shared_Session> past(Moment moment);
  ~Shared_Session();

  // While it lives, the calling thread has the session. Throws Closed.
  class Use {
   public:
    // Throws Exception in the middle of a Call of this thread, unless that does no harm.
    explicit Use(Shared_Session& session, bool is_harmless = false);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Shared_Session& session_;
  };

  // A Use of who is going to change something: other threads that are in a transaction are waited
  // for, first come, first served. Throws Lock_Timeout after the timeout of the session; Exception
  // in another task of asyncio than that of the transaction, and where the thread that is in it
  // waits for this one.
  class Turn {
   public:
    explicit Turn(Shared_Session& session);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    void wait(Shared_Session& session);
    std::optional<Use> use_;
  };

  // A call in whose middle functions of Python may run, such as handlers of signals: they cannot
  // use the session.
  class Call {
   public:
    explicit Call(Shared_Session& session)
        : session_(session), was_in_call_(std::exchange(session.is_in_call_, true)) {}
    ~Call() { session_.is_in_call_ = was_in_call_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Shared_Session& session_;
    const bool was_in_call_;
  };

  // Or of another process.
  bool is_closed() const { return session_ == nullptr || must_close_ || forks_ != fork_count(); }
  const std::string& name() const { return name_; }

  // All that follows requires a Use.

  Session& operator*() { return *session_; }
  Session* operator->() { return session_.get(); }
  // At once, or when the last Use ends that this thread has: a function of Python that a call of it
  // has called may close it.
  void close();
  // Valid until the schema changes.
  const Table_Info& table_info(const Table& table);
  std::unique_ptr<Sql_Connection>& sql();

  // As in Session, without the lock of the interpreter where that takes time.
  void begin(const std::string& why, const std::string& author, bool is_hard);
  // From now on, only the present task of asyncio, if there is one, is in the transaction that was
  // begun. Returns a number, which no other transaction has.
  std::uint64_t keep_to_task();
  void commit();
  // Nothing happens without a transaction.
  void rollback();
  // Of a transaction that nobody can end any more: when the last Use ends that this thread has.
  void drop_transaction();
  Offset pull(double wait);
  void hard_checkpoint();
  void undo(const Undo_Stack_Options& options);
  void redo(const Undo_Stack_Options& options);
  template <class F>
  auto change(F write) {
    if (session_->is_in_transaction()) return session_->change(write);
    return Session::in_own_transaction(*this, session_->is_hard(), write);
  }
  // What is thrown already says more.
  void roll_back_after_error() noexcept;

  // At the end of the program: closes all, for nothing is destroyed then.
  static void close_all();

 private:
  explicit Shared_Session(std::string name);
  // Of this process, by forks.
  static int fork_count();

  void close_now() noexcept;
  void drop_now() noexcept;
  // Whether this thread may write at once. Throws Exception in another task.
  bool is_my_turn() const;
  void notify() noexcept;

  std::recursive_timed_mutex mutex_;
  int uses_ = 0;
  bool is_in_call_ = false;
  bool must_close_ = false;
  bool must_roll_back_ = false;
  const int forks_ = fork_count();
  const std::string name_;
  std::unique_ptr<Session> session_;
  double timeout_ = -1;
  nb::object task_;                // a weak reference, if the transaction is that of a task
  std::uint64_t transaction_ = 0;  // its number
  // Who waits, guarded by the lock of the interpreter; and how often it may be another's turn.
  std::deque<std::uint64_t> waiting_;
  std::uint64_t last_waiting_ = 0;
  std::mutex turn_mutex_;
  std::condition_variable turn_changed_;
  std::uint64_t turns_ = 0;
  std::unique_ptr<Sql_Connection> sql_;
  std::uint64_t sql_version_ = 0;
  std::uint64_t info_version_ = 0;
  std::vector<std::unique_ptr<Table_Info>> infos_;
};

}  // namespace joedb::python

#endif
