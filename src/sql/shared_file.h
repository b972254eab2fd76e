#ifndef JOEDB_SRC_SQL_SHARED_FILE_H
#define JOEDB_SRC_SQL_SHARED_FILE_H

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joedb/io/file.h"
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
  // Reads the content from `place`, to which a writer has moved it, until set_content().
  void lend(Database& place) { database_ = &place; }
  void set_content(Database database) {
    own_ = std::move(database);
    database_ = &own_;
  }

  // The open cursors that were opened when this was the current state. They read it, or a past
  // state.
  std::vector<Cursor*>& cursors() { return cursors_; }

  // Returns an index over these fields of a table, which is in no options file. Builds it at the
  // first call, in time O(n log n). Throws std::bad_alloc.
  const Index& own_index(const Table& table, const std::vector<Field_Id>& fields);
  // Call this before a search in all of the table for one value of this field. After many such
  // searches, an index pays: returns it then, otherwise null.
  const Index* note_search(const Table& table, Field_Id field);
  // Call this before the content changes. Cursors may continue to use their indexes.
  void forget_own_indexes();

 private:
  Database own_;
  Database* database_ = &own_;
  std::vector<Cursor*> cursors_;
  std::map<std::pair<Table_Id, std::vector<Field_Id>>, std::unique_ptr<Index>> own_indexes_;
  std::map<std::pair<Table_Id, Field_Id>, int> searches_;
  std::vector<std::unique_ptr<Index>> forgotten_indexes_;  // kept while there are cursors
};

// A joedb file, as one connection of SQLite sees it: its current state, which follows other
// writers, a few past states, and the transaction that changes it.
//
// The current state is updated when a cursor is opened and no other one is open, which is where a
// statement begins. SQLite closes the cursors of a statement when it ends, and not before; to open
// a cursor again, it closes the old one after it has opened the new one. So the state does not
// change while a statement reads it. (A trigger counts as a statement of its own.) If a transaction
// begins while statements read, they keep their state, and there is a new current state. Only
// statements that begin in the transaction see its changes as they are made.
//
// Used by one thread at a time, as connections are.
class Shared_File {
 public:
  // Reads the whole content, with the indexes of a .joedbc file, if there is one, and with the
  // indexes of the newest snapshot. Throws Exception, compiler::Schema_Errors.
  Shared_File(std::unique_ptr<Abstract_File> file, const std::string& options_file);
  // For a database in memory, which its owner changes between statements. `live` and `file` must
  // outlive the object. There are no past states and no transactions.
  Shared_File(Database& live, Abstract_File& file);
  // Rolls back the transaction, if there is one.
  ~Shared_File();

  const std::string& name() const { return file_->get_name(); }
  const Abstract_File& file() const { return *file_; }

  // Returns the current state. begin_reading() and begin_writing() may replace it and change its
  // content.
  State& present() { return *present_; }
  // Number of changes of the current state, without changes of records in a transaction.
  std::uint64_t version() const { return version_; }

  // Registers a cursor, and returns the state that it reads, which is the current one. If there are
  // no other cursors and no transaction, first reads what others have written, and waits for locks
  // as long as `connection` says (patience_of). Throws Io_Error, Corruption_Error; the cursor is
  // not registered then.
  std::shared_ptr<State> begin_reading(Cursor& cursor, sqlite3* connection);
  void end_reading(State& state, Cursor& cursor) noexcept;

  // Returns the state at a moment: a position, if the value is an integer, or a time such as
  // "2026-01-31 23:59:59" or a part of it, or the name of a tag. Returns null for NULL, which means
  // the present. Throws Exception if there is no such moment.
  std::shared_ptr<State> past(sqlite3_value* moment);

  // From now on, begin_writing() throws Sql_Error.
  void forbid_writing() { is_read_only_ = true; }
  bool is_read_only() const { return is_read_only_; }
  // Returns the transaction; null if there is none.
  Writer* writer() { return writer_.get(); }
  // Begins a transaction, unless there is one: takes the write lock, and waits for it for at most
  // `patience`. Throws what Writer and begin_reading() throw; there is no transaction then.
  void begin_writing(System::Duration patience);
  // Call this before records are changed in the transaction.
  void note_change() { present_->forget_own_indexes(); }
  // Call this after records were deleted: cursors that read the current state skip them.
  void note_deleted_records() noexcept;
  // Ends the transaction, after Writer::commit() or rollback(). Does nothing if there is none. If
  // the journal cannot be read now, it is read when the next cursor is opened.
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
  const bool is_live_ = false;               // for a database in memory, which has no journal
  std::optional<Readonly_Journal> journal_;  // empty if is_live_, and perhaps while must_load_
  std::shared_ptr<State> present_;
  bool must_load_ = false;  // the current state must be loaded again
  std::uint64_t version_ = 0;
  int cursors_ = 0;  // number of open cursors, of all states
  std::unique_ptr<Writer> writer_;
  bool is_read_only_ = false;

  static constexpr std::size_t max_past_states = 4;
  std::list<std::pair<Offset, std::shared_ptr<State>>> past_;  // the most recently used first
  std::map<std::int64_t, Offset> times_;             // positions of times, since the last change
  std::map<std::string, Offset, std::less<>> tags_;  // the same for tags
};

// The files of a connection.
class Shared_Files {
 public:
  Shared_Files(sqlite3* connection, File_Opener opener)
      : connection_(connection), opener_(std::move(opener)) {}

  sqlite3* connection() const { return connection_; }

  // Returns a file. Opens it with its indexes, unless it is already in use. Throws Sql_Error for a
  // file that was not open when the connection was sealed.
  std::shared_ptr<Shared_File> open(const std::string& name, const std::string& options_file);

  // Adds a file, which open() returns as long as it is in use.
  void add(const std::string& name, const std::shared_ptr<Shared_File>& file) {
    files_[{name, ""}] = file;
  }

  // The tables and views that joedb_open has made of a file, until joedb_close.
  struct Opened {
    std::string name;
    std::string options_file;
    std::shared_ptr<Shared_File> file;
    struct Object {
      std::string name;
      std::string drop;  // statement that drops it
      Table_Id table;    // null for a view
    };
    std::string schema;
    std::vector<Object> objects;
    std::vector<std::string> hidden;  // tables that SQL does not show, with the reason
  };
  std::vector<Opened>& opened() { return opened_; }

  // Restricts the connection permanently to reading the files that are open: for programs that let
  // others write statements. Throws Sql_Error in a transaction that writes a file.
  void seal();
  bool is_sealed() const { return is_sealed_; }
  // Throws Sql_Error if the connection is sealed.
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
