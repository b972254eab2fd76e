#ifndef JOEDB_TABLE_WRITABLE_DATABASE_H
#define JOEDB_TABLE_WRITABLE_DATABASE_H

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/load.h"

namespace joedb::inline v1 {

class Undo_Log;

// The content of a database, and its journal.
//
// Every change is checked, logged, applied, in this order: if it throws, neither the tables nor the
// journal have changed, unless the function says otherwise. A change throws Data_Error for what
// does not fit the tables, Unique_Violation, Io_Error if the file cannot be written, Write_Disabled
// after such a failure, and Exception if it needs memory that is not there, or if a shared file is
// not locked (lock_pull).
//
// Not thread-safe. Functions that are const may be called by several threads while none changes
// the database.
class Writable_Database {
 public:
  // `file` must outlive the database. Throws what Writable_Journal and its replay throw, and
  // Data_Error if a unique index would hold a key twice.
  explicit Writable_Database(Abstract_File& file, const Journal_Options& options = {},
                             Deleted_Values deleted_values = Deleted_Values::reset,
                             std::vector<Index_Definition> indexes = {});
  // With what a reader of the same file has: `content` is that of the journal up to `place`, and
  // stays where it is if this throws. Addresses of tables stay.
  Writable_Database(Abstract_File& file, const Journal_Options& options, Database& content,
                    const Replay_Place& place);
  // Gives the content to a reader; nothing but the destructor may be called afterwards. Entries
  // behind the checkpoint are dropped, if that is possible, from the file only.
  Database release();
  // If the file has a snapshot that has become old (is_snapshot_due), writes a new one. Errors go
  // to Destructor_Logger.
  ~Writable_Database();
  Writable_Database(const Writable_Database&) = delete;
  Writable_Database& operator=(const Writable_Database&) = delete;

  const Database& get_database() const { return database_; }
  // The address stays; addresses of tables change when they are built again (must_build). A direct
  // change of the tables is not logged: use the functions of this class.
  Database& get_database() { return database_; }
  const Writable_Journal& get_journal() const { return journal_; }

  // ---- changes

  // Any entry of format/entry.h but Blob_Data and Update_Vector. If there is no memory for a change
  // of tables or fields that was logged, only rollback() or closing the database is left.
  template <class Entry>
  void write(const Entry& entry) {
    database_.prepare(entry);
    journal_.append(entry);
    if (database_.observer() != nullptr) [[unlikely]]
      note(entry);
    if constexpr (is_schema_entry<Entry>) {
      try {
        database_.apply(entry);
      } catch (...) {
        require_rollback();
        throw;
      }
    } else {
      database_.apply(entry);
    }
  }

  // A field of a row, and the value it gets.
  template <Field_Value T>
  struct Value {
    Column<T>& column;
    Field_Id field;
    T value;
  };

  // A new row with a value for each of its fields, in their order, or without values. The columns
  // are those of the table; texts have passed Database::require_size, blobs
  // Database::require_valid.
  template <Field_Value... T>
  void insert(Table& table, const Insert& entry, const Value<T>&... values);

  // A new value for a row, which must be in use: this is not checked. The same conditions.
  template <Field_Value T>
  void update(Table& table, Column<T>& column, const Update<T>& entry);

  // Throws what an insertion of this row with these values would throw, and changes nothing. For
  // callers that insert the row and update its fields one after the other.
  void require_unique(const Insert& entry, std::span<const New_Value> values) {
    database_.prepare(entry);
    database_.table(entry.table).prepare_keys(entry.record, values);
  }

  // New values for records [record, record + size): change() writes them to the column. Throws
  // Data_Error if the range is not inside the table. If change() throws, the values it has written
  // count and are logged, so that tables and journal agree. If a unique index would hold a key
  // twice, Unique_Violation is thrown, and the column has its old values. If logging fails, the
  // tables are ahead of the journal: only rollback() or closing the database is left, and every
  // change throws until then. change() must not add records to this table, nor, if the table has
  // indexes, change fields of them; while it runs, the indexes with the field do not have the
  // records.
  template <Field_Value T, class Change>
  void update_vector(Table& table, Column<T>& column, Field_Id field, Record_Id record,
                     index_t size, Change change);

