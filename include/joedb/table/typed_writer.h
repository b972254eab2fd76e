#ifndef JOEDB_TABLE_TYPED_WRITER_H
#define JOEDB_TABLE_TYPED_WRITER_H

#include <ctime>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/typed.h"
#include "joedb/table/writable_database.h"

namespace joedb::inline v1 {

// ---- opening ------------------------------------------------------------------------------------

// The relation of the schema in a file to the schema of the program. The arguments of
// compare_schemas are encoded schema entries. The file is older if its entries are a proper prefix
// of the entries of the program.
enum class Schema_Relation { equal, file_is_older, incompatible };
Schema_Relation compare_schemas(std::string_view file, std::string_view program);

// Thrown if the schema of a file is neither the schema of the program nor an older version of it.
// Both schemas are stored as joedbi commands, one per line.
class Schema_Mismatch : public Exception {
 public:
  Schema_Mismatch(const std::string& what, std::string file_schema, std::string program_schema)
      : Exception(what), in_file(std::move(file_schema)), in_program(std::move(program_schema)) {}
  const std::string in_file;
  const std::string in_program;
};

// Thrown if a database is opened read-only, and its file has an older schema than the program.
// Opening the file for writing upgrades the schema.
class Out_Of_Date : public Exception {
 public:
  using Exception::Exception;
};

// Throws Out_Of_Date if the schema of the file is older than the schema of the program,
// Schema_Mismatch if it is incompatible, and Exception if a table that must have exactly one row
// does not. `file` is the name of the file, for the messages.
void require_same_schema(const Database& database, const Program_Schema& program,
                         const std::string& file);

// The same after a pull. Throws Schema_Mismatch if the schema is not that of the program any more.
// `seen` is the Database::schema_version() of the last call, or 0, and is updated: declarations
// that were seen are not compared again.
void require_unchanged_schema(const Database& database, const Program_Schema& program,
                              const std::string& file, std::uint64_t& seen);

// Reads a file once. If `moment` is set, reads a past state, and upgrades it to the schema of the
// program in memory: tables and fields that were added later exist, with their initial values.
// Throws the exceptions of load and require_same_schema.
void read_file(Database& database, Abstract_File& file, std::optional<Moment> moment,
               const Program_Schema& program);

// Upgrades the schema of the database to the schema of the program, and declares the logical types
// that the file does not declare. When all tables and fields exist, calls bind(), then
// run_custom(name) for each new `custom NAME` in the order of the schema, and then writes a soft
// checkpoint. If there is nothing to upgrade, only calls bind() and Writable_Database::recover(),
// without a checkpoint.
//
// Throws Schema_Mismatch if the schemas are incompatible, or if the file declares another logical
// type for a field (but either may know more names of an enumeration); Exception if a table that
// must have exactly one row does not; and the exceptions of bind and run_custom. If this throws,
// the upgrade is rolled back, in memory and in the file.
void upgrade_schema(Writable_Database& database, const Program_Schema& program,
                    const std::function<void()>& bind,
                    const std::function<void(std::string_view)>& run_custom);

// ---- reading ------------------------------------------------------------------------------------

// Base of the generated Readonly_Database. The constructor reads the file once: its last state, or
// a past state. Later changes of the file are not visible, and the file is not used afterwards.
//
//     Readonly_Database db("city.joedb", joedb::at_time(last_monday));
//
// The constructors throw Io_Error, Corruption_Error if the file is not a journal or is damaged, and
// Exception if the file does not have this moment. Without a moment, they throw Out_Of_Date if the
// schema of the file is older, and Schema_Mismatch if it is incompatible.
template <class Reader>
class Typed_Reader : public Reader {
 public:
  explicit Typed_Reader(const std::string& file_name)
      : Typed_Reader(File(file_name, Open_Mode::read_existing)) {}
  explicit Typed_Reader(const char* file_name) : Typed_Reader(std::string(file_name)) {}
  explicit Typed_Reader(Abstract_File&& file) : Typed_Reader(file) {}
  explicit Typed_Reader(Abstract_File& file) { read(file, std::nullopt); }
  explicit Typed_Reader(Readonly_Journal& journal) {
    add_indexes();
    load(content_, journal);
    require_same_schema(content_, Reader::program_schema(), journal.get_file().get_name());
    this->bind(content_);
  }

