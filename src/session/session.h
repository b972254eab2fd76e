#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "joedb/arrow/import.h"
#include "joedb/arrow/pins.h"
#include "joedb/history/undo.h"
#include "joedb/history/values.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/replica/client.h"
#include "joedb/table/writable_database.h"
#include "table/undo_log.h"

namespace joedb {

// Another process had the write lock for longer than Session_Options::timeout.
class Lock_Timeout : public Exception {
 public:
  using Exception::Exception;
};

// A unique index of the options of a schema, by names.
struct Unique_Index {
  std::string name;
  std::string table;
  std::vector<std::string> fields;
  // The ids in a file that does not have the table yet.
  Table_Id table_id = {};
  std::vector<Field_Id> field_ids = {};
};

struct Session_Options {
  // What is done with bytes behind the checkpoint; by default Recovery::keep for a shared file, and
  // none for others.
  std::optional<Recovery> recovery;
  // Of transactions that do not say it.
  bool is_hard = false;
  bool has_timestamps = true;
  // How many seconds a lock of a shared file is waited for. Negative: without a limit.
  double timeout = -1;
  // Called every few milliseconds while this waits for others. What it throws ends the wait.
  std::function<void()> look_for_interrupt = [] {};
  // Whether a transaction belongs to the thread that has begun it.
  bool checks_thread = true;
  // A server whose copy the file is: joedb://HOST/DATABASE, or the path of a socket.
  std::string server = {};
  std::string authority_file = {};
  std::string token_file = {};
  // Unique indexes that the file has for a writer.
  std::vector<Unique_Index> unique_indexes = {};
};

// A value for a field. Texts are views; bytes are written to the journal, and a blob field then
// refers to them.
struct Field_Input {
  Field_Id field;
  Value value;
  std::optional<std::string_view> bytes = {};
};

// An open database for programs without a compiled schema, in other languages: a file for writing,
// alone or shared, perhaps with a server; a file for reading; or a past state.
//
// Records that are inserted have default values where none was given, also where an id is used
// again. Columns may be exported (pins()): they are told of all changes.
//
// Not thread-safe. All functions throw what the engine throws; an Exception in a transaction of
// another thread, and where the database can only be read. What can wait calls look_for_interrupt.
class Session {
 public:
  static constexpr char memory_name[] = ":memory:";

  // Throws Exception, too, if the program was built without what servers need.
  Session(const std::string& path, Open_Mode mode, Session_Options options = {});
  // Calls close(); a failure goes to Destructor_Logger.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Rolls a transaction back. If this session has changed something, makes a hard checkpoint, for
  // which a shared file is locked. Only the destructor may be called after it. Throws what
  // hard_checkpoint() throws.
  void close();

  // The state at a moment, for reading. This session may be destroyed before it.
  std::unique_ptr<Session> past(Moment moment) const;

  const std::string& name() const { return name_; }
  bool is_past() const { return past_of_ != nullptr; }
  bool is_hard() const { return options_.is_hard; }
  // Whether others write, too: transactions wait for them.
  bool is_shared() const { return is_shared_; }

  // ---- reading

  const Database& database() const { return *database_; }
  Database& database() { return *database_; }
  // Throws Data_Error if the table was dropped, or never there.
  const Table& table(Table_Id id) const;
  Arrow_Pins& pins() { return *pins_; }
  // Changes when tables or fields may have changed, or their addresses.
  std::uint64_t schema_version() const {
    return database_->schema_entries().size() + (builds_ << 40);
  }
  // Up to where the journal counts.
  Offset checkpoint() const;
  // A file to read the journal from, valid whatever happens to this object.
  std::shared_ptr<Abstract_File> open_reader() const;
  std::string read_blob(Blob blob);
  // The same for blobs of an export, which may be read later. Throws Exception if the transaction
  // has written something: a rollback would put other bytes there.
  std::shared_ptr<Abstract_File> open_blob_reader();
  // The file, which has all blobs.
  Abstract_File& flushed_file();

  // Reads what others have written, waiting for it up to so many seconds. Returns the number of
  // bytes.
  Offset pull(double wait);