  // The same with given values, for a field of this type. Without an index it is logged first, so
  // that a failure changes nothing.
  template <Field_Value T>
  void write_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values);

  // Writable_Journal::require_ready: the next change is the first of its transaction, unless this
  // object has written others since the last end.
  void require_ready() { journal_.require_ready(); }
  // Ends the current transaction of the history: appends the entry, a Timestamp or a Valid_Data, if
  // entries follow the last end.
  template <class Entry>
  void end_transaction(const Entry& entry) {
    static_assert(is_transaction_end<Entry>);
    if (journal_.is_unfinished()) write(entry);
  }

  // ---- blobs

  // Writable_Journal::append_blob and read_blob.
  Blob write_blob(std::string_view bytes) { return journal_.append_blob(bytes); }
  // In pieces (Writable_Journal::append_blob).
  template <class Read>
  Blob write_blob(std::int64_t size, Read&& read) {
    return journal_.append_blob(size, read);
  }
  std::string read_blob(Blob blob, std::int64_t max_size = -1) {
    return journal_.read_blob(blob, max_size);
  }

  // ---- checkpoints

  // Writes the buffer to the file, without a checkpoint.
  void flush() { journal_.flush(); }
  // Writable_Journal::prepare_checkpoint. Throws what checkpoint() throws.
  void prepare_checkpoint(Checkpoint_Level level) {
    require_checkpoint();
    journal_.prepare_checkpoint(level);
  }
  // Writable_Journal::set_copy.
  void set_copy() { journal_.set_copy(); }
  // Throws Data_Error if the tables could not be read back (Database::require_readable_from), and
  // Exception if only rollback() is left: nothing has been written then. Otherwise throws what
  // Writable_Journal::checkpoint throws; the checkpoint before counts then.
  void checkpoint(Checkpoint_Level level) {
    begin_checkpoint();
    journal_.checkpoint(level);
  }
  void soft_checkpoint() { checkpoint(Checkpoint_Level::soft); }
  void hard_checkpoint() { checkpoint(Checkpoint_Level::hard); }
  // Group commit: see Writable_Journal.
  Offset hard_checkpoint_async() {
    begin_checkpoint();
    return journal_.hard_checkpoint_async();
  }
  template <class... Lock>
  void wait(Offset position, Lock&... lock) {
    require_checkpoint();
    journal_.wait(position, lock...);
  }
  void enable_integrity() {
    cut();
    journal_.enable_integrity();
  }
  // Only a flush and a sync, no checkpoint.
  void commit() { journal_.commit(); }
  // Number of bytes appended since the checkpoint.
  Offset ahead_of_checkpoint() const { return journal_.ahead_of_checkpoint(); }
  // Behind the last entry.
  Replay_Place place() const { return journal_.savepoint(); }

  // Drops everything behind the checkpoint, in the file and in memory. The tables are built again
  // from the journal, so addresses of tables change. If that throws, the old tables stay, and
  // nothing can be written before a rollback() or lock_pull() succeeds. Throws Exception in
  // update_vector.
  void rollback() {
    if (vector_updates_ > 0) throw Exception("rollback while a vector is updated");
    if (ahead_of_checkpoint() == 0 && !must_build_) return;
    journal_.rollback();
    must_build_ = true;
    build();
  }

  // Whether the tables differ from the journal, after a failure: the next rollback() or lock_pull()
  // builds them again.
  bool must_build() const { return must_build_; }

  // Does what the recovery mode says with the file, as the first change would
  // (Writable_Journal::recover).
  void recover() { journal_.recover(); }

  // While it lives, checkpoints throw Exception: entries are kept together, or not at all.
  class No_Checkpoints {
   public:
    explicit No_Checkpoints(Writable_Database& database) : database_(database) {
      database_.has_checkpoints_ = false;
    }
    ~No_Checkpoints() { database_.has_checkpoints_ = true; }
    No_Checkpoints(const No_Checkpoints&) = delete;
    No_Checkpoints& operator=(const No_Checkpoints&) = delete;

