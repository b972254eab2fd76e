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

// The content of a file at a moment.
class State {
 public:
  State() = default;
  explicit State(Database like) : own_(std::move(like)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Database& database() { return *database_; }
  // Reads the content from `place`, because a writer has moved it there. set_content() ends this.
  void lend(Database& place) { database_ = &place; }
  void set_content(Database database) {
    own_ = std::move(database);
    database_ = &own_;
  }

  // The open cursors for which this was the current state when they were opened. They read this
  // state, or a past one.
  std::vector<Cursor*>& cursors() { return cursors_; }

  // Returns an index over these fields of a table, for fields without an index in the options file.
  // The first call builds the index, in time O(n log n). Throws std::bad_alloc.
  const Index& own_index(const Table& table, const std::vector<Field_Id>& fields);
  // Call this before a search in the whole table for one value of this field. Returns null at
  // first. After many searches, builds an index, because that pays, and returns it.
  const Index* note_search(const Table& table, Field_Id field);
  // Call this before the content changes. The indexes stay valid for cursors that use them.
  void forget_own_indexes();

 private:
  Database own_;
  Database* database_ = &own_;
  std::vector<Cursor*> cursors_;
  std::map<std::pair<Table_Id, std::vector<Field_Id>>, std::unique_ptr<Index>> own_indexes_;
  std::map<std::pair<Table_Id, Field_Id>, int> searches_;
  std::vector<std::unique_ptr<Index>> forgotten_indexes_;  // deleted when there are no cursors
};

// A joedb file as one SQLite connection sees it: the current state, which follows other writers, a
// few past states, and the transaction that changes the file.
//
// The current state does not change while a statement reads it. It is updated when a cursor is
// opened while no other cursor is open, which is at the beginning of a statement: SQLite keeps the
// cursors of a statement open until the statement ends and, to reopen a cursor, opens the new one
// before it closes the old one. (A trigger counts as a separate statement.) If a transaction begins
// while statements read, they keep their state, and there is a new current state. Only statements
// that begin in the transaction see its changes as they are made.
//
// Used by one thread at a time, like a connection.
class Shared_File {
 public:
  // Reads the whole content. Indexes are those of the .joedbc file, if one is given, and of the
  // newest snapshot. Throws Exception or compiler::Schema_Errors.
  Shared_File(std::unique_ptr<Abstract_File> file, const std::string& options_file);
  // For a database in memory that its owner changes between statements. `live` and `file` must
  // outlive this object. There are no past states and no transactions.
  Shared_File(Database& live, Abstract_File& file);
  // Rolls back the transaction, if there is one.
  ~Shared_File();

  const std::string& name() const { return file_->get_name(); }
  const Abstract_File& file() const { return *file_; }

  // Returns the current state. begin_reading() and begin_writing() may replace it, or change its
  // content.
  State& present() { return *present_; }
  // Counts changes of the current state, except changes of records in a transaction.
  std::uint64_t version() const { return version_; }

  // Registers a cursor, and returns the state that it reads, which is the current one. If there are
  // no other cursors and no transaction, first reads what others have written, and waits for locks
  // as long as `connection` says (patience_of). Throws Io_Error, Corruption_Error; the cursor is
  // not registered then.
  std::shared_ptr<State> begin_reading(Cursor& cursor, sqlite3* connection);
  void end_reading(State& state, Cursor& cursor) noexcept;

  // Returns the state at a moment. The moment is a position (an integer), a time such as
  // "2026-01-31 23:59:59" or a part of it, or the name of a tag. Returns null for NULL, which means
  // the current state. Throws Exception if there is no such moment.
  std::shared_ptr<State> past(sqlite3_value* moment);

  // Makes begin_writing() throw Sql_Error from now on.
  void forbid_writing() { is_read_only_ = true; }
  bool is_read_only() const { return is_read_only_; }
  // Returns the transaction; null if there is none.
  Writer* writer() { return writer_.get(); }
  // Begins a transaction, unless there is one: takes the write lock, waiting for it for at most
  // `patience`. Passes on the exceptions of Writer and begin_reading(). After an exception, there
  // is no transaction.
  void begin_writing(System::Duration patience);
  // Call this before records are changed in the transaction.
  void note_change() { present_->forget_own_indexes(); }
  // Call this after records were deleted, so that cursors on the current state skip them.
  void note_deleted_records() noexcept;
  // Ends the transaction, if there is one. Call this after Writer::commit() or rollback(). If the
  // journal cannot be read now, it is read when the next cursor is opened.
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
  const bool is_live_ = false;               // a database in memory, without a journal
  std::optional<Readonly_Journal> journal_;  // empty if is_live_; may be empty if must_load_
  std::shared_ptr<State> present_;
  bool must_load_ = false;  // load the current state again
  std::uint64_t version_ = 0;
  int cursors_ = 0;  // number of open cursors on any state
  std::unique_ptr<Writer> writer_;
  bool is_read_only_ = false;

  static constexpr std::size_t max_past_states = 4;
  std::list<std::pair<Offset, std::shared_ptr<State>>> past_;  // most recently used first
  std::map<std::int64_t, Offset> times_;                       // cached positions of times
  std::map<std::string, Offset, std::less<>> tags_;            // cached positions of tags
};

// The files of a connection.
class Shared_Files {
 public:
  Shared_Files(sqlite3* connection, File_Opener opener)
      : connection_(connection), opener_(std::move(opener)) {}

  sqlite3* connection() const { return connection_; }

  // Returns a file. If it is not in use, opens it, with its indexes. Throws Sql_Error if the
  // connection is sealed, and the file was not open then.
  std::shared_ptr<Shared_File> open(const std::string& name, const std::string& options_file);

  // Adds a file, which open() will return for as long as the file is in use.
  void add(const std::string& name, const std::shared_ptr<Shared_File>& file) {
    files_[{name, ""}] = file;
  }

  // The tables and views that joedb_open has created for a file. joedb_close drops them.
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

  // Permanently restricts the connection to reading the files that are open now. Use this before
  // executing statements of others. Throws Sql_Error in a transaction that writes a file.
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