  Typed_Reader(const std::string& file_name, Moment moment)
      : Typed_Reader(File(file_name, Open_Mode::read_existing), moment) {}
  Typed_Reader(const char* file_name, Moment moment)
      : Typed_Reader(std::string(file_name), moment) {}
  Typed_Reader(Abstract_File&& file, Moment moment) : Typed_Reader(file, moment) {}
  Typed_Reader(Abstract_File& file, Moment moment) { read(file, moment); }

 private:
  void add_indexes() {
    for (const Index_Definition& index : Reader::program_schema().indexes)
      content_.add_index(index);
  }
  void read(Abstract_File& file, std::optional<Moment> moment) {
    add_indexes();
    read_file(content_, file, moment, Reader::program_schema());
    this->bind(content_);
  }

  Database content_;
};

// ---- writing ------------------------------------------------------------------------------------

// Throws Data_Error, whose text says that an id or a size is not less than the limit set by
// set_max_record_id.
[[noreturn]] void throw_above_limit(const char* entry, index_t value, index_t limit);

// Throws Data_Error if a comment with this text would be a declaration.
void require_no_declaration(std::string_view text);

// Gives these optional fields of the records [first, first + size) no value. If this throws, the
// records have been deleted.
void write_missing_values(Writable_Database& database, const Table& table, Record_Id first,
                          index_t size, std::initializer_list<Field_Id> fields);

// Tag for the constructors that clients call: the schema is upgraded later, by an explicit call.
struct Upgraded_Later {};

// Base of the generated Writable_Database: the tables and their journal.
//
// Every change is checked, logged and applied, in this order. A function that throws has changed
// neither tables nor journal, unless it says otherwise. A change throws
//
//   Data_Error        if it does not match the tables: for example, a record that is not in use;
//   Unique_Violation  a kind of Data_Error, for a key that a unique index already has;
//   Io_Error          if the file cannot be written: Disk_Full if the disk is full;
//   Write_Disabled    for all writing after such a failure, until the file is opened again;
//   Exception         in a shared file outside a transaction.
//
// Only a schema upgrade writes a checkpoint automatically. Changes after the last checkpoint are
// lost when the file is opened again; the destructor reports them to Destructor_Logger.
//
// Not thread-safe. Several threads may call const functions while none changes the database.
template <class Reader>
class Typed_Writer : public Reader {
 public:
  using Database_Type = Reader;

  // Appends an entry that does not change the tables.
  // Throws Data_Error if the text would declare a type or an index (docs/file_format.md).
  void write_comment(std::string_view text) {
    require_no_declaration(text);
    store_.write(Comment{text});
  }
  // Appends a time stamp, in seconds since 1970, UTC. Without an argument, the time stamp is the
  // current time. at_time() finds past states by time stamps.
  void write_timestamp() { write_timestamp(std::time(nullptr)); }
  void write_timestamp(std::int64_t seconds) {
    store_.write(Timestamp{seconds});
    stamped_ = get_journal().get_position();
  }
  // Appends a mark. The program defines its meaning.
  void write_valid_data() { store_.write(Valid_Data{}); }

  // Appends bytes to the journal, without keeping them in memory, and returns their place. Store
  // the result in a field of type blob. Throws Data_Error if the blob has 24 bytes and resembles an
  // integrity entry (format/header.h).
  Blob write_blob(std::string_view bytes) { return store_.write_blob(bytes); }
  // The same in pieces: calls read(char* data, std::size_t n) until there are `size` bytes. Each
  // call must fill [data, data + n); n is at most 65536. read must not write to the database. If
  // read() throws, nothing has been appended.
  template <class Read>
  Blob write_blob(std::int64_t size, Read&& read) {
    return store_.write_blob(size, read);
  }
  // Returns the first max_size bytes of the blob, or all bytes if max_size is -1. Blob_Reader reads
  // large blobs in pieces. Throws Io_Error, and Corruption_Error if the file ends before the blob
  // does.
  std::string read_blob(Blob blob, std::int64_t max_size = -1) {
    return store_.read_blob(blob, max_size);
  }