   private:
    Writable_Database& database_;
  };

  // ---- snapshots (table/snapshot.h)

  // Writes a hard checkpoint, and then a snapshot of it beside the file, from which the tables are
  // mapped afterwards: memory that is not in use is given back. Strings, iterators of indexes and
  // other addresses of values are not valid then. Returns false if another process is writing one,
  // or the file has no place for one. Throws what hard_checkpoint() throws, Exception in
  // update_vector, Corruption_Error if the snapshot before is damaged, so that the tables may have
  // wrong values (the destructor writes it again from the journal), and
  // Io_Error: there is no new snapshot then, and nothing else has changed. Where
  // the tables cannot be mapped from it, they stay in memory.
  bool write_snapshot();

  // The same in a thread, which opens the file on its own and replays what is behind the last
  // snapshot, up to the last hard checkpoint: the caller goes on at once. Nothing happens while one
  // is being written. Throws Io_Error if the file cannot be opened, or a hard checkpoint of
  // somebody else cannot be synced.
  void write_snapshot_in_background();
  // Returns when it is complete, and throws what has gone wrong. If nothing is behind the
  // checkpoint then, the tables are built again from the snapshot and the journal behind it, which
  // gives their memory back: addresses of tables change, as by rollback(). The destructor waits,
  // too.
  void wait_for_snapshot();

  // For loads that are larger than memory: call it again and again meanwhile. When this process has
  // more than `bytes` of memory of its own, calls Database::spill(): what is true of addresses
  // after write_snapshot() is true then. Returns whether it has. Throws Exception in update_vector,
  // Io_Error; the content is the same then.
  bool limit_memory(std::size_t bytes) { return is_memory_above(bytes) && (spill(), true); }
  // Whether limit_memory would do something: it waits until an eighth of the limit was written.
  bool is_memory_above(std::size_t bytes) const;

  // Whether there is a snapshot that this database could use, or should replace, and at least
  // `snapshot_due_bytes` of journal, or as many as were set, are behind it: replaying them takes
  // about 0.1 s.
  bool is_snapshot_due() const;
  static constexpr Offset snapshot_due_bytes = Offset{1} << 24;
  void set_snapshot_due_bytes(Offset bytes) { due_bytes_ = bytes; }

  // ---- sharing

  // Shared files (Writable_Journal::lock_pull): takes the write lock, waiting for it, and replays
  // what others have written. Returns the number of new bytes. Then require() validates the tables.
  // If the bytes are invalid, or require() throws, this throws, and the lock is not held. Throws
  // Exception if there is anything behind the checkpoint. Addresses of tables change if
  // must_build().
  template <class Require>
  Offset lock_pull(Require require) {
    return journal_.lock_pull([&] {
      if (must_build_)
        build();
      else
        load(database_, journal_);
      note_observed(journal_.get_replay_position());
      require();
    });
  }
  Offset lock_pull() {
    return lock_pull([] {});
  }
  // Releases the write lock. What is behind the checkpoint stays there: roll back before.
  void unlock() noexcept { journal_.unlock(); }

  // Appends [checkpoint, end) of another journal that begins like this one, and replays it.
  // Requires that nothing is behind the checkpoint of this journal, and, for a shared file, the
  // lock. If the bytes are not whole valid entries, or require() throws, this throws, and nothing
  // has changed but the addresses of tables.
  template <class Require>
  void append_from(const Abstract_File& source, Offset end, Require require) {
    journal_.copy_from(source, end);
    try {
      load_copied(database_, journal_);
      note_observed(journal_.get_position());
      require();
    } catch (...) {
      must_build_ = true;
      rollback();
      throw;
    }
  }
  // The same, with a soft checkpoint. If that fails, the tables have the new entries, and nothing
  // more can be written (Write_Disabled).
  template <class Require>
  void copy_from(const Abstract_File& source, Offset end, Require require) {
    append_from(source, end, require);
    journal_.soft_checkpoint();
  }
  void copy_from(const Abstract_File& source, Offset end) {
    copy_from(source, end, [] {});
  }

