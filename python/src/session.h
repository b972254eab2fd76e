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

#include "bindings/session.h"
#include "kernel/base/interrupts.h"

// The session that all Python objects of a database share. Callers of these functions must hold the
// GIL, unless a comment says otherwise.

namespace joedb::python {

namespace nb = nanobind;

// Thrown if the object was closed, or was created before this process was forked.
class Closed : public Exception {
 public:
  using Exception::Exception;
};

// Thrown if SQLite rejects a statement, or fails to run it.
class Sql_Failure : public Exception {
 public:
  using Exception::Exception;
};

// Base class of the SQLite connection that sql.cc caches in a session.
class Sql_Connection {
 public:
  Sql_Connection() = default;
  virtual ~Sql_Connection() = default;
  Sql_Connection(const Sql_Connection&) = delete;
  Sql_Connection& operator=(const Sql_Connection&) = delete;
};

// Releases the GIL while this object exists. At the end of the program, only the main thread gets
// the GIL back; the destructor blocks all other threads forever. (Before Python 3.14, acquiring the
// GIL would terminate these threads, and thereby the program.)
class Without_Interpreter {
 public:
  Without_Interpreter() : state_(PyEval_SaveThread()) {}
  ~Without_Interpreter() {
    stop_at_exit();
    PyEval_RestoreThread(state_);
  }
  Without_Interpreter(const Without_Interpreter&) = delete;
  Without_Interpreter& operator=(const Without_Interpreter&) = delete;

 private:
  static void stop_at_exit();
  PyThreadState* const state_;
};

// Calls f() without the GIL.
template <class F>
decltype(auto) without_interpreter(F f) {
  const Without_Interpreter release;
  return f();
}

// Runs pending Python signal handlers, and passes on their exception, such as KeyboardInterrupt.
// Does nothing in threads other than the main thread. The caller need not hold the GIL.
void check_signals();

// Calls f() without the GIL. Signal handlers may end it (kernel/base/interrupts.h).
template <class F>
auto in_long_call(F f) {
  static const std::function<void()> look = check_signals;
  const Without_Interpreter release;
  return interruptibly(look, f);
}

// Lets other Python threads run now and then, as one of them may have to send a signal, and calls
// check_signals(). The caller holds the GIL.
void give_way();

// Calls give_way() now and then in a long loop that keeps the GIL.
using Signal_Check = Look_Counter<give_way>;

// A context variable: the tuple of the transactions (their numbers, see
// Shared_Session::bind_to_task) in whose `with` block the code runs. Asyncio tasks, and threads of
// asyncio.to_thread, inherit it from the code that started them.
nb::tuple outer_transactions();
void set_outer_transactions(const nb::tuple& numbers);

// A field, for access by Python.
struct Field_Info {
  nb::object name;  // interned
  Field_Id id;
  Type type;
  // True if records have an attribute of the same name, such as a method, which hides the field.
  bool is_hidden = false;
  Shared_Logical_Type logical = {};
};

// A field that refers to the records of a table.
struct Back_Reference {
  nb::object name;  // person_by_home, interned
  Table_Id table;
  nb::object field;
};

// The fields of a table, except dropped fields.
struct Table_Info {
  std::vector<Field_Info> fields;
  std::vector<Back_Reference> back_references;
  // Returns null if there is no such field.
  const Field_Info* find(PyObject* name) const;
  const Back_Reference* find_back_reference(PyObject* name) const;
};

// An open database. All its Python objects share one Shared_Session, which exists as long as they
// do, but may be closed earlier. A thread must hold a Use to use it. Other threads wait for the
// Use, without the GIL.
class Shared_Session {
 public:
  // Throws ValueError if the mode or the recovery is unknown, and the exceptions of the Session
  // constructor.
  static std::shared_ptr<Shared_Session> open(const std::string& path, const std::string& mode,
                                              const std::string& recovery, Session_Options options);
  std::shared_ptr<Shared_Session> past(Moment moment);
  ~Shared_Session();

