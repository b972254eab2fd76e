#ifndef JOEDB_SRC_SQL_WRITER_H
#define JOEDB_SRC_SQL_WRITER_H

#include <memory>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/undo_log.h"
#include "sql/sqlite_api.h"

namespace joedb {

// A transaction of SQLite on one joedb file. It has the write lock, and works on the content that a
// reader has lent to it. It ends with the object.
//
// Not thread-safe. After an error of commit() or a rollback, is_broken() may be true.
class Writer {
 public:
  // Opens the file for writing, and takes over the content of `database`, which is the content of
  // the journal up to `place`. Throws the exceptions of Writable_Database, Sql_Error if the file is
  // read-only (SQLITE_READONLY), and Lock_Timeout if another writer has the write lock for longer
  // than `patience`. `database` is unchanged then.
  Writer(const Abstract_File& file, Database& database, const Replay_Place& place,
         System::Duration patience);

  // Takes the write lock, and reads what others have written. Throws Sql_Error (SQLITE_BUSY) if the
  // file was replaced, and what Writable_Database::lock_pull throws. The content may have only a
  // part of the new entries then.
  void lock();

  Database& database() { return database_.get_database(); }
  Undo_Log& changes() { return changes_; }
  // True if something was changed, or a blob was written.
  bool has_changes() { return database_.ahead_of_checkpoint() > 0; }
  Blob write_blob(std::string_view bytes) { return database_.write_blob(bytes); }
  // Writes the buffer to the file, without a checkpoint, so that other handles of the file can read
  // it.
  void flush() { database_.flush(); }

  // Runs commands of joedbi that change tables and fields (docs/reference/joedbi.md). If it throws,
  // the message names the command that failed, and is_broken() is true.
  void change_schema(std::string_view commands);

  // Sets a savepoint. Savepoints are numbered from 0; -1 is the beginning of the transaction.
  // Several tables may report the same savepoint: only the first call counts.
  void set_savepoint(int number);
  // Forgets a savepoint and all savepoints with larger numbers.
  void release(int number);
  // Undoes the changes since a savepoint, and forgets all savepoints with larger numbers.
  void rollback_to(int number);
  // Undoes all changes since the beginning, or since the last commit().
  void rollback();

  // If there are changes, writes a time stamp and a hard checkpoint. More changes may follow; all
  // savepoints are moved to this point. If it throws, is_broken() is true, and the content must be
  // loaded again.
  void commit();

  // True if the content differs from that of the journal.
  bool is_broken() const { return is_broken_ || changes_.is_broken(); }
  // Returns the content, and sets `place` to its place in the journal.
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
