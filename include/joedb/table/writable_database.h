#ifndef JOEDB_TABLE_WRITABLE_DATABASE_H
#define JOEDB_TABLE_WRITABLE_DATABASE_H

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/load.h"

namespace joedb::inline v1 {

class Undo_Log;

struct Consequence;  // kernel/table/references.h

// A database with its content in memory and its journal.
//
// Every change is checked, logged and applied, in this order. If a function throws, neither the
// tables nor the journal have changed, unless its comment says otherwise. A change throws
// Unique_Violation, Data_Error if it does not match the tables, Io_Error if the file cannot be
// written, Write_Disabled after a failed write or sync, and Exception if memory is exhausted or a
// shared file is not locked (lock_pull).
//
// Not thread-safe. Several threads may call const functions while none changes the database.
class Writable_Database : public Journal_Owner {
 public:
  // Opens the journal and replays it. `file` must outlive the database. Throws the exceptions of
  // Writable_Journal and its replay, and Unique_Violation if a unique index would hold a key twice.
  explicit Writable_Database(Abstract_File& file, const Journal_Options& options = {},
                             Deleted_Values deleted_values = Deleted_Values::reset,
                             std::vector<Index_Definition> indexes = {});
  // Takes over the content of a reader of the same file: `content` must be the content of the
  // journal up to `place`. If this throws, `content` is unchanged. Addresses of tables do not
  // change.
  Writable_Database(Abstract_File& file, const Journal_Options& options, Database& content,
                    const Replay_Place& place);
  // Returns the content, for a reader; afterwards only the destructor may be called. Drops the
  // entries after the checkpoint from the file, if possible; the content still includes them.
  Database release();
  // Writes a new snapshot if the file has an old one (is_snapshot_due). Reports errors to
  // Destructor_Logger.
  ~Writable_Database();

  const Database& get_database() const { return database_; }
  // The address of the database does not change; addresses of tables change when the tables are
  // rebuilt (must_build). Direct changes of the tables are not logged: use the functions of this
  // class.
  Database& get_database() { return database_; }

  // ---- changes

  // Writes any entry of format/entry.h except Blob_Data and Update_Vector. If memory is exhausted
  // when a change of tables, fields or logical types has been logged but not yet applied, the only
  // possible next steps are rollback() and closing the database.
  //
  // A deletion first does what the rules of references to the records say
  // (Logical_Type::On_Delete); it throws Data_Error if a rule refuses it. If a unique index would
  // hold a key twice because a reference becomes null, throws Unique_Violation; the references are
  // then restored.
  template <class Entry>
  void write(const Entry& entry) {
    if constexpr (std::is_same_v<Entry, Delete> || std::is_same_v<Entry, Delete_Vector>)
      if (database_.has_rules(entry.table)) [[unlikely]]
        write_consequences(entry);
    write_alone(entry);
  }

  // Deletes records of a table together: a rule refuses this only because of other records. The
  // records must be different. Throws the exceptions of write(Delete); nothing has changed then,
  // unless writing has failed.
  void erase(Table_Id table, std::span<const Record_Id> records);

  // Makes changes of consequences_of_deletion() (kernel/table/references.h), in their order. If a
  // reference cannot become null, restores the ones before it.
  void write_consequences(std::span<const Consequence> consequences);

