#ifndef PYTHON_SESSION_H
#define PYTHON_SESSION_H

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nanobind/nanobind.h>

#include "joedb/arrow/pins.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/replica/client.h"
#include "joedb/table/writable_database.h"
#include "table/undo_log.h"

#ifdef JOEDB_HAS_NETWORK
#include "joedb/network/robust_connection.h"
#endif

// What the objects of Python stand on. Functions need the lock of the interpreter unless they say
// otherwise.

namespace joedb::python {

namespace nb = nanobind;

// The object was closed, or belongs to the process before a fork.
class Closed : public Exception {
 public:
  using Exception::Exception;
};

// Another process had the lock for longer than `timeout`.
class Lock_Timeout : public Exception {
 public:
  using Exception::Exception;
};

// SQLite does not do what it was asked for.
class Sql_Failure : public Exception {
 public:
  using Exception::Exception;
};

// Made by sql.cc: what a session keeps for it.
class Sql_Connection {
 public:
  Sql_Connection() = default;
  virtual ~Sql_Connection() = default;
  Sql_Connection(const Sql_Connection&) = delete;
  Sql_Connection& operator=(const Sql_Connection&) = delete;
};

// What joedb.open was asked for.
struct Open_Request {
  std::string path;
  std::string mode;
  std::string server;
  std::string authority_file;
  std::string token_file;
  std::string recovery;
  double timeout = -1;  // seconds; negative: for ever
  bool is_hard = false;
  bool has_timestamps = true;
};

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

// An open database: a file for writing, alone or shared, perhaps with a server; a file for reading;
// or a past state. All Python objects of a database share one, which outlives them, but may be
// closed before.
//
// One thread at a time, which holds a Use: others wait for it, without the lock of the interpreter.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // Opens a file. Throws what the engine throws, ValueError for what is no mode.
  static std::shared_ptr<Session> open(Open_Request request);
  // The state of this database at a position of its journal.
  std::shared_ptr<Session> past(Moment moment);
  ~Session();

  // While it lives, the calling thread has the session. Throws Closed.
  class Use {
   public:
    explicit Use(Session& session);
    ~Use() { session_.mutex_.unlock(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Session& session_;
  };

  // All that follows requires a Use.

  void close();
  bool is_closed() const { return database_ == nullptr; }
  bool can_write() const { return client_ != nullptr; }
  bool is_past() const { return is_past_; }
  bool is_hard() const { return is_hard_; }
  const std::string& name() const { return name_; }
  Database& database() const { return *database_; }
  Arrow_Pins& pins() const { return *pins_; }
  // Increases when tables or fields may have changed.
  std::size_t schema_version() const;
  // Valid until the schema changes.
  const Table_Info& table_info(const Table& table);
  // Throws Data_Error if the table was dropped.
  Table& table(Table_Id id) const;

  // Up to where the journal counts.
  Offset checkpoint() const;
  // A file to read the journal from, for a reader of its own: it stays valid whatever happens here.
  std::shared_ptr<Abstract_File> open_reader();
  std::string read_blob(Blob blob);
  // So that blobs can be read from the file.
  Abstract_File& flushed_file();
  std::unique_ptr<Sql_Connection>& sql() { return sql_; }

  // Reads what others have written, waiting for it up to so many seconds. Returns the number of
  // bytes.
  Offset pull(double wait);
  // A hard checkpoint.
  void hard_checkpoint();

  // ---- transactions

  bool is_in_transaction() const { return lock_ != nullptr; }
  void begin(const std::string& why, const std::string& author, bool is_hard);
  // Ends the transaction. If it throws, it was rolled back, unless the error says more.
  void commit();
  void rollback();

  // Calls write() in the transaction of this thread, or in one of its own, which is rolled back if
  // it throws.
  template <class F>
  auto change(F write) {
    require_writer();
    if (is_in_transaction()) return write();
    begin("", "", is_hard_);
    try {
      using Result = decltype(write());
      if constexpr (std::is_void_v<Result>) {
        write();
        commit();
      } else {
        Result result = write();
        commit();
        return result;
      }
    } catch (...) {
      roll_back_after_error();
      throw;
    }
  }

  // These are called by write().

  // Null after a change that cannot be taken back one by one: then write to store().
  Undo_Log* undo_log() { return must_rebuild_ ? nullptr : &*undo_; }
  Writable_Database& store() { return *store_; }
  // Before changes that the undo log does not know: a rollback reads the journal again.
  void give_up_undo();

  // At the end of the program: closes all, for nothing is destroyed then.
  static void close_all();

 private:
  Session() = default;
  void require_writer();
  void open_writer(const Open_Request& request, Open_Mode mode);
  void open_reader(const Open_Request& request);
  void connect(const Open_Request& request);
  void roll_back_after_error() noexcept;
  // They are about to be built again, at other addresses.
  void forget_tables();
  void end();

  static int fork_count();

  mutable std::recursive_mutex mutex_;
  const int forks_ = fork_count();
  std::string name_;
  bool is_hard_ = false;
  bool may_wait_ = false;  // for others: without the lock of the interpreter

#ifdef JOEDB_HAS_NETWORK
  std::unique_ptr<System> system_;
  std::unique_ptr<Connector> connector_;
#endif
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Abstract_File> file_;
  // One of these three.
  std::unique_ptr<Writable_Database> store_;
  std::unique_ptr<Readonly_Journal> journal_;
  bool is_past_ = false;
  std::shared_ptr<Abstract_File> past_of_;
  Offset past_end_ = 0;

  Database own_database_{Deleted_Values::reset};  // of a reader
  Database* database_ = nullptr;
  std::unique_ptr<Arrow_Pins> pins_;
  std::unique_ptr<Sql_Connection> sql_;
  std::unique_ptr<Local_Copy> copy_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Undo_Log> undo_;

  std::unique_ptr<Client_Lock> lock_;
  Undo_Log::Savepoint start_;
  std::thread::id owner_;
  bool must_rebuild_ = false;
  std::string author_;

  std::size_t rollbacks_ = 0;
  std::size_t info_version_ = 0;
  std::vector<std::unique_ptr<Table_Info>> infos_;
};

// Calls f() without the lock of the interpreter.
template <class F>
decltype(auto) without_interpreter(F f) {
  const nb::gil_scoped_release release;
  return f();
}

}  // namespace joedb::python

#endif