  // Gives the calling thread exclusive use of the session while this object exists. A thread may
  // nest several. Throws Closed.
  class Use {
   public:
    // Throws Exception during a Call of this thread, and the exceptions of Session::require_intact.
    // `skips_checks` skips both checks.
    explicit Use(Shared_Session& session, bool skips_checks = false);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Shared_Session& session_;
  };

  // A Use for changes. Waits, in order of arrival, until no other thread is in a transaction.
  // Throws Lock_Timeout after the timeout of the session. Throws Exception if the transaction
  // belongs to another asyncio task, or if its thread waits for this thread.
  class Turn {
   public:
    explicit Turn(Shared_Session& session);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    void wait(Shared_Session& session);
    std::optional<Use> use_;
  };

  // Marks a call during which other Python code, such as a signal handler, may run. This code
  // cannot use the session.
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

  // True if the session is closed, or was opened before this process was forked.
  bool is_closed() const { return session_ == nullptr || must_close_ || forks_ != fork_count(); }
  const std::string& name() const { return name_; }

  // The functions below require a Use, except drop_transaction() and close_all().

  Session& operator*() { return *session_; }
  Session* operator->() { return session_.get(); }
  // Closes the session immediately or, if this thread holds an outer Use, when that Use ends.
  // (Python code may close the session during a call.)
  void close();
  // Valid until the schema changes.
  const Table_Info& table_info(const Table& table);
  std::unique_ptr<Sql_Connection>& sql();

  // Like the functions of Session. Functions that may take long release the GIL.
  void begin(const std::string& why, const std::string& author, bool is_hard);
  // If there is a current asyncio task, restricts the open transaction to it. Returns a number that
  // identifies the transaction in this process.
  std::uint64_t bind_to_task();
  void commit();
  // Does nothing if there is no transaction.
  void rollback();
  // Rolls back a transaction that no object can end any more. If any thread holds a Use, this is
  // done when the last Use ends, otherwise immediately.
  void drop_transaction();
  Offset pull(double wait);
  void hard_checkpoint();
  bool write_snapshot();
  bool can_undo(const Undo_Stack_Options& options);
  bool can_redo(const Undo_Stack_Options& options);
  void undo(const Undo_Stack_Options& options);
  void redo(const Undo_Stack_Options& options);
  template <class F>
  auto change(F write) {
    if (session_->is_in_transaction()) return session_->change(write);
    return Session::in_own_transaction(*this, session_->is_hard(), [&] {
      if constexpr (std::is_void_v<decltype(write())>) {
        write();
        look_before_commit();
      } else {
        auto result = write();
        look_before_commit();
        return result;
      }
    });
  }
  // Like change(), for a write() of several records: in a transaction, too, there are all of its
  // changes or none (Session::change_together).
  template <class F>
  auto change_together(F write, const std::function<void()>& take_back = {}) {
    if (session_->is_in_transaction()) return session_->change_together(write, take_back);
    return change(write);
  }
  // Ignores its own errors, because the exception in flight is the cause.
  void roll_back_after_error() noexcept;

  // Closes all sessions at the end of the program, because destructors are not called then.
  static void close_all();

 private:
  explicit Shared_Session(std::string name);
  // Returns the number of forks since the module was loaded, in this process and its ancestors.
  static int fork_count();

  // Signal handlers can still take back the changes of a call, whose transaction ends with it.
  void look_before_commit();
  void close_now() noexcept;
  void drop_now() noexcept;
  // Returns true if this thread may write now. Throws Exception if its transaction belongs to
  // another asyncio task.
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
  nb::object task_;                // weak reference to the task that owns the transaction, if any
  std::uint64_t transaction_ = 0;  // the number of the transaction, see bind_to_task()
  // The tickets of the waiting threads, guarded by the GIL. turns_ counts notifications, and is
  // guarded by turn_mutex_.
  std::deque<std::uint64_t> waiting_;
  std::uint64_t last_ticket_ = 0;
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