  // Writes the buffer to the file. Readers see the entries only after the next checkpoint.
  void flush() { store_.flush(); }

  // After a soft checkpoint, everything written so far survives the death of this process; after a
  // hard checkpoint, it also survives a power cut. If a checkpoint throws Io_Error, the previous
  // checkpoint remains valid, and nothing more can be written until the file is opened again.
  // Throws Data_Error, with nothing written, if the journal could not be read again, because the
  // tables have too many records without values. Throws Exception inside the function of a schema
  // upgrade. With the schema option timestamp_transactions, a checkpoint of new entries appends a
  // time stamp, unless the last entry is a time stamp.
  void soft_checkpoint() { checkpoint(Checkpoint_Level::soft); }
  void hard_checkpoint() { checkpoint(Checkpoint_Level::hard); }
  void checkpoint(Checkpoint_Level level) {
    checkpoint_unobserved(level);
    notify_observers();
  }

  // Group commit: several threads, or several clients of one thread, share a sync.
  //
  //     std::unique_lock lock(mutex);  // held during all uses of the database
  //     db.new_city("Tokyo");
  //     const joedb::Offset position = db.hard_checkpoint_async();
  //     db.wait(position, lock);       // other threads may write meanwhile
  //
  // wait(position) without a lock is for programs with a single thread. `lock` must be locked; it
  // is locked again when wait returns or throws. See Writable_Journal for shared files and errors.
  Offset hard_checkpoint_async() {
    stamp();
    return store_.hard_checkpoint_async();
  }
  template <class... Lock>
  void wait(Offset position, Lock&... lock) {
    store_.wait(position, lock...);
    notify_observers();
  }

  // From now on, damaged bytes of the file are detected when the file is opened. Writes a hard
  // checkpoint. See Writable_Journal.
  void enable_integrity() {
    store_.enable_integrity();
    notify_observers();
  }

  // With a snapshot next to the file, opening takes about a millisecond, whatever the size of the
  // file (docs/snapshots.md). write_snapshot() writes a hard checkpoint and a snapshot of the
  // tables, and then maps the tables from the snapshot, which frees memory and invalidates strings
  // and iterators. Returns false if another process is writing a snapshot, or if a snapshot cannot
  // be stored beside this kind of file. If the snapshot of a file is old, the destructor replaces
  // it. See Writable_Database for errors.
  bool write_snapshot() {
    stamp();
    const bool has_one = store_.write_snapshot();
    notify_observers();
    return has_one;
  }
  // For loads that are larger than memory: call this repeatedly while loading. If this process has
  // more than `bytes` of private memory, moves the tables to an unnamed file in $TMPDIR or
  // /var/tmp, maps them from this file, and returns true; strings and iterators are invalid then.
  // Throws Io_Error.
  bool limit_memory(std::size_t bytes) { return store_.limit_memory(bytes); }
  // Starts a thread that reads the file and writes a snapshot. Does not wait for the thread.
  void write_snapshot_in_background() { store_.write_snapshot_in_background(); }
  // Waits for the thread of write_snapshot_in_background(), and rethrows its error. If nothing
  // follows the checkpoint, the tables are then mapped from the snapshot, which invalidates
  // containers, iterators, indexes and strings.
  void wait_for_snapshot() {
    store_.wait_for_snapshot();
    bind_if_possible();
  }

