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

// A unique index of the options of a schema, by names.
struct Unique_Index {
  std::string name;
  std::string table;
  std::vector<std::string> fields;
  // Ids for a file that does not have the table yet.
  Table_Id table_id = {};
  std::vector<Field_Id> field_ids = {};
};

struct Session_Options {
  // How bytes after the checkpoint are handled. Default: Recovery::keep for a shared file or with a
  // server, Recovery::none otherwise.
  std::optional<Recovery> recovery;
  // Makes hard checkpoints in transactions that do not select a kind of checkpoint.
  bool is_hard = false;
  bool has_timestamps = true;
  // Maximum time to wait for a lock of the file (File) or of the server, and for a lost server, in
  // seconds. Negative: no limit. It also limits Connector::Settings::answer_time, to at least 1 s.
  // Default: those of File and of Connector::Settings.
  std::optional<double> timeout = {};
  // Called every few milliseconds while the session waits for other processes, or loads a database.
  // If it throws, the wait or the loading ends.
  std::function<void()> check_interrupt = [] {};
  // If true, a transaction can be used only by the thread that has begun it.
  bool checks_thread = true;
  // Server of which the file is a copy: joedb://HOST/DATABASE, or the path of a socket. Empty:
  // none.
  std::string server = {};
  std::string authority_file = {};
  std::string token_file = {};
  // Unique indexes that a writer enforces.
  std::vector<Unique_Index> unique_indexes = {};
};

// A value for a field. Texts are views. If there are `bytes`, they are written to the journal, and
// the blob field refers to them.
struct Field_Input {
  Field_Id field;
  Value value;
  std::optional<std::string_view> bytes = {};
};

// An open database for programs without a compiled schema, in other languages: a file for writing,
// alone or shared, optionally with a server; a file for reading; or a past state.
//
// Fields of an inserted record have default values unless values are given, also if its id is
// reused. Columns may be exported (pins()): the pins are notified before each change.
//
// Not thread-safe. Functions throw the exceptions of the engine, and Exception in a transaction of
// another thread or if the database can only be read. Functions that may wait call check_interrupt.
class Session {
 public:
  static constexpr char memory_name[] = ":memory:";

  // Also throws Exception if a server is given and the program was built without network support.
  Session(const std::string& path, Open_Mode mode, Session_Options options = {});
  // Calls close(). Errors go to Destructor_Logger.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Rolls an open transaction back. If this session has changed something, makes a hard checkpoint,
  // with the lock of a shared file. Only the destructor may be called afterwards. Throws the
  // exceptions of hard_checkpoint().
  void close();

  // Returns the state at a moment, for reading. This session may be destroyed first.
  std::unique_ptr<Session> past(Moment moment) const;

  const std::string& name() const { return name_; }
  bool is_past() const { return past_source_ != nullptr; }
  bool is_hard() const { return options_.is_hard; }
  // True if others may write, too: transactions wait for them.
  bool is_shared() const { return is_shared_; }

  // ---- reading

  const Database& database() const { return *database_; }
  Database& database() { return *database_; }
  // Throws Data_Error if the table was dropped or never existed.
  const Table& table(Table_Id id) const;
  Arrow_Pins& pins() { return *pins_; }
  // Changes when tables or fields, or their addresses, may have changed.
  std::uint64_t schema_version() const {
    return database_->schema_entries().size() + (builds_ << 40);
  }
  // Position of the checkpoint of the journal.
  Offset checkpoint() const;
  // Opens the file for reading the journal. The result stays valid even after this object is
  // destroyed.
  std::shared_ptr<Abstract_File> open_reader() const;
  std::string read_blob(Blob blob);
  // The same for blobs of an export, which may be read later. Throws Exception if the transaction
  // has written something: a rollback could replace these bytes by others.
  std::shared_ptr<Abstract_File> open_blob_reader();
  // Flushes the buffer, and returns the file, which has all blobs then.
  Abstract_File& flushed_file();

  // Reads the entries that others have written. If there are no new entries, waits for them for up
  // to `wait` seconds. Returns the number of new bytes. Throws Exception in a transaction.
  Offset pull(double wait);

  // ---- transactions