  // ---- transactions

  bool is_in_transaction() const { return lock_ != nullptr; }
  bool is_in_transaction_of_this_thread() const {
    return is_in_transaction() && owner_ == std::this_thread::get_id();
  }
  bool is_transaction_hard() const { return client_ != nullptr && client_->settings().is_hard; }
  // It belongs to this thread. Of an empty text and author nothing is written.
  void begin(std::string_view why, std::string_view author, bool is_hard);
  // Ends the transaction, whatever is thrown: it was rolled back then, unless it has a checkpoint
  // (Client::transaction).
  void commit();
  // Where the file cannot be written any more, throws Write_Disabled, and so does begin() then. The
  // tables are as before the transaction, unless require_intact() throws.
  void rollback();
  // For a transaction that nobody can end any more. Does nothing if there is none.
  void rollback_of_any_thread();
  // Throws Write_Disabled if the tables have what the file does not, after a failed rollback of
  // other changes than those of records: only closing the session is left.
  void require_intact() const;
  // A hard checkpoint. Not in a transaction.
  void hard_checkpoint();

  // The undo stack (joedb/history/undo.h): each is a transaction of its own, and throws Exception
  // in another one. So it does where there is nothing to undo or redo, and, in a text for people,
  // for conflicts; nothing has changed then.
  void undo(const Undo_Stack_Options& options);
  void redo(const Undo_Stack_Options& options);
  bool can_undo(const Undo_Stack_Options& options);
  bool can_redo(const Undo_Stack_Options& options);
  // How many bytes the transaction has written: a commit of many takes a while.
  Offset uncommitted() const { return store_ ? store_->ahead_of_checkpoint() : 0; }

  // Calls write() in the transaction of this thread, or in one of its own, which is rolled back if
  // it throws.
  template <class F>
  auto change(F write) {
    require_writer();
    if (is_in_transaction()) return write();
    return in_own_transaction(*this, is_hard(), write);
  }
  // For who wraps a session: begin(), commit() and roll_back_after_error() are those of `owner`.
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

  // With a given id, which must be free, or the next free one.
  Record_Id insert(Table_Id table, std::span<const Field_Input> inputs,
                   std::optional<Record_Id> id = {});
  // All of the fields, or none; but see store().
  void update(Table_Id table, Record_Id record, std::span<const Field_Input> inputs);
  void erase(Table_Id table, Record_Id record);
  // Adds a record for each row of a stream (arrow/import.h), in a transaction of its own if there
  // is none, and releases the stream in any case. All of the stream is read before: what runs
  // meanwhile may use, and change, this session.
  Arrow_Imported import(Table_Id table, ArrowArrayStream* in, const Arrow_Import_Options& options);

  // For other changes than those of records: a rollback reads the journal again. Where a change of
  // records that follows in the same transaction, or an import, fails in the middle, for want of
  // memory or by the disk, commit() throws, and rolls back.
  Writable_Database& store();

 private:
  Session() = default;
  void open_for_reading();
  void open_for_writing(bool is_shared);
  void connect();
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

  class Server;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Abstract_File> past_of_;
  Offset past_end_ = 0;
  std::unique_ptr<Abstract_File> file_;
  std::unique_ptr<Writable_Database> store_;  // or journal_, with own_database_
  std::unique_ptr<Readonly_Journal> journal_;
  Database own_database_;
  Database* database_ = nullptr;
  std::unique_ptr<Arrow_Pins> pins_;
  std::unique_ptr<Local_Copy> copy_;
  std::unique_ptr<Client> client_;  // null: only for reading

  std::optional<Undo_Log> undo_;
  Undo_Log::Savepoint start_;
  bool must_rebuild_ = false;    // the undo log does not know all changes
  bool must_roll_back_ = false;  // a change was made half
  std::unique_ptr<Client_Lock> lock_;
  std::thread::id owner_;
  std::uint64_t builds_ = 0;
  bool has_failed_ = false;                // a rollback
  std::optional<Write_Disabled> failure_;  // how; none: there was no memory for the text
  bool are_tables_wrong_ = false;
};

}  // namespace joedb

#endif