  // Older names of the checkpoint functions; Writable_Journal describes them.
  void checkpoint_full_commit() { checkpoint(Checkpoint_Level::hard); }
  void checkpoint_half_commit() { checkpoint(Checkpoint_Level::half); }
  void checkpoint_no_commit() { checkpoint(Checkpoint_Level::soft); }
  void checkpoint() { checkpoint(store_.get_journal().get_default_level()); }
  // Flushes and syncs the file, without a checkpoint.
  void commit() { store_.commit(); }

  // For clients, which push before they write a checkpoint: appends the entries that must precede
  // the next checkpoint. Throws the exceptions of the checkpoint.
  void prepare_checkpoint(Checkpoint_Level level) {
    stamp();
    store_.prepare_checkpoint(level);
    stamped_ = get_journal().get_position();
  }
  // For clients with a connection (Writable_Journal::set_copy).
  void set_copy() { store_.set_copy(); }

  // Number of bytes written since the checkpoint.
  Offset ahead_of_checkpoint() const { return store_.ahead_of_checkpoint(); }

  // Drops everything after the checkpoint, in memory and in the file. Takes as long as opening the
  // file, unless nothing follows the checkpoint. Invalidates containers, iterators, indexes and
  // strings. Throws Exception inside a function of update_vector_of_FIELD. If reading the journal
  // fails, the old tables remain, and nothing can be written before a rollback succeeds.
  void rollback() {
    rollback_unobserved();
    notify_observers();
  }

  // Calls f(), appends the end of a transaction, and makes a checkpoint; returns the result of f().
  // If f() throws, calls rollback() and throws the same exception. Joins no transactions: throws
  // Exception, without a call of f(), if changes follow the checkpoint, and inside another f(). If
  // the checkpoint throws, the database is as after a checkpoint of its own that has thrown.
  template <class F>
  auto transaction(F&& f) {
    require_checkpoint();
    if (is_in_transaction_) throw Exception("a transaction cannot begin inside another one");
    struct Guard {
      explicit Guard(bool& flag) : value(flag) { value = true; }
      ~Guard() { value = false; }
      bool& value;
    } const guard(is_in_transaction_);
    using Result = std::invoke_result_t<F>;
    if constexpr (std::is_void_v<Result>) {
      or_rollback(f);
      end_transaction();
    } else {
      auto result = or_rollback(f);
      end_transaction();
      return result;
    }
  }

  // From now on, inserting a record with an id of `limit` or more, or a vector of `limit` records
  // or more, throws Data_Error. 0 means no limit.
  void set_max_record_id(index_t limit) { max_record_id_ = limit > 0 ? limit : no_limit; }

  // The journal, for its positions and checkpoints.
  const Writable_Journal& get_journal() const { return store_.get_journal(); }

 protected:
  // Reads the whole journal. `file` must outlive the database. Throws the exceptions of
  // Writable_Journal and load. Does not compare the schemas; upgrade() does.
  Typed_Writer(Abstract_File& file, const Journal_Options& options)
      : store_(file, options_of_program(options), Deleted_Values::reset,
               Reader::program_schema().indexes) {
    this->set_file(file);
    has_timestamps_ = Reader::program_schema().has_timestamps;
  }

  // For generated code. upgrade() calls upgrade_schema; lock_and_upgrade() calls upgrade_schema
  // while it holds the write lock of a shared file.
  template <class Run_Custom>
  void upgrade(Run_Custom run_custom) {
    upgrade_schema(
        store_, Reader::program_schema(), [this] { bind_all(); }, run_custom);
  }
  template <class Run_Custom>
  void lock_and_upgrade(Run_Custom run_custom) {
    const Transaction_Lock lock(store_);
    upgrade(run_custom);
  }

  // For programs that cannot upgrade the file. Throws the exceptions of require_same_schema.
  void require_current_schema() {
    require_same_schema(store_.get_database(), Reader::program_schema(), file_name());
    bind_all();
  }