 private:
  friend class Undo_Log;

  // The old tables stay if the journal cannot be read. What the observer has not been told of, it
  // is told again.
  void build();

  // That was logged, and is about to be applied.
  template <class Entry>
  [[gnu::noinline]] void note(const Entry& entry) {
    try {
      database_.note(entry);
    } catch (...) {
      require_rollback();
      throw;
    }
  }
  // The same; an insertion may have been applied. Arguments are values, so that those of the caller
  // stay in registers.
  [[gnu::noinline]] void note_insert(const Table& table, Record_Id record) {
    if (table.is_observed()) note(Insert{table.id(), record});
  }
  [[gnu::noinline]] void note_update(const Table& table, Field_Id field, Record_Id record) {
    if (table.is_observed()) note(Update<bool>{table.id(), record, field, {}});
  }
  // What was noted so far is told when the checkpoint is behind it. Not while the tables differ
  // from the journal: then it comes later, or is rolled back.
  void cut() {
    if (database_.observer() == nullptr || must_build_ || vector_updates_ > 0) return;
    database_.observer()->cut(journal_.get_position());
    note_observed(journal_.get_position());
  }
  // Of the positions before the checkpoint, only the last one is needed. The checkpoint may be
  // between two of them: that of a group commit has what others have written, too.
  void note_observed(Offset position) {
    if (database_.observer() == nullptr) return;
    while (observed_.size() > 1 && observed_[1] <= journal_.get_checkpoint())
      observed_.erase(observed_.begin());
    if (observed_.empty() || observed_.back() < position) observed_.push_back(position);
  }

  void require_checkpoint() const {
    if (!has_checkpoints_) throw Exception("there is no checkpoint in a schema upgrade");
    if (must_build_ && ahead_of_checkpoint() > 0)
      throw Exception(journal_.get_file().get_name() +
                      ": a change has failed, and the tables are not those of the journal: "
                      "rollback() must come first");
    database_.require_intact();
    database_.require_readable_from(journal_.get_position());
  }
  void begin_checkpoint() {
    require_checkpoint();
    cut();
  }

  // Where the snapshot is that the thread has written; 0 if there is none.
  Offset finish_background();
  void replace_snapshot();
  void spill();

  // The tables have what the journal has not.
  void require_rollback() {
    must_build_ = true;
    journal_.require_replay();
  }

  // Columns must not move, and nothing be rolled back, while they are changed in place.
  class Vector_Guard {
   public:
    Vector_Guard(int& count, Table& table) : count_(count), lock_(table) { ++count_; }
    ~Vector_Guard() { --count_; }
    Vector_Guard(const Vector_Guard&) = delete;
    Vector_Guard& operator=(const Vector_Guard&) = delete;

   private:
    int& count_;
    const Table::Growth_Lock lock_;
  };

  // Not inline, for most tables have no index, and what remains of an insertion is small.
  template <Field_Value... T>
  [[gnu::noinline]] static void prepare_keys(Table& table, Record_Id record,
                                             const Value<T>&... values) {
    if ((values.column.is_indexed() || ...))
      table.prepare_keys(record, std::array<New_Value, sizeof...(T)>{
                                     New_Value{values.field, key_part(values.value)}...});
  }
  template <Field_Value... T>
  [[gnu::noinline]] static void insert_into_indexes([[maybe_unused]] Table& table,
                                                    [[maybe_unused]] Record_Id record,
                                                    const Value<T>&... values) {
    (table.insert_into_indexes(record, values.field), ...);
  }

  template <Field_Value T>
  void log_vector(const Table& table, const Column<T>& column, Field_Id field, Record_Id record,
                  index_t size);

  class Background_Snapshot;

  const Deleted_Values deleted_values_;
  const std::vector<Index_Definition> indexes_;
  Database database_;
  Writable_Journal journal_;
  Offset spilled_ = 0;  // the position when memory was given back
  Offset due_bytes_ = snapshot_due_bytes;
  int vector_updates_ = 0;  // that are being made, one in the other
  bool must_build_ = true;
  bool has_checkpoints_ = true;
  std::unique_ptr<Background_Snapshot> background_;
  std::vector<Offset> observed_;  // where the observer was told that a commit may end
};

