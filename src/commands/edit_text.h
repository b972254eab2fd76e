#ifndef JOEDB_SRC_COMMANDS_EDIT_TEXT_H
#define JOEDB_SRC_COMMANDS_EDIT_TEXT_H

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/table/writable_database.h"
#include "text/entry_text.h"

// Converts the content of a database to a text that people edit, and their edits to entries.
//
//     table person
//     field name string
//     field boss references person
//     # id  name   boss
//     0     "Ada"  null
//     1     "Bob"  0
//     end
//
// A line that begins with # is a comment, and the last line is `end`. A value has changed only if
// its text has changed. So if nobody edits the text of a database, there are no entries to write.

namespace joedb::inline v1 {

// Returns the text of all tables, or of table `only` if it is not null.
std::string edit_text(const Database& database, const Table* only = nullptr);

// The destination of changes: either a writable database, or a temporary database and a printer.
class Change_Sink {
 public:
  explicit Change_Sink(Writable_Database& writable) : writable_(&writable) {}
  // Passes the schema of the database to the printer, which needs the names.
  Change_Sink(Database& database, Command_Writer& printer);

  const Database& database() const { return writable_ ? writable_->get_database() : *database_; }
  // A deletion does nothing to references.
  template <class Entry>
  void write(const Entry& entry) {
    if (writable_) {
      writable_->write_alone(entry);
    } else {
      print(entry);
    }
    ++count_;
  }
  // Returns the number of entries written.
  index_t count() const { return count_; }

 private:
  template <class Entry>
  void print(const Entry& entry) {
    (*database_)(entry);
    (*printer_)(entry);
  }

  Writable_Database* writable_ = nullptr;
  Database* database_ = nullptr;
  Command_Writer* printer_ = nullptr;
  index_t count_ = 0;
};

// A problem in a line of the text.
struct Edit_Problem {
  std::size_t line;  // counted from 1
  std::string what;
};

// Thrown if a change is not valid for the database. The preceding changes have been written.
class Edit_Error : public Exception {
 public:
  Edit_Error(std::size_t place, const std::string& what) : Exception(what), line(place) {}
  const std::size_t line;
};

// Numbers of changes, to show to users.
struct Edit_Summary {
  index_t values = 0;
  index_t inserted = 0;
  index_t deleted = 0;
  index_t schema = 0;  // changes of tables and fields
};

// A text that was edited, in comparison with a database.
class Edited_Text {
 public:
  // `only`: the only table that the text may change; null: all tables. All arguments must outlive
  // this object. While it exists, only apply() may change the database.
  Edited_Text(std::string_view text, const Database& database, const Table* only = nullptr);

  // Returns the first problems, in the order of lines. If there are any, no other function may be
  // called.
  const std::vector<Edit_Problem>& problems() const { return problems_; }

  // Writes the differences to a database with the same content. Throws Edit_Error if a change is
  // not valid. Passes on all other exceptions of writing.
  Edit_Summary apply(Change_Sink& sink) const;

 private:
  struct Edited_Field {
    std::size_t line;
    std::string_view name, old_name;
    std::string type;
    std::string_view referenced, rule;
    bool has_initial = false;
    std::string_view initial;
    Field_Id id;  // null for a new field
    Declared_Type declared = {};
  };
  struct Edited_Row {
    std::size_t line;
    index_t id;  // -1: the next free id
    std::vector<std::string_view> words;
  };
  struct Edited_Table {
    std::size_t line;
    std::string_view name, old_name;
    const Table* old = nullptr;  // null for a new table
    std::vector<Edited_Field> fields;
    std::vector<Edited_Row> rows;
  };
  class Applier;

  void read_lines(std::string_view text);
  void read_line(std::string_view line);
  void read_table(const std::vector<std::string_view>& words);
  void read_field(const std::vector<std::string_view>& words);
  void read_row(const std::vector<std::string_view>& words);
  void match_table(Edited_Table& table);
  void match_field(Edited_Table& table, Edited_Field& field);
  void require_referenced(const Edited_Field& field, const Type& old);
  void match_type(const Edited_Field& field, const Column_Base& column);
  void require_one_each();
  void check_rows(const Edited_Table& table);
  void check_row(const Edited_Table& table, const Edited_Row& row);
  const Edited_Table* find_table(std::string_view name) const;
  void problem(const std::string& what) { problems_.push_back({line_, what}); }

  const Database& database_;
  const Table* const only_;
  std::vector<Edited_Table> tables_;
  std::vector<Edit_Problem> problems_;
  std::size_t line_ = 0;
  bool has_end_ = false;
};

}  // namespace joedb::inline v1

#endif
