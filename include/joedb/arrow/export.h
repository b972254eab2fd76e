#ifndef JOEDB_ARROW_EXPORT_H
#define JOEDB_ARROW_EXPORT_H

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "joedb/arrow/abi.h"
#include "joedb/io/file.h"
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

// Arrow type of exported texts.
enum class Arrow_Text {
  large_utf8,  // "U": every reader of Arrow knows it; the texts are copied
  utf8_view,   // "vu": 16 bytes are written for each text; long texts stay where they are
  binary,      // "Z": any bytes, copied
};

// Treatment of a text that is not UTF-8, which Arrow requires of large_utf8 and utf8_view. Most
// readers do not check this, and fail later, or worse.
enum class Arrow_Invalid_Text {
  error,
  replace,  // each byte that is not UTF-8 becomes U+FFFD
};

struct Arrow_Options {
  // The fields to export, in this order; by default all, in the order of their ids.
  std::optional<std::vector<Field_Id>> fields = {};
  // True: the first column is `__id`, the ids of the records.
  bool with_ids = false;
  Arrow_Text text = Arrow_Text::large_utf8;
  Arrow_Invalid_Text invalid_text = Arrow_Invalid_Text::error;
  // The file from which the bytes of blobs are read: that of the database, or another object for
  // the same file. It is kept as long as the stream; blobs are read in the thread that asks for a
  // batch. A writer must have flushed them. If null, blobs are exported as their positions and
  // sizes.
  std::shared_ptr<const Abstract_File> blob_file = {};
  // Maximum number of rows in a batch; at least 1.
  index_t max_rows = index_t{1} << 20;
  // Minimum number of records with consecutive ids for a batch whose columns are not copied.
  // Shorter runs, which deleted records separate, are collected in batches whose columns are
  // copied.
  index_t min_run = 2048;
};

// Makes a stream of the records of a table, in the order of their ids. It holds their values at the
// time of the call, however late it is read. Each item is a struct with a child for each field; a
// table without records yields no items.
//
//     int8, int16, int32, int64    c, s, i, l      the memory of the column: not copied
//     float32, float64             f, g            the same
//     boolean                      b               copied, to bits
//     references                   l               copied; null for a null reference
//     string                       Arrow_Text
//     blob                         Z               with blob_file; null for a null blob
//                                  +s              else, of position and size
//
// Fields whose type does not follow from the Arrow type have it in their metadata as `joedb.type`:
// "references TABLE", "blob", and "string" for texts as bytes. create_table_for() reads it.
//
// The stream and its arrays stay valid and keep their values until they are released, whatever
// happens to the database, if its owner calls Arrow_Pins::before_change. They can be used by any
// thread, the stream by one at a time.
//
// Throws Data_Error if there is no such table or field, or if max_rows is below 1, and
// std::bad_alloc; then `out` is unchanged. The stream fails with EINVAL for a text that is not
// UTF-8 or is too long for a view (2 GiB or more), with EIO for a blob that cannot be read, and
// with ENOMEM. The text of the error names the field and, if known, the record. After an error,
// get_next tries the same batch again.
void export_table(Arrow_Pins& pins, Table_Id table, const Arrow_Options& options,
                  ArrowArrayStream* out);

}  // namespace joedb::inline v1

#endif
