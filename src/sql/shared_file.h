#ifndef SQL_SHARED_FILE_H
#define SQL_SHARED_FILE_H

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/journal/moment.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"
#include "sql/register_joedb.h"
#include "sql/sqlite_api.h"
#include "sql/writer.h"

namespace joedb {

class Cursor;

// The content of a file at one moment.
class State {
 public:
  State() = default;
  explicit State(Database like) : own_(std::move(like)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Database& database() { return *database_; }
  // The content is elsewhere for a while: a writer has moved it to there.
  void lend(Database& place) { database_ = &place; }
  void take_back(Database database) {
    own_ = std::move(database);
    database_ = &own_;
  }

  // Those that read it, or were opened when it was the present.
  std::vector<Cursor*>& cursors() { return cursors_; }

  // An index over these fields of a table that no options file has: it is made the first time, in
  // time O(n log n). Throws std::bad_alloc.
  const Index& own_index(const Table& table, const std::vector<Field_Id>& fields);
  // The table is about to be searched, all of it, for one value of this field. After many such
  // searches an index pays: returns it then, else null.
  const Index* note_search(const Table& table, Field_Id field);
  // The content is about to change. Cursors may go on with the indexes that they have.
  void forget_own_indexes();

 private:
  Database own_;
  Database* database_ = &own_;
  std::vector<Cursor*> cursors_;
  std::map<std::pair<Table_Id, std::vector<Field_Id>>, std::unique_ptr<Index>> own_indexes_;
  std::map<std::pair<Table_Id, Field_Id>, int> searches_;
  std::vector<std::unique_ptr<Index>> forgotten_indexes_;  // as long as there are cursors
};

// A joedb file, as one connection of SQLite sees it: its present state, which follows what others
// write, a few past ones, and the transaction that changes it.
//
// The present state follows when a cursor is opened and no other one is open: where a statement
// begins. SQLite closes the cursors of a statement when it ends, and not before; where it opens one
// again, it closes the old one afterwards. So the state does not change while a statement reads it.
// (A trigger is a statement of its own in that.) Where a transaction begins while statements read,
// these keep the state that they have, and there is a new one. Only statements that begin in the
// transaction see its changes as they are made.
//
// Used by one thread at a time, as connections are.
class Shared_File {
 public:
  // Reads the whole content, with the indexes of a .joedbc file, if there is one, and with those of
  // the newest snapshot. Throws Exception, compiler::Schema_Errors.
  Shared_File(std::unique_ptr<Abstract_File> file, const std::string& options_file);
  // A database in memory, which its owner changes between statements. Both must outlive it. There
  // are no past states and no transactions.
  Shared_File(Database& live, Abstract_File& file);
  // Rolls back.
  ~Shared_File();

  const std::string& name() const { return file_->get_name(); }
  const Abstract_File& file() const { return *file_; }

  // The present state: another one after begin_reading() or begin_writing(), which also change the
  // content.
  State& present() { return *present_; }
  // How often the present state has changed, but for changes of records in a transaction.
  std::uint64_t version() const { return version_; }

  // A cursor is opened. If nobody reads, reads what others have written. The cursor reads the
  // result, which is the present state. Throws Io_Error, Corruption_Error; the cursor does not
  // count then.
  std::shared_ptr<State> begin_reading(Cursor& cursor);
  void end_reading(State& state, Cursor& cursor) noexcept;

  // The state at a moment: a position, if the value is an integer, or a time as
  // "2026-01-31 23:59:59", or a part of that. Null for NULL, which means the present. Throws
  // Exception if there is no such moment.
  std::shared_ptr<State> past(sqlite3_value* moment);

  // From now on, begin_writing() throws Sql_Error.
  void forbid_writing() { is_read_only_ = true; }
  bool is_read_only() const { return is_read_only_; }
  // The transaction; null if there is none.
  Writer* writer() { return writer_.get(); }
  // Takes the write lock, waiting as long as `patience`, unless there is a transaction. Throws what
  // Writer and begin_reading() throw; there is no transaction then.
  void begin_writing(System::Duration patience);
  // Before a change of records in the transaction.
  void note_change() { present_->forget_own_indexes(); }
  // After records have gone: cursors that read the present state do not give them any more.
  void note_gone_records() noexcept;
  // After Writer::commit() or rollback(). Nothing happens if there is no transaction. What cannot
  // be read again is read when the next cursor is opened.
  void end_writing() noexcept;

 private:
  void load_all(State& state);
  void load_with(State& state, std::vector<Index_Definition> indexes);
  void load_new();
  void follow();
  void refresh();
  std::shared_ptr<State> past(Offset position);

  std::shared_ptr<Abstract_File> file_;
  const std::string options_file_;
  const bool is_live_ = false;               // a database in memory, which has no journal
  std::optional<Readonly_Journal> journal_;  // none also while must_load_
  std::shared_ptr<State> present_;
  bool must_load_ = false;  // the present state cannot follow
  std::uint64_t version_ = 0;
  int cursors_ = 0;  // of all states
  std::unique_ptr<Writer> writer_;
  bool is_read_only_ = false;

  static constexpr std::size_t most_past_states = 4;
  std::list<std::pair<Offset, std::shared_ptr<State>>> past_;  // the last one that was used, first
  std::map<std::int64_t, Offset> times_;                       // since the last change
  std::map<std::string, Offset, std::less<>> tags_;            // as well
};

// The files of a connection.
class Shared_Files {
 public:
  Shared_Files(sqlite3* connection, File_Opener opener)
      : connection_(connection), opener_(std::move(opener)) {}

  sqlite3* connection() const { return connection_; }

  // Opened the first time, with its indexes; the same as long as somebody uses it. Throws Sql_Error
  // for a file that was not open when the connection was sealed.
  std::shared_ptr<Shared_File> open(const std::string& name, const std::string& options_file);

  // A file that open() returns as long as it is used.
  void add(const std::string& name, const std::shared_ptr<Shared_File>& file) {
    files_[{name, ""}] = file;
  }

  // What joedb_open has made of a file, until joedb_close.
  struct Opened {
    std::string name;
    std::string options_file;
    std::shared_ptr<Shared_File> file;
    struct Object {
      std::string name;
      std::string drop;  // a statement
    };
    std::string schema;
    std::vector<Object> objects;
  };
  std::vector<Opened>& opened() { return opened_; }

  // From now on the files that are open are all that there is, and they are only read: for programs
  // that let others write statements. Cannot be taken back. Throws Sql_Error in a transaction that
  // writes a file.
  void seal();
  bool is_sealed() const { return is_sealed_; }
  // Throws Sql_Error if it is sealed.
  void require_unsealed() const;

 private:
  sqlite3* const connection_;
  const File_Opener opener_;
  bool is_sealed_ = false;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<Shared_File>> files_;
  std::vector<Opened> opened_;
};

}  // namespace joedb

#endif