  bool is_in_transaction() const { return lock_ != nullptr; }
  bool is_in_transaction_of_this_thread() const {
    return is_in_transaction() && owner_ == std::this_thread::get_id();
  }
  bool is_transaction_hard() const { return client_ != nullptr && client_->settings().is_hard; }
  // Begins a transaction, which belongs to this thread. If `why` or `author` is not empty, it is
  // noted in the history. If this throws, there is no transaction.
  void begin(std::string_view why, std::string_view author, bool is_hard);
  // Ends the transaction, even if this throws: then the transaction was rolled back, unless it has
  // a checkpoint (Client::transaction).
  void commit();
  // Ends the transaction without its changes. If the file can no longer be written, throws
  // Write_Disabled, and every later begin() also throws it. The tables are as before the
  // transaction, unless require_intact() throws.
  void rollback();
  // Rolls back a transaction that its own thread can no longer end. Does nothing if there is no
  // transaction.
  void rollback_of_any_thread();
  // Throws Write_Disabled if the tables differ from the file, because the rollback of changes other
  // than those of records has failed. The session can only be closed then.
  void require_intact() const;
  // Makes a hard checkpoint. Throws Exception in a transaction.
  void hard_checkpoint();
  // As Writable_Database::write_snapshot. Throws Exception in a transaction.
  bool write_snapshot();

  // The undo stack (joedb/history/undo.h). Undo and redo are transactions of their own. They throw
  // Exception in another transaction, if there is nothing to undo or redo, and for conflicts, with
  // a text for people; nothing has changed then.
  void undo(const Undo_Stack_Options& options);
  void redo(const Undo_Stack_Options& options);
  bool can_undo(const Undo_Stack_Options& options);
  bool can_redo(const Undo_Stack_Options& options);
  // Number of bytes that the transaction has written. Committing many bytes takes some time.
  Offset uncommitted() const { return store_ ? store_->ahead_of_checkpoint() : 0; }

  // Calls write() in the transaction of this thread. If there is none, makes one, which is rolled
  // back if write() throws.
  template <class F>
  auto change(F write) {
    require_writer();
    if (is_in_transaction()) return write();
    return in_own_transaction(*this, is_hard(), write);
  }
  // For wrappers of Session: begin(), commit() and roll_back_after_error() of `owner` are called.
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

  // ---- changes, in a transaction (import() makes one)

  // Inserts a record with the given id, which must be free, or with the next free id.
  Record_Id insert(Table_Id table, std::span<const Field_Input> inputs,
                   std::optional<Record_Id> id = {});
  // Sets all of the fields or none, except as store() says.
  void update(Table_Id table, Record_Id record, std::span<const Field_Input> inputs);
  void erase(Table_Id table, Record_Id record);
  // Adds a record for each row of a stream (arrow/arrow.h), in a transaction of its own if there
  // is none, and releases the stream in any case. The whole stream is read before anything is
  // added, so code that runs meanwhile may use, and change, this session.
  Arrow_Imported import(Table_Id table, ArrowArrayStream* in, const Arrow_Import_Options& options);

  // Returns the database for changes other than those of records: a rollback then replays the
  // journal. If a later change of records in the same transaction, or an import, fails in the
  // middle, for lack of memory or by a disk error, commit() rolls back and throws.
  Writable_Database& store();

 private:
  Session();
  void open_for_reading();
  void open_for_writing(bool is_shared);
  std::vector<Index_Definition> find_indexes(Recovery recovery) const;
  void require_indexes() const;
  void require_writer() const;
  void require_transaction() const;
  void use_undo_stack(Plan (*run)(Writable_Database&, const Undo_Stack_Options&),
                      const Undo_Stack_Options& options);
  void roll_back_after_error() noexcept;
  void forget_tables() { ++builds_; }
  void end() noexcept;
  void fail(const char* text) noexcept;
  [[noreturn]] void throw_failure() const;
  Value write_blob(const Field_Input& input);
  void write_values(Table& table, Record_Id record, std::span<const Field_Input> inputs);

  std::string name_;
  Session_Options options_;
  bool is_shared_ = false;
  bool has_committed_ = false;

  class Interrupts;
  template <class Base>
  class Interruptible;
  std::unique_ptr<Interrupts> interrupts_;
  std::unique_ptr<System> system_;  // its sleep() can be interrupted; null for a past state
  class Server;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Abstract_File> past_source_;
  Offset past_end_ = 0;
  std::unique_ptr<Abstract_File> file_;
  std::unique_ptr<Writable_Database> store_;  // or journal_ with own_database_
  std::unique_ptr<Readonly_Journal> journal_;
  Database own_database_;
  Database* database_ = nullptr;
  std::unique_ptr<Arrow_Pins> pins_;
  std::unique_ptr<Local_Copy> copy_;
  std::unique_ptr<Client> client_;  // null if the database can only be read

  std::optional<Undo_Log> undo_;
  Undo_Log::Savepoint start_;
  bool must_rebuild_ = false;    // the undo log does not know all changes
  bool must_roll_back_ = false;  // a change was made only in part
  std::unique_ptr<Client_Lock> lock_;
  std::thread::id owner_;
  std::uint64_t builds_ = 0;
  bool has_failed_ = false;                // a rollback has failed
  std::optional<Write_Disabled> failure_;  // its error; empty if there was no memory for the text
  bool are_tables_invalid_ = false;
};

}  // namespace joedb

#endif