  // Calls the functions of observers (history/typed_history.h) for the changes that were committed
  // or pulled.
  void notify_observers() { Reader::notify_observers(get_journal().get_checkpoint()); }
  // These functions do not notify observers: the caller notifies them.
  void checkpoint_unobserved(Checkpoint_Level level) {
    stamp();
    store_.checkpoint(level);
  }
  void require_checkpoint() const {
    if (ahead_of_checkpoint() > 0)
      throw Exception(file_name() +
                      ": a transaction cannot begin, because there are changes after the "
                      "checkpoint: make a checkpoint, or a rollback, before it");
  }
  template <class F>
  decltype(auto) or_rollback(F& f) {
    try {
      return f();
    } catch (...) {
      try {
        rollback();
      } catch (const std::exception&) {  // the other exception is more informative
      }
      throw;
    }
  }
  void end_transaction() {
    if (ahead_of_checkpoint() == 0) return;
    const auto& schema = Reader::program_schema();
    if (!schema.has_timestamps && !schema.has_no_marks) write_valid_data();
    checkpoint();
  }

  void rollback_unobserved() {
    stamped_ = 0;
    store_.rollback();
    bind_if_possible();
  }

  // Calls f(store), which may change tables directly, and then binds again, so that every table has
  // room for the next row, as after all functions of this class.
  template <class F>
  auto change_untyped(F f) {
    try {
      auto result = f(store_);
      bind_all();
      return result;
    } catch (...) {
      bind_all();
      throw;
    }
  }

  // ---- clients: see Local_Copy

  Offset lock_pull() {
    return store_.lock_pull([this, has_moved = store_.must_build()] { follow(has_moved); });
  }
  Offset pull() {
    return store_.pull([this, has_moved = store_.must_build()] { follow(has_moved); });
  }
  bool try_lock() { return store_.try_lock(); }
  void unlock() noexcept { store_.unlock(); }
  void copy_from(const Abstract_File& source, Offset end) {
    try {
      store_.copy_from(source, end, [this] { require_schema(); });
    } catch (...) {
      bind_if_possible();
      throw;
    }
  }

  // ---- tables

  // A field and its new value. A string must stay valid until the record is inserted.
  template <class Field>
  struct Assignment {
    Field& field;
    typename Field::Stored value;
  };
  template <class Field>
  static Assignment<Field> assign(Field& field, const typename Field::Setter& value) {
    return {field, to_stored<typename Field::Value>(value)};
  }

  // Throws Unique_Violation, and Data_Error if the record is not in use.
  template <class Field>
  void update(Any_Typed_Table& table, Field& field, Record_Id record,
              const typename Field::Setter& value) {
    table.require_used(record);
    store_.update(table.table(), field.column(),
                  Update<typename Field::Stored>{table.table().id(), record, Field::id,
                                                 to_stored<typename Field::Value>(value)});
  }

  // Inserts a row, with the id of Writable_Database::next_free. A field without a value gets the
  // default value of its stored type.
  template <class Table_Type, class... Fields>
  [[gnu::always_inline]] typename Table_Type::Id add_row(Table_Type& table,
                                                         const Assignment<Fields>&... values) {
    const Record_Id record = store_.next_free(table.table());
    add_row_at(table, record, values...);
    return typename Table_Type::Id(record);
  }

  // The same with a given id. Throws Data_Error if the id is in use, negative, or too large.
  template <class Table_Type, class... Fields>
  [[gnu::always_inline]] void add_row_at(Table_Type& table, Record_Id record,
                                         const Assignment<Fields>&... values) {
    if (record.value() >= max_record_id_) [[unlikely]]
      throw_above_limit("insert_into", record.value(), max_record_id_);
    store_.insert(table.table(), Insert{Table_Type::id, record},
                  Writable_Database::Value<typename Fields::Stored>{values.field.column(),
                                                                    Fields::id, values.value}...);
  }