  // Like write(), but a deletion does nothing to references. For code that writes all changes
  // itself.
  template <class Entry>
  void write_alone(const Entry& entry) {
    database_.prepare(entry);
    if constexpr (std::is_same_v<Entry, Update<Record_Id>>) note_reference(entry);
    if constexpr (std::is_same_v<Entry, Insert> || std::is_same_v<Entry, Insert_Vector>)
      note_insertion(entry.table, entry.record);
    journal_.append(entry);
    if (database_.observer() != nullptr) [[unlikely]]
      note(entry);
    if constexpr (is_schema_entry<Entry> || std::is_same_v<Entry, Comment>) {
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

  // Returns the id for a new record of the table: the id that was freed or skipped last, or, if no
  // id is free, the next new id. An id is not free while a reference of a record in use refers to
  // it, so that no reference comes to refer to a new record.
  //
  // To find such references takes a pass over the records with fields that refer to the table. So
  // that each call takes constant time on average, not every call makes a pass: a new id may be
  // returned although an id is free. With Deleted_Values::keep, references are not looked for.
  Record_Id next_free(const Table& table) {
    const index_t id = table.records().next_free();
    return Record_Id(id < table.records().size() ? find_free(table) : id);
  }

  // A field of a row, and its new value.
  template <Field_Value T>
  struct Value {
    Column<T>& column;
    Field_Id field;
    T value;
  };

  // Inserts a row with a value for each of its fields, in field order, or without values. The
  // columns must belong to `table`. The caller must have checked texts by Database::require_size
  // and blobs by Database::require_valid.
  template <Field_Value... T>
  void insert(Table& table, const Insert& entry, const Value<T>&... values);

  // Sets a value of a row. The row must be in use, which is not checked. The preconditions of
  // insert() apply.
  template <Field_Value T>
  void update(Table& table, Column<T>& column, const Update<T>& entry);

  // Throws the exception that the insertion of this row with these values would throw; changes
  // nothing. For callers that insert the row and then update its fields one by one.
  void require_unique(const Insert& entry, std::span<const New_Value> values) {
    database_.prepare(entry);
    database_.table(entry.table).prepare_keys(entry.record, values);
  }

  // Updates records [record, record + size) in place: change() writes the new values to the column.
  // Throws Data_Error if the range is not inside the table.
  //
  // If change() throws, the values that it has already written are logged, so that tables and
  // journal agree. If a unique index would hold a key twice, throws Unique_Violation, and the
  // column has its old values. If logging fails, the tables are ahead of the journal: every change
  // throws until rollback(), or until the database is closed.
  //
  // change() must not add records to this table, and must not change fields that are part of an
  // index of this table. While it runs, the records are in no index that has the field.
  template <Field_Value T, class Change>
  void update_vector(Table& table, Column<T>& column, Field_Id field, Record_Id record,
                     index_t size, Change change);

  // The same with given values, for a field of this type. If the field is part of no index, the
  // update is logged before the column changes, so that a failure changes nothing.
  template <Field_Value T>
  void write_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values);

  // See Writable_Journal::require_ready. Afterwards, the next change does not become part of a
  // transaction that another program has left without an end.
  void require_ready() { journal_.require_ready(); }
  // Ends the current transaction of the history: if entries follow the end of the last transaction,
  // appends `entry`, which is a Timestamp or a Valid_Data.
  template <class Entry>
  void end_transaction(const Entry& entry) {
    static_assert(is_transaction_end<Entry>);
    if (journal_.is_unfinished()) write(entry);
  }

  // ---- checkpoints

  // See Writable_Journal::prepare_checkpoint. Throws the exceptions of checkpoint().
  void prepare_checkpoint(Checkpoint_Level level) {
    require_checkpoint();
    journal_.prepare_checkpoint(level);
  }
  // Throws Data_Error if the journal could not be read again (Database::require_readable_from),
  // Exception during a schema upgrade or if only rollback() is possible, and the exceptions of
  // Database::require_intact; nothing has been written then. Also throws the exceptions of
  // Writable_Journal::checkpoint; the previous checkpoint then remains valid.
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
  // The place after the last entry.
  Replay_Place place() const { return journal_.savepoint(); }

  // Drops everything after the checkpoint, in the file and in memory. Rebuilds the tables from the
  // journal, so addresses of tables change. If rebuilding throws, the old tables remain, and
  // nothing can be written before a rollback() or lock_pull() succeeds. Throws Exception inside
  // update_vector.
  void rollback() {
    if (vector_updates_ > 0) throw Exception("rollback while a vector is updated");
    if (ahead_of_checkpoint() == 0 && !must_build_) return;
    journal_.rollback();
    must_build_ = true;
    build();
  }

  // True if the tables differ from the journal after a failure: the next rollback() or lock_pull()
  // rebuilds them.
  bool must_build() const { return must_build_; }

  // While this object exists, checkpoints throw Exception, so that either all entries of a schema
  // upgrade get a checkpoint, or none.
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

  // ---- snapshots (table/load.h)

  // Writes a hard checkpoint, and then a snapshot of the tables next to the file, and maps the
  // tables from the snapshot, which frees unused memory. Invalidates strings, iterators of indexes
  // and other addresses of values. Returns false if another process is writing a snapshot, or if a
  // snapshot cannot be stored beside this kind of file. If the tables cannot be mapped from the new
  // snapshot, they stay in memory.
  //
  // Throws the exceptions of hard_checkpoint(), Io_Error, Exception inside update_vector, and
  // Corruption_Error if the tables may have wrong values, because the previous snapshot is damaged
  // (the destructor then rewrites the snapshot from the journal). There is no new snapshot then,
  // and nothing else has changed.
  bool write_snapshot();

  // Starts a thread that writes a snapshot, and returns at once. The thread opens the file itself,
  // and replays the journal from the last snapshot up to the last hard checkpoint. Does nothing
  // while another such thread is running. Throws Io_Error if the file cannot be opened, or if the
  // hard checkpoint of another process cannot be synced.
  void write_snapshot_in_background();
  // Waits for the thread of write_snapshot_in_background(), and rethrows its error. If nothing
  // follows the checkpoint then, rebuilds the tables from the snapshot and the entries after it,
  // which frees the memory of the old tables; addresses of tables change, as in rollback(). The
  // destructor waits, too.
  void wait_for_snapshot();

  // For loads that are larger than memory: call this repeatedly while loading. If this process has
  // more than `bytes` of private memory, calls Database::spill(), which invalidates the same
  // addresses as write_snapshot(), and returns true. Throws Io_Error, and Exception inside
  // update_vector; the content is unchanged then.
  bool limit_memory(std::size_t bytes) { return is_memory_above(bytes) && (spill(), true); }
  // True if limit_memory would spill: the process is above the limit, and the journal has grown by
  // at least an eighth of the limit since memory was last freed.
  bool is_memory_above(std::size_t bytes) const;

  // True if there is a snapshot that this database can use or should replace, and the journal has
  // grown enough since: by snapshot_due_bytes, or by the number that set_snapshot_due_bytes has
  // set. To replay the default of 16 MiB takes about 0.1 s.
  bool is_snapshot_due() const;
  static constexpr Offset snapshot_due_bytes = Offset{1} << 24;
  void set_snapshot_due_bytes(Offset bytes) { due_bytes_ = bytes; }

  // ---- sharing

  // For shared files (Writable_Journal::lock_pull): waits for the write lock, takes it, replays the
  // entries that other writers have appended, and calls require(), which validates the tables.
  // Returns the number of new bytes. Throws if the new entries are invalid, or if require() throws;
  // the lock is not held then. Throws Exception if there are entries after the checkpoint.
  // Addresses of tables change if must_build().
  template <class Require>
  Offset lock_pull(Require require) {
    return journal_.lock_pull([&] {
      follow();
      require();
    });
  }
  Offset lock_pull() {
    return lock_pull([] {});
  }
  // The same without the lock (Writable_Journal::pull): does not wait for other writers.
  template <class Require>
  Offset pull(Require require) {
    return journal_.pull([&] {
      follow();
      require();
    });
  }
  Offset pull() {
    return pull([] {});
  }

  // Appends the bytes [checkpoint, end) of another journal that begins with the same bytes as this
  // journal, and replays the appended entries. Requires that nothing follows the checkpoint of this
  // journal; a shared file must be locked. Throws if the bytes are not whole valid entries, or if
  // require() throws; nothing has changed then except the addresses of tables.
  template <class Require>
  void append_from(const Abstract_File& source, Offset end, Require require) {
    try {
      append_without_rollback(source, end, require);
    } catch (...) {
      if (must_build_) rollback();
      throw;
    }
  }
  void append_from(const Abstract_File& source, Offset end) {
    append_from(source, end, [] {});
  }
  // The same for callers that cannot wait: a rollback takes as long as opening. If this throws and
  // must_build() is true, call rollback() before anything else.
  template <class Require>
  void append_without_rollback(const Abstract_File& source, Offset end, Require require) {
    journal_.copy_from(source, end);
    try {
      forget_free_ids();
      load_copied(database_, journal_);
      note_observed(journal_.get_position());
      require();
    } catch (...) {
      must_build_ = true;
      throw;
    }
  }
  void append_without_rollback(const Abstract_File& source, Offset end) {
    append_without_rollback(source, end, [] {});
  }
  // The same, followed by a soft checkpoint. If the checkpoint fails, the tables have the new
  // entries, and nothing more can be written (Write_Disabled).
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

  // Rebuilds the tables from the journal. The old tables remain if the journal cannot be read.
  // Notifies the observer of the entries after the last valid position in observed_.
  void build();

  // Notifies the observer of an entry that was logged and is about to be applied.
  template <class Entry>
  [[gnu::noinline]] void note(const Entry& entry) {
    try {
      database_.note(entry);
    } catch (...) {
      require_rollback();
      throw;
    }
  }
  // The same for an insertion, which may already be applied. The record is passed by value, so that
  // the caller can keep its own copy in a register.
  [[gnu::noinline]] void note_insert(const Table& table, Record_Id record) {
    if (table.is_observed()) note(Insert{table.id(), record});
  }
  [[gnu::noinline]] void note_update(const Table& table, Field_Id field, Record_Id record) {
    if (table.is_observed()) note(Update<bool>{table.id(), record, field, {}});
  }
  // Ends a batch of the observer, which is reported when a checkpoint is at or past its end. Does
  // nothing while the tables differ from the journal: the changes are then reported later, or
  // rolled back.
  void cut() {
    if (database_.observer() == nullptr || must_build_ || vector_updates_ > 0) return;
    database_.observer()->cut(journal_.get_position());
    note_observed(journal_.get_position());
  }
  // Adds a position to observed_. Of the positions up to the checkpoint, only the last position is
  // needed. The checkpoint may be between two positions, because with group commit it also covers
  // entries that other threads have written. Replays the entries that others have written.
  void follow() {
    forget_free_ids();
    if (must_build_)
      build();
    else
      load(database_, journal_);
    note_observed(journal_.get_replay_position());
  }
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

  // Waits for the snapshot thread. Returns the position of its snapshot; 0 if there is none.
  Offset finish_background();
  void replace_snapshot();
  void spill();

  void write_consequences(const Delete& entry) {
    write_consequences(Delete_Vector{entry.table, entry.record, 1});
  }
  void write_consequences(const Delete_Vector& entry);

  index_t find_free(const Table& table);
  void forget_free_ids() {
    for (auto& [table, free] : free_ids_) free.ids.clear();
  }
  // Called when a record is inserted. Its id is no longer known to be free, even if the record is
  // deleted again: references may have been written meanwhile.
  void note_insertion(Table_Id table, Record_Id record) {
    if (!free_ids_.empty()) [[unlikely]]
      take_free(table, record);
  }
  void take_free(Table_Id table, Record_Id record);
  // Called when a reference is written. An id to which it refers is not free.
  void note_reference(const Update<Record_Id>& entry) {
    if (!free_ids_.empty()) [[unlikely]]
      forget_free(entry);
  }
  template <Field_Value T>
  void note_reference(const Insert& entry, const Value<T>& value) {
    if constexpr (std::is_same_v<T, Record_Id>)
      note_reference(Update<T>{entry.table, entry.record, value.field, value.value});
  }
  void forget_free(const Update<Record_Id>& entry);

  // Called when the tables have changes that the journal does not have.
  void require_rollback() {
    must_build_ = true;
    journal_.require_replay();
  }

  // Prevents columns from moving, and rollbacks, while values are changed in place.
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

  // Not inlined, to keep the inlined part of an insertion small: most tables have no index.
  template <Field_Value... T>
  [[gnu::noinline]] static void prepare_keys(Table& table, Record_Id record,
                                             const Value<T>&... values) {
    if ((values.column.is_indexed() || ...))
      table.prepare_keys(record, std::array<New_Value, sizeof...(T)>{
                                     New_Value{values.field, key_part(values.value)}...});
    if constexpr (sizeof...(T) == 0) table.prepare_enter(record, 1);
  }
  template <Field_Value... T>
  [[gnu::noinline]] static void insert_into_indexes([[maybe_unused]] Table& table,
                                                    [[maybe_unused]] Record_Id record,
                                                    const Value<T>&... values) {
    (table.insert_into_indexes(record, values.field), ...);
    if constexpr (sizeof...(T) == 0) table.enter_indexes(record, 1);
  }

  template <Field_Value T>
  void log_vector(const Table& table, const Column<T>& column, Field_Id field, Record_Id record,
                  index_t size);

  class Background_Snapshot;

  // The free ids of a table to which no reference refers.
  struct Free_Ids {
    std::vector<index_t> ids;  // the last is the next to use
    // How many records may be read to find free ids. Grows with each call of find_free().
    index_t budget = index_t{1} << 22;
  };

  const Deleted_Values deleted_values_;
  const std::vector<Index_Definition> indexes_;
  std::map<Table_Id, Free_Ids> free_ids_;
  Database database_;
  Offset spilled_ = 0;  // the journal position when memory was last freed
  Offset due_bytes_ = snapshot_due_bytes;
  int vector_updates_ = 0;  // nesting depth
  bool must_build_ = true;
  bool has_checkpoints_ = true;
  std::unique_ptr<Background_Snapshot> background_;
  std::vector<Offset> observed_;  // positions where a batch of the observer ends
};

// ---- implementation -----------------------------------------------------------------------------

// Always inlined into the generated function, where ids and sizes are often known. When the
// compiler did not inline it, 10 million rows took 0.18 s instead of 0.11 s.
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
  note_insertion(entry.table, entry.record);
  (note_reference(entry, values), ...);
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
  if constexpr (std::is_same_v<T, Record_Id>) note_reference(entry);
}

template <Field_Value T, class Change>
void Writable_Database::update_vector(Table& table, Column<T>& column, Field_Id field,
                                      Record_Id record, index_t size, Change change) {
  Column_Update<T> update(table, column, field, record, size);
  journal_.require_ready();
  if constexpr (std::is_same_v<T, Record_Id>) forget_free_ids();
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
    if constexpr (std::is_same_v<T, Record_Id>) forget_free_ids();
    journal_.append_vector<T>(table, record, field, size, get);
    for (index_t i = 0; i < size; ++i) column.set(record.value() + i, get(i));
    database_.note_journal_size(journal_.get_position());
  }
}

}  // namespace joedb::inline v1

#endif
