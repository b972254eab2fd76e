#ifndef JOEDB_ARROW_PINS_H
#define JOEDB_ARROW_PINS_H

#include <map>
#include <memory>
#include <mutex>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// The values of a column at one time. They stay in the column until it changes; just before that,
// this object takes ownership of them.
class Arrow_Pin {
 public:
  explicit Arrow_Pin(const Column_Base& column);

  // The values of rows 0 … size of the table - 1. Their addresses are fixed for the life of this
  // object.
  const char* values() const { return values_; }
  // The block of texts of a column of strings.
  std::string_view texts() const { return texts_; }

 private:
  friend class Arrow_Pins;
  const char* values_;
  std::string_view texts_;
  Column_Memory memory_;
};

// Tracks the columns of a database that are in use outside it, by arrays that export_table() has
// made for other libraries in this process. Such an array may outlive the database, and always has
// the values of the time of its export: before a table changes, its columns with live arrays are
// handed over to the arrays, and the database continues with copies. Without live arrays this costs
// nothing.
//
// The owner of a database has one of these for it. It must call before_change() before the tables
// may change: before each non-const function of Database or Writable_Database, and of generated
// code that writes or pulls; but not before each of several writes if nothing is exported in
// between. Memory that moves is a change, too: before_change() must precede write_snapshot(),
// limit_memory(), wait_for_snapshot() and rollback(). Otherwise arrays refer to values that change,
// or to freed memory.
//
// before_change() is cheap if nothing is exported: a mutex, and a look-up in a map.
//
// Arrays can be released by any thread at any time. Functions of this class and export_table() may
// be called by several threads while nothing changes the database; before_change() counts as a
// change.
class Arrow_Pins {
 public:
  // The database must outlive this object, and must not be moved.
  explicit Arrow_Pins(Database& database) : database_(database) {}
  // Hands all columns with live arrays over to the arrays, without copying. If there are any, the
  // database must not be used afterwards, only destroyed. So declare this object after the
  // database.
  ~Arrow_Pins();
  Arrow_Pins(const Arrow_Pins&) = delete;
  Arrow_Pins& operator=(const Arrow_Pins&) = delete;

  // Must be called before this table changes. If it throws std::bad_alloc, the table must not be
  // changed.
  void before_change(Table_Id table);
  // Must be called before any table changes. Throws like before_change(table).
  void before_change();

  // True if live arrays use columns of the database.
  bool has_live_arrays() const;

  Database& database() const { return database_; }
  // Returns the current values of a column. Throws Data_Error if there is no such field.
  std::shared_ptr<const Arrow_Pin> pin(Table_Id table, Field_Id field);

 private:
  struct Place {
    Table_Id table;
    Field_Id field;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Pins = std::map<Place, std::weak_ptr<Arrow_Pin>>;
  void detach(Pins::iterator begin, Pins::iterator end);

  Database& database_;
  mutable std::mutex mutex_;
  Pins pins_;
};

}  // namespace joedb::inline v1

#endif