  // Inserts `size` rows of default values, with consecutive new ids after all existing ids. Returns
  // the first new id. `Fields` are the optional fields, whose values are missing; if
  // Unique_Violation is thrown for them, the rows are deleted again.
  template <class Table_Type, class... Fields>
  typename Table_Type::Id add_vector(Table_Type& table, std::size_t size, const Fields&...) {
    if (static_cast<index_t>(size) >= max_record_id_)
      throw_above_limit("insert_vector", static_cast<index_t>(size), max_record_id_);
    const Insert_Vector entry{Table_Type::id, Record_Id(table.records().size()),
                              static_cast<std::int64_t>(size)};
    store_.write(entry);
    if constexpr (sizeof...(Fields) > 0)
      write_missing_values(store_, table.table(), entry.record, entry.size,
                           {std::remove_cvref_t<Fields>::id...});
    table.table().make_room_for_one();
    return typename Table_Type::Id(entry.record);
  }

  // Calls function(Span), which changes the values of records [first, first + size) in place, then
  // logs all of them as one entry. If the function throws, the values that it has written are
  // logged, too (joedb::Writable_Database::update_vector).
  template <class Field, class Function>
  void update_vector(Any_Typed_Table& table, Field& field, Record_Id first, std::size_t size,
                     Function&& function) {
    store_.update_vector(table.table(), field.column(), Field::id, first,
                         static_cast<index_t>(size),
                         [&] { call_with_span(field.span(first.value(), size), function); });
  }

  // Deletes a record. First does what the rules of references to the record say
  // (Writable_Database::write); references without a rule stay as they are. Throws Data_Error if
  // the record is not in use.
  template <class Table_Type>
  void erase(Table_Type& table, typename Table_Type::Id id) {
    table.require_used(id.get_record_id());
    store_.write(Delete{Table_Type::id, id.get_record_id()});
  }

  // The same for the records [id, id + size). All of them must be in use.
  template <class Table_Type>
  void erase_vector(Table_Type&, typename Table_Type::Id id, std::size_t size) {
    store_.write(
        Delete_Vector{Table_Type::id, id.get_record_id(), static_cast<std::int64_t>(size)});
  }

  // Deletes all records of the table, from the last to the first, with one entry for each record.
  // If a deletion throws, the earlier deletions are kept; but if references to the table have
  // rules, the records are deleted together (Writable_Database::erase).
  template <class Table_Type>
  void erase_all(Table_Type& table) {
    const auto records = table.records_in_order();
    if (store_.get_database().has_rules(Table_Type::id)) {
      std::vector<Record_Id> ids;
      for (auto i = records.rbegin(); i != records.rend(); ++i) ids.push_back((*i).get_record_id());
      return store_.erase(Table_Type::id, ids);
    }
    while (!records.is_empty()) erase(table, records.last());
  }

 private:
  void follow(bool has_moved) {
    if (has_moved) bind_if_possible();
    require_schema();
  }
  struct Transaction_Lock {
    explicit Transaction_Lock(joedb::Writable_Database& s) : store(s) { store.lock_pull(); }
    ~Transaction_Lock() { store.unlock(); }
    joedb::Writable_Database& store;
  };

  template <class T, class Function>
  static void call_with_span(Span<T> span, Function& function) {
    if constexpr (!std::is_same_v<T, bool>)  // is_invocable would instantiate a generic function
      function(span);
    else if constexpr (std::is_invocable_v<Function&, Span<bool>>)
      function(span);
    else
      call_with_chars(span, function);
  }

  // Calls a function that takes a Span<char>, because joedb 10 stores booleans as char. Afterwards,
  // all bytes are normalised to 0 or 1, even if the function throws.
  template <class Function>
  static void call_with_chars(Span<bool> span, Function& function) {
    const Span<char> chars(reinterpret_cast<char*>(span.data()), span.size());
    struct Normalise {
      const Span<char>& all;
      ~Normalise() {
        for (char& c : all) c = c != 0;
      }
    } const at_the_end{chars};
    function(chars);
  }

  static constexpr index_t no_limit = std::numeric_limits<index_t>::max();

