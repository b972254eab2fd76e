#ifndef JOEDB_SRC_BINDINGS_SESSION_H
#define JOEDB_SRC_BINDINGS_SESSION_H

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "joedb/arrow/arrow.h"
#include "joedb/history/changes.h"
#include "joedb/history/undo.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/replica/client.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/undo_log.h"

namespace joedb {

// A unique index in the options of a schema. It is given by names.
struct Unique_Index {
  std::string name;
  std::string table;
  std::vector<std::string> fields;
  // The ids to use if the file does not have the table yet.
  Table_Id table_id = {};
  std::vector<Field_Id> field_ids = {};
};

struct Session_Options {
  // What to do with bytes after the checkpoint. nullopt: Recovery::keep for a shared file or with a
  // server, otherwise Recovery::none.
  std::optional<Recovery> recovery;
  // If true, a transaction that does not choose a kind of checkpoint makes a hard one.
  bool is_hard = false;
  bool has_timestamps = true;
  // Time limit in seconds for waiting for a lock of the file (File) or of the server, and for a
  // lost server. Negative: no limit. It also limits Connector::Settings::answer_time, to 1 s or
  // more. nullopt: the defaults of File and of Connector::Settings.
  std::optional<double> timeout = {};
  // Called every few milliseconds while the session waits for other processes, and every 50 ms
  // while it loads a database, undoes or redoes, or writes a snapshot. If it throws, this ends, and
  // nothing has changed.
  std::function<void()> check_interrupt = [] {};
  // If true, only the thread that has begun a transaction can use it.
  bool checks_thread = true;
  // The server whose database the file is a copy of: joedb://HOST/DATABASE, or the path of a
  // socket. Empty: none.
  std::string server = {};
  std::string authority_file = {};
  std::string token_file = {};
  // Unique indexes that are enforced for changes.
  std::vector<Unique_Index> unique_indexes = {};
};

// A value for a field. Texts are views. For a blob, `bytes` are written to the journal, and the
// field refers to them.
struct Field_Input {
  Field_Id field;
  Value value;
  std::optional<std::string_view> bytes = {};
};

// An open database, for programs without a compiled schema and in other languages. It is a file for
// writing (alone, or shared, optionally with a server), a file for reading, or a past state.
//
// An inserted record has default values in fields without a given value, even if its id is reused.
// Columns may be exported by pins(), which are notified before each change.
//
// Not thread-safe. Functions throw the exceptions of the engine. They throw Exception during a
// transaction of another thread, and changes throw Exception if the database can only be read.
// Functions that may wait call check_interrupt.
class Session {
 public:
  static constexpr char memory_name[] = ":memory:";

  // Throws Exception, among other cases, if a server is given and joedb was built without network
  // support.
  Session(const std::string& path, Open_Mode mode, Session_Options options = {});
  // Calls close(). Errors are reported to Destructor_Logger.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Rolls back an open transaction. If this session has changed anything, makes a hard checkpoint,
  // for which it locks a shared file. Afterwards, only the destructor may be called. Throws the
  // exceptions of hard_checkpoint().
  void close();

  // Returns the state at a moment, for reading. It may outlive this session.
  std::unique_ptr<Session> past(Moment moment) const;

  const std::string& name() const { return name_; }
  bool is_past() const { return past_source_ != nullptr; }
  bool is_hard() const { return options_.is_hard; }
  // True if other processes may also write. Transactions then wait for them.
  bool is_shared() const { return is_shared_; }

  // ---- reading

  const Database& database() const { return *database_; }
  Database& database() { return *database_; }
  // Throws Data_Error if the table was dropped or never existed.
  const Table& table(Table_Id id) const;
  Arrow_Pins& pins() { return *pins_; }
  // A number that changes when tables or fields, or their addresses, may have changed.
  std::uint64_t schema_version() const { return database_->schema_version() + (builds_ << 40); }
  // Returns the position of the journal's checkpoint.
  Offset checkpoint() const;
  // Opens the file for reading its journal. The result may outlive this object.
  std::shared_ptr<Abstract_File> open_reader() const;
  std::string read_blob(Blob blob);
  // Like open_reader(), for the blobs of an export, which may be read later. Throws Exception if
  // the transaction has written anything: after a rollback, other bytes could replace these blobs.
  std::shared_ptr<Abstract_File> open_blob_reader();
  // Flushes the buffer, so that the file has all blobs, and returns the file.
  Abstract_File& flushed_file();

