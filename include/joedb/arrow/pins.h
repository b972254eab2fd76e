#ifndef JOEDB_ARROW_PINS_H
#define JOEDB_ARROW_PINS_H

#include <map>
#include <memory>
#include <mutex>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// The values of a column at one time. They are in the column as long as that does not change;
// before it does, they become the property of this object.
class Arrow_Pin {
 public:
  explicit Arrow_Pin(const Column_Base& column);

  // Of rows 0 … size of the table - 1; the same addresses for the whole life of this object.
  const char* values() const { return values_; }
  // The block of a column of strings.
  std::string_view texts() const { return texts_; }

 private:
  friend class Arrow_Pins;
  const char* values_;
  std::string_view texts_;
  Column_Memory memory_;
};

// Which columns of a database other programs (libraries in this process) look into, by arrays that
// export_table() has made. Such an array may live longer than the database, and always has the
// values of the time of its export: before a table changes, its columns with live arrays are given
// to these, and the database goes on with copies. A database without live arrays pays nothing.
//
// The owner of the database has one of these for it, and must call before_change() before the
// tables may change: before each function of Database or Writable_Database that is not const, and
// of generated code that writes or pulls; but not before each of several writes, if nothing is
// exported in between. Memory that moves is a change, too: before_change() must come before
// write_snapshot(), limit_memory(), wait_for_snapshot(), rollback(). Otherwise arrays point to
// values that change, or to memory that was given back.
//
// before_change() is cheap where nothing is exported: a mutex, and a look at a map.
//
// Arrays can be released by any thread at any time. Calls of this class and of export_table() that
// happen while nothing changes the database may be made by several threads; before_change() counts
// as a change.
class Arrow_Pins {
 public:
  // The database must outlive this object, and stay where it is.
  explicit Arrow_Pins(Database& database) : database_(database) {}
  // Gives all columns with live arrays to these, without copying: if there are any, the database
  // may only be destroyed afterwards. So this object is declared behind the database.
  ~Arrow_Pins();
  Arrow_Pins(const Arrow_Pins&) = delete;
  Arrow_Pins& operator=(const Arrow_Pins&) = delete;

  // The content of this table is about to change. Throws std::bad_alloc: the table must not change
  // then.
  void before_change(Table_Id table);
  // Any table.
  void before_change();

  // Whether arrays look into columns of the database.
  bool has_live_arrays() const;

  Database& database() const { return database_; }
  // The present values of a column of this table.
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