  static Journal_Options options_of_program(Journal_Options options) {
    if (!options.ends_transactions)
      options.ends_transactions = !Reader::program_schema().has_no_marks;
    return options;
  }

  // Called before a checkpoint. With the schema option timestamp_transactions, appends a time stamp
  // if there are new entries.
  void stamp() {
    if (has_timestamps_ && ahead_of_checkpoint() > 0 && get_journal().get_position() != stamped_)
      write_timestamp();
  }

  void bind_all() {
    // Bound fields hold addresses of columns, which must stay valid if a field is dropped.
    store_.get_database().keep_dropped();
    this->bind(store_.get_database());
    is_bound_ = true;
  }
  // Before the first upgrade(), the tables may not exist.
  void bind_if_possible() {
    if (is_bound_) bind_all();
  }
  void require_schema() {
    if (is_bound_)
      require_unchanged_schema(store_.get_database(), Reader::program_schema(), file_name(),
                               seen_schema_);
  }
  std::string file_name() const { return get_journal().get_file().get_name(); }

  joedb::Writable_Database store_;
  bool is_bound_ = false;
  std::uint64_t seen_schema_ = 0;
  bool has_timestamps_ = false;
  Offset stamped_ = 0;  // end of the last time stamp or prepared checkpoint
  index_t max_record_id_ = no_limit;
  bool is_in_transaction_ = false;
};

// Holds a file. It is a base class, so that the file is constructed before the database that uses
// it.
template <class File_Type>
struct File_Holder {
  template <class... Arguments>
  explicit File_Holder(Arguments&&... arguments) : file(std::forward<Arguments>(arguments)...) {}
  File_Type file;
};

// Base of the generated File_Database: a Writable_Database in a file of the system. The constructor
// throws Io_Error if the file cannot be opened, File_Locked if another writer has it open, and the
// exceptions of Writable_Journal, load and upgrade_schema. With Open_Mode::write_lock, it waits for
// the other writer, but not longer than `busy_timeout` (File), and then throws Lock_Timeout.
template <class Writer>
class Typed_File_Writer : private File_Holder<File>, public Writer {
 public:
  explicit Typed_File_Writer(const std::string& file_name,
                             Open_Mode mode = Open_Mode::write_existing_or_create_new,
                             const Journal_Options& options = {},
                             System::Duration busy_timeout = default_busy_timeout)
      : File_Holder<File>(file_name, mode, busy_timeout), Writer(file, options) {}

 private:
  using File_Holder<File>::file;
};

// Base of the generated Memory_Database: a Writable_Database in a file in memory. The content is
// lost when the object is destroyed.
template <class Writer>
class Typed_Memory_Writer : private File_Holder<Memory_File>, public Writer {
 public:
  // The file has no other writer, so no transaction of another writer needs an end.
  Typed_Memory_Writer() : Writer(file, Journal_Options::without_marks()) {}
  // The content is lost in any case. The checkpoint only keeps the journal's destructor from
  // warning about entries after the checkpoint.
  ~Typed_Memory_Writer() override {
    try {
      this->checkpoint_unobserved(Checkpoint_Level::soft);
    } catch (const std::exception&) {
    }
  }
  // The bytes of the journal. They are complete after flush() or a checkpoint.
  const std::vector<char>& get_data() const { return file.get_data(); }

  // Appends `bytes`, which a copy of this database has after the bytes of get_data(), and writes a
  // soft checkpoint. If `bytes` are not whole valid entries, or change the schema, throws
  // Corruption_Error or Exception, and nothing has changed. Requires that nothing was written since
  // the last checkpoint.
  void append_from_copy(std::string_view bytes) {
    const Readonly_Memory_File source(bytes, static_cast<Offset>(get_data().size()));
    try {
      this->copy_from(source, source.get_size());
    } catch (const Schema_Mismatch&) {
      throw Exception("the bytes of a copy must not change the schema");
    }
    this->notify_observers();
  }

 private:
  using File_Holder<Memory_File>::file;
};

}  // namespace joedb::inline v1

#endif