  // Reads new entries of other processes. If there are none, waits for them for up to `wait`
  // seconds. Returns the number of new bytes. Throws Exception in a transaction.
  Offset pull(double wait);

  // ---- transactions

  bool is_in_transaction() const { return lock_ != nullptr; }
  bool is_in_transaction_of_this_thread() const {
    return is_in_transaction() && owner_ == std::this_thread::get_id();
  }
  bool is_transaction_hard() const { return client_ != nullptr && client_->settings().is_hard; }
  // Begins a transaction, which belongs to this thread. `why` and `author` are recorded in the
  // history, unless empty. After an exception, there is no transaction.
  void begin(std::string_view why, std::string_view author, bool is_hard);
  // Commits and ends the transaction. If this throws, the transaction has been rolled back, unless
  // it has a checkpoint (Client::transaction).
  void commit();
  // Undoes the changes and ends the transaction. If the file can no longer be written, throws
  // Write_Disabled, and so does every later begin(). The tables are in their state before the
  // transaction, unless require_intact() throws.
  void rollback();
  // Rolls back a transaction that its own thread can no longer end. Does nothing if there is no
  // transaction.
  void rollback_of_any_thread();
  // Throws Write_Disabled if the tables differ from the file, because the rollback of changes other
  // than those of records has failed. The session can then only be closed.
  void require_intact() const;
  // Makes a hard checkpoint. Throws Exception in a transaction.
  void hard_checkpoint();
  // As Writable_Database::write_snapshot. Throws Exception in a transaction.
  bool write_snapshot();

  // The undo stack (joedb/history/undo.h). Undo and redo are transactions. They throw Exception
  // during another transaction, if there is nothing to undo or redo, and, with a text for people,
  // if there are conflicts. After an exception, nothing has changed.
  void undo(const Undo_Stack_Options& options);
  void redo(const Undo_Stack_Options& options);
  bool can_undo(const Undo_Stack_Options& options);
  bool can_redo(const Undo_Stack_Options& options);
  // Returns the number of bytes written by the transaction. Committing many bytes takes time.
  Offset uncommitted() const { return store_ ? store_->ahead_of_checkpoint() : 0; }

  // Calls write() in the transaction of this thread. If there is none, begins one, and commits it,
  // or rolls it back if write() throws.
  template <class F>
  auto change(F write) {
    require_writer();
    if (is_in_transaction()) return write();
    return in_own_transaction(*this, is_hard(), write);
  }
  // Like change(), for a write() that changes several records: if it throws in a transaction that
  // was begun before, its changes are taken back. Where the schema was changed in this transaction
  // before, take_back() does this; without it, or if it throws, the transaction can only be rolled
  // back.
  template <class F>
  auto change_together(F write, const std::function<void()>& take_back = {}) {
    if (!is_in_transaction()) return change(write);
    require_writer();
    const Part part = begin_part();
    try {
      return write();
    } catch (...) {
      take_back_part(part, take_back);
      throw;
    }
  }
  // For wrappers of Session: does the same as change() with begin(), commit() and
  // roll_back_after_error() of `owner`.
  template <class Owner, class F>
  static auto in_own_transaction(Owner& owner, bool is_hard, F write) {
    owner.begin("", "", is_hard);
    try {
      if constexpr (std::is_void_v<decltype(write())>) {
        write();
        owner.commit();
      } else {
        auto result = write();
        owner.commit();
        return result;
      }
    } catch (...) {
      owner.roll_back_after_error();
      throw;
    }
  }

  // ---- changes, which need a transaction (import() begins one)
  // -------------------------------------

