#ifndef JOEDB_SRC_SQL_WRITER_H
#define JOEDB_SRC_SQL_WRITER_H

#include <memory>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/undo_log.h"
#include "sql/sqlite_api.h"

namespace joedb {

// An SQLite transaction on one joedb file. The transaction has the write lock, changes the content
// that a reader has lent to it, and ends with the destruction of this object.
//
// Not thread-safe. is_broken() may be true after a failed commit(), and after a rollback.
class Writer {
 public:
  // Opens the file for writing, and moves the content out of `database`; it must be the content of
  // the journal up to `place`. Throws the exceptions of Writable_Database, Sql_Error
  // (SQLITE_READONLY) if the file is read-only, and Lock_Timeout if another writer holds the write
  // lock for longer than `patience`. After an exception, `database` is unchanged.
  Writer(const Abstract_File& file, Database& database, const Replay_Place& place,
         System::Duration patience);

  // Takes the write lock, and reads the entries of other writers. Throws Sql_Error (SQLITE_BUSY) if
  // the file was replaced, and the exceptions of Writable_Database::lock_pull. After an exception,
  // the content may have only a part of the new entries.
  void lock();

  Database& database() { return database_.get_database(); }
  Undo_Log& changes() { return changes_; }
  // Returns true if anything was changed, or a blob was written.
  bool has_changes() { return database_.ahead_of_checkpoint() > 0; }
  Record_Id next_free(const Table& table) { return database_.next_free(table); }
  Blob write_blob(std::string_view bytes) { return database_.write_blob(bytes); }
  // Writes the buffer to the file, without a checkpoint. Other handles of the file can then read
  // it.
  void flush() { database_.flush(); }

  // Runs commands of joedbi that change tables and fields (docs/reference/joedbi.md). If this
  // throws, the message has the command that failed, and is_broken() is true.
  void change_schema(std::string_view commands);

  // Sets a savepoint. Savepoints are numbered from 0; -1 is the start of the transaction. Several
  // tables may report the same savepoint, so only the first call for a number has an effect.
  void set_savepoint(int number);
  // Drops a savepoint, and all savepoints with higher numbers.
  void release(int number);
  // Undoes the changes since a savepoint, and drops all savepoints with higher numbers.
  void rollback_to(int number);
  // Undoes all changes since the start, or since the last commit().
  void rollback();

  // If there are changes, writes a time stamp and makes a hard checkpoint. More changes may follow,
  // but all savepoints are moved to this point. If this throws, is_broken() is true, and the
  // content must be loaded again.
  void commit();

  // Returns true if the content may differ from that of the journal.
  bool is_broken() const { return is_broken_ || changes_.is_broken(); }
  // Returns the content, and sets `place` to the end of the journal that it corresponds to.
  Database end(Replay_Place& place);

 private:
  const std::unique_ptr<Abstract_File> file_;
  Writable_Database database_;
  Undo_Log changes_;
  Undo_Log::Savepoint start_;
  std::vector<Undo_Log::Savepoint> savepoints_;
  bool is_broken_ = false;
};

}  // namespace joedb

#endif
