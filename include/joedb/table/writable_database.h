#ifndef JOEDB_TABLE_WRITABLE_DATABASE_H
#define JOEDB_TABLE_WRITABLE_DATABASE_H

#include <span>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/load.h"

namespace joedb::inline v1 {

// A database whose schema is known at run time only, and its journal.
//
// Every change is checked, logged, applied, in this order: if it throws, neither the tables nor the
// journal have changed. Not thread-safe.
class Writable_Database {
 public:
  // `file` must outlive the database. Throws what Writable_Journal and its replay throw.
  explicit Writable_Database(Abstract_File& file, Recovery recovery = Recovery::none,
                             Deleted_Values deleted_values = Deleted_Values::keep)
      : deleted_values_(deleted_values), database_(deleted_values), journal_(file, recovery) {
    replay();
  }

  const Database& get_database() const { return database_; }
  const Writable_Journal& get_journal() const { return journal_; }

  // Any entry of format/entry.h but Blob_Data and Update_Vector.
  template <class Entry>
  void write(const Entry& entry) {
    database_.prepare(entry);
    journal_.append(entry);
    database_.apply(entry);
  }

  // New values for records [record, record + values.size()).
  template <Field_Value T>
  void write_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values);

  Blob write_blob(std::string_view bytes) { return journal_.append_blob(bytes); }
  std::string read_blob(Blob blob, std::int64_t max_size = -1) {
    return journal_.read_blob(blob, max_size);
  }

  void flush() { journal_.flush(); }
  // Throws Data_Error, without having written a checkpoint, if the tables could not be read back
  // (Database::require_readable_from).
  void checkpoint(Checkpoint_Level level) {
    database_.require_readable_from(journal_.get_position());
    journal_.checkpoint(level);
  }
  void soft_checkpoint() { checkpoint(Checkpoint_Level::soft); }
  void hard_checkpoint() { checkpoint(Checkpoint_Level::hard); }
  Offset ahead_of_checkpoint() const { return journal_.ahead_of_checkpoint(); }

  // Forgets everything behind the checkpoint, in the file and in memory. The tables are built
  // again, so addresses of tables change.
  void rollback() {
    if (ahead_of_checkpoint() == 0) return;
    journal_.rollback();
    build_again();
  }

  // Shared files (Writable_Journal::lock_pull): takes the write lock and reads what others have
  // written. Returns the number of bytes read.
  // If it throws, the lock is not held.
  Offset lock_pull() {
    const Offset old = journal_.get_checkpoint();
    journal_.lock_pull();
    try {
      replay();
    } catch (...) {
      journal_.unlock();
      throw;
    }
    return journal_.get_checkpoint() - old;
  }
  void unlock() noexcept { journal_.unlock(); }

  // Appends [checkpoint, end) of another journal that begins like this one, with a soft checkpoint.
  // If the bytes make no sense it throws, and nothing has changed.
  void copy_from(const Abstract_File& source, Offset end) {
    journal_.copy_from(source, end);
    try {
      load(database_, journal_.get_position(), [&] { journal_.replay_copied(database_); });
    } catch (...) {
      rollback();
      throw;
    }
    journal_.soft_checkpoint();
  }

 private:
  void replay() { load(database_, journal_); }

  // The old tables stay if the journal cannot be read.
  void build_again() {
    Database fresh(deleted_values_);
    journal_.rewind();
    load(fresh, journal_);
    database_ = std::move(fresh);
  }

  const Deleted_Values deleted_values_;
  Database database_;
  Writable_Journal journal_;
};

template <Field_Value T>
void Writable_Database::write_vector(Table_Id table, Record_Id record, Field_Id field,
                                     std::span<const T> values) {
  Table& t = database_.table(table);
  Column<T>& column = t.column<T>(field);
  const auto size = static_cast<index_t>(values.size());
  t.prepare_update_vector(record, size);
  if constexpr (std::is_same_v<T, std::string_view>)
    for (const std::string_view text : values) {
      Database::require_size(text);
      column.prepare(text.size());
    }
  const auto get = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  journal_.append_vector<T>(table, record, field, size, get);
  for (index_t i = 0; i < size; ++i) column.set(record.value() + i, get(i));
  database_.note_journal_size(journal_.get_position());
}

}  // namespace joedb::inline v1

#endif