  // Inserts a record with id `id`, which must be free, or with the next free id if `id` is nullopt.
  Record_Id insert(Table_Id table, std::span<const Field_Input> inputs,
                   std::optional<Record_Id> id = {});
  // Sets all fields or none. For an exception, see store().
  void update(Table_Id table, Record_Id record, std::span<const Field_Input> inputs);
  // Deletes records together, and does what the rules of references to them say
  // (Writable_Database::erase): all of it or nothing.
  void erase(Table_Id table, std::span<const Record_Id> records);
  void erase(Table_Id table, Record_Id record) { erase(table, {&record, 1}); }
  // Adds a record for each row of a stream (arrow/arrow.h), and always releases the stream. Begins
  // a transaction if there is none. Reads the whole stream before it adds anything, so that code
  // that runs meanwhile may use and change this session. Calls options.check also while it writes;
  // if it throws then, the transaction can only be rolled back.
  Arrow_Imported import(Table_Id table, ArrowArrayStream* in, const Arrow_Import_Options& options);

  // Returns the database, for changes other than those of records. A rollback then replays the
  // journal. If a later change of records, or an import, in the same transaction fails halfway,
  // because of memory or the disk, commit() rolls back and throws.
  Writable_Database& store();

 private:
  // A part of a transaction that can be taken back.
  struct Part {
    std::uint64_t transaction;
    Offset position;
    std::optional<Undo_Log::Savepoint>
        savepoint;  // nullopt: the undo log does not have all changes
  };

  Session();
  void open_for_reading();
  void open_for_writing(bool is_shared);
  std::vector<Index_Definition> find_indexes(Recovery recovery) const;
  void require_indexes() const;
  void require_writer() const;
  void require_transaction() const;
  // Does what Recovery::keep and others do with the bytes after the checkpoint, if no other process
  // is writing a shared file.
  void recover_now();
  Part begin_part();
  void take_back_part(const Part& part, const std::function<void()>& take_back) noexcept;
  void use_undo_stack(Plan (*run)(Writable_Database&, const Undo_Stack_Options&),
                      const Undo_Stack_Options& options);
  void roll_back_after_error() noexcept;
  void forget_tables() { ++builds_; }
  void end() noexcept;
  void fail(const char* text) noexcept;
  [[noreturn]] void throw_failure() const;
  Value write_blob(const Field_Input& input);
  void write_values(Table& table, Record_Id record, std::span<const Field_Input> inputs);
  template <class F>
  void write_together(Table& table, Record_Id record, std::span<const Field_Input> inputs,
                      F prepare);
  void reset_last_keys(Table& table, Record_Id record, std::span<const Field_Input> inputs);

  std::string name_;
  Session_Options options_;
  bool is_shared_ = false;
  bool has_committed_ = false;

  std::unique_ptr<System> system_;  // its sleep() can be interrupted; null for a past state
  class Server;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Abstract_File> past_source_;
  Offset past_end_ = 0;
  std::unique_ptr<Abstract_File> file_;
  std::unique_ptr<Writable_Database> store_;  // or else journal_ with own_database_
  std::unique_ptr<Readonly_Journal> journal_;
  Database own_database_;
  Database* database_ = nullptr;
  std::unique_ptr<Arrow_Pins> pins_;
  std::unique_ptr<Local_Copy> copy_;
  std::unique_ptr<Client> client_;  // null if the database can only be read

  std::optional<Undo_Log> undo_;
  Undo_Log::Savepoint start_;
  bool must_rebuild_ = false;    // the undo log does not have all changes
  bool must_roll_back_ = false;  // a change was applied only in part
  std::unique_ptr<Client_Lock> lock_;
  std::uint64_t transaction_ = 0;  // the number of the last transaction
  std::thread::id owner_;
  std::uint64_t builds_ = 0;
  bool has_failed_ = false;                // true if a rollback has failed
  std::optional<Write_Disabled> failure_;  // its error; empty if memory was exhausted
  bool are_tables_invalid_ = false;
};

}  // namespace joedb

#endif
