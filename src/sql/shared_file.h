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

namespace joedb {

// The content of a file at one moment.
class State {
 public:
  State() : database(Deleted_Values::reset) {}
  explicit State(Database like) : database(std::move(like)) {}

  // An index over these fields of a table that no options file has: it is made the first time, in
  // time O(n log n). Throws std::bad_alloc.
  const Index& own_index(const Table& table, const std::vector<Field_Id>& fields);
  // The table is about to be searched, all of it, for one value of this field. After many such
  // searches an index pays: returns it then, else null.
  const Index* note_search(const Table& table, Field_Id field);
  // The content has changed.
  void forget_own_indexes() {
    own_indexes_.clear();
    searches_.clear();
  }

  Database database;

 private:
  std::map<std::pair<Table_Id, std::vector<Field_Id>>, std::unique_ptr<Index>> own_indexes_;
  std::map<std::pair<Table_Id, Field_Id>, int> searches_;
};

// A joedb file, as one connection of SQLite reads it: its present state, which follows what others
// write, and a few past ones.
//
// The present state changes when a cursor is opened and no other one is open: where a statement
// begins. SQLite closes the cursors of a statement when it ends, and not before; where it opens one
// again, it closes the old one afterwards. So the state does not change while a statement reads it.
// (A trigger is a statement of its own in that.)
//
// Used by one thread at a time, as connections are.
class Shared_File {
 public:
  // Reads the whole content, with the indexes of a .joedbc file, if there is one, and with those of
  // the newest snapshot. Throws Exception, compiler::Schema_Errors.
  Shared_File(std::unique_ptr<Abstract_File> file, const std::string& options_file);

  const std::string& name() const { return file_->get_name(); }
  const Abstract_File& file() const { return *file_; }

  // The present state. Its address is constant; its content changes only in begin_reading().
  State& present() { return *present_; }
  // How often the present state has changed.
  std::uint64_t version() const { return version_; }

  // A cursor is opened. If nobody reads, reads what others have written. Throws Io_Error,
  // Corruption_Error; the cursor does not count then.
  void begin_reading();
  void end_reading() { --cursors_; }

  // The state at a moment: a position, if the value is an integer, or a time as
  // "2026-01-31 23:59:59", or a part of that. Null for NULL, which means the present. Throws
  // Exception if there is no such moment.
  std::shared_ptr<State> past(sqlite3_value* moment);

 private:
  void load_all();
  void load_with(std::vector<Index_Definition> indexes);
  void refresh();
  std::shared_ptr<State> past(Offset position);

  const std::unique_ptr<Abstract_File> file_;
  const std::string options_file_;
  Readonly_Journal journal_;
  std::unique_ptr<State> present_;
  std::uint64_t version_ = 0;
  int cursors_ = 0;

  static constexpr std::size_t most_past_states = 4;
  std::list<std::pair<Offset, std::shared_ptr<State>>> past_;  // the last one that was used, first
  std::map<std::int64_t, Offset> times_;                       // since the last change
};

// The files of a connection.
class Shared_Files {
 public:
  Shared_Files(sqlite3* connection, File_Opener opener)
      : connection_(connection), opener_(std::move(opener)) {}

  sqlite3* connection() const { return connection_; }

  // Opened the first time, with its indexes; the same as long as somebody uses it.
  std::shared_ptr<Shared_File> open(const std::string& name, const std::string& options_file);

  // What joedb_open has made of a file, until joedb_close.
  struct Opened {
    std::string name;
    std::shared_ptr<Shared_File> file;
    struct Object {
      std::string name;
      std::string drop;  // a statement
    };
    std::string schema;
    std::vector<Object> objects;
  };
  std::vector<Opened>& opened() { return opened_; }

 private:
  sqlite3* const connection_;
  const File_Opener opener_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<Shared_File>> files_;
  std::vector<Opened> opened_;
};

}  // namespace joedb

#endif
