#ifndef SQL_WRITER_H
#define SQL_WRITER_H

#include <memory>
#include <vector>

#include "joedb/base/system.h"
#include "joedb/table/writable_database.h"
#include "sql/sqlite_api.h"
#include "table/undo_log.h"

namespace joedb {

// A transaction of SQLite on one joedb file: with the write lock, on the content that a reader
// lends. It ends with the object.
//
// Not thread-safe. After an error of commit() or a rollback, is_broken() may be true.
class Writer {
 public:
  // Opens the file for writing, and takes the content of `database`, that of its journal up to
  // `place`. Throws Sql_Error if the file can only be read (SQLITE_READONLY), or another one has
  // the write lock for longer than `patience` (SQLITE_BUSY); what Writable_Database throws. The
  // content is where it was then.
  Writer(const Abstract_File& file, Database& database, const Replay_Place& place,
         System::Duration patience);

  // Takes the write lock, and reads what others have written. Throws Sql_Error (SQLITE_BUSY), and
  // what Writable_Database::lock_pull throws: the content may be half new then.
  void lock();

  Database& database() { return database_.get_database(); }
  Undo_Log& changes() { return changes_; }
  // Whether something was changed, or a blob written.
  bool has_changes() { return database_.ahead_of_checkpoint() > 0; }
  Blob write_blob(std::string_view bytes) { return database_.write_blob(bytes); }
  // So that others who have the file open can read it: no checkpoint.
  void flush() { database_.flush(); }

  // Commands of joedbi that change tables and fields (docs/reference/joedbi.md). If it throws, the
  // text says which has failed, and is_broken() is true.
  void change_schema(std::string_view commands);

  // Savepoints have numbers from 0; -1 is the beginning of the transaction. Several tables tell of
  // the same one: only the first time counts.
  void set_savepoint(int number);
  // Forgets it, and those with larger numbers.
  void release(int number);
  // Takes back what was changed since, and forgets those with larger numbers.
  void rollback_to(int number);
  // Takes back everything since the beginning, or the last commit().
  void rollback();

  // Time stamp and hard checkpoint, if there are changes; others may follow, and all savepoints are
  // here then. If it throws, nothing since the last one counts after rollback(), or is_broken().
  void commit();

  // Whether the content is not that of the journal.
  bool is_broken() const { return is_broken_ || changes_.is_broken(); }
  // Gives the content back, and where it stands in the journal.
  Database end(Replay_Place& place);

 private:
  const System::Duration patience_;
  const std::unique_ptr<Abstract_File> file_;
  Writable_Database database_;
  Undo_Log changes_;
  Undo_Log::Savepoint start_;
  std::vector<Undo_Log::Savepoint> savepoints_;
  bool is_broken_ = false;
};

}  // namespace joedb

#endif