// ---- implementation -----------------------------------------------------------------------------

// Part of the generated function: there, ids and sizes are often known (0.18 s instead of 0.11 s
// for 10 million rows, where the compiler chose not to).
template <Field_Value... T>
[[gnu::always_inline]] inline void Writable_Database::insert(Table& table, const Insert& entry,
                                                             const Value<T>&... values) {
  table.prepare_insert(entry.record, database_.budget());
  (values.column.prepare(values.value), ...);
  const bool is_followed = table.is_followed();
  if (is_followed) [[unlikely]]
    prepare_keys(table, entry.record, values...);
  journal_.append(entry, Update<T>{entry.table, entry.record, values.field, values.value}...);
  database_.note_insert(entry.record.value(), table.records().size());
  table.insert(entry.record, sizeof...(T) > 0);
  (values.column.set(entry.record.value(), values.value), ...);
  if (is_followed) [[unlikely]] {
    insert_into_indexes(table, entry.record, values...);
    note_insert(table, entry.record);
  }
  table.make_room_for_one();
}

template <Field_Value T>
[[gnu::always_inline]] inline void Writable_Database::update(Table& table, Column<T>& column,
                                                             const Update<T>& entry) {
  column.prepare(entry.value);
  if (column.is_followed()) [[unlikely]]
    prepare_keys(table, entry.record, Value<T>{column, entry.field, entry.value});
  journal_.append(entry);
  if (column.is_followed()) [[unlikely]] {
    note_update(table, entry.field, entry.record);
    table.set(column, entry.field, entry.record, entry.value);
  } else {
    column.set(entry.record.value(), entry.value);
  }
}

template <Field_Value T, class Change>
void Writable_Database::update_vector(Table& table, Column<T>& column, Field_Id field,
                                      Record_Id record, index_t size, Change change) {
  Column_Update<T> update(table, column, field, record, size);
  journal_.require_ready();
  if (table.is_observed()) database_.observer()->note_update(table.id(), field, record, size);
  const auto finish = [&] {
    try {
      update.finish();
      log_vector(table, column, field, record, size);
    } catch (...) {
      if (!update.is_undone()) require_rollback();
      throw;
    }
  };
  try {
    const Vector_Guard guard(vector_updates_, table);
    change();
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

template <Field_Value T>
void Writable_Database::log_vector(const Table& table, const Column<T>& column, Field_Id field,
                                   Record_Id record, index_t size) {
  if constexpr (has_fixed_size<T>) {
    const std::span<const T> values(column.data() + record.value(), static_cast<std::size_t>(size));
    journal_.append_vector<T>(table.id(), record, field, values);
  } else {
    journal_.append_vector<T>(table.id(), record, field, size,
                              [&](std::int64_t i) -> T { return column.get(record.value() + i); });
  }
  database_.note_journal_size(journal_.get_position());
}

template <Field_Value T>
void Writable_Database::write_vector(Table_Id table, Record_Id record, Field_Id field,
                                     std::span<const T> values) {
  Table& t = database_.table(table);
  Column<T>& column = t.column<T>(field);
  const auto size = static_cast<index_t>(values.size());
  const auto get = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  t.prepare_update_vector(record, size);
  if constexpr (std::is_same_v<T, std::string_view>)
    for (const std::string_view text : values) {
      Database::require_size(text);
      column.prepare(text);
    }
  if (column.is_indexed()) {
    update_vector(t, column, field, record, size, [&] {
      for (index_t i = 0; i < size; ++i) column.set(record.value() + i, get(i));
    });
  } else {
    if (t.is_observed()) database_.observer()->note_update(table, field, record, size);
    journal_.append_vector<T>(table, record, field, size, get);
    for (index_t i = 0; i < size; ++i) column.set(record.value() + i, get(i));
    database_.note_journal_size(journal_.get_position());
  }
}

}  // namespace joedb::inline v1

#endif
