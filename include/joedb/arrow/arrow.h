#ifndef JOEDB_ARROW_ARROW_H
#define JOEDB_ARROW_ARROW_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/table/database.h"
#include "joedb/table/writable_database.h"

// The structs of the Arrow C data interface and the Arrow C stream interface, with the layout,
// names and guard macros of the specification of Apache Arrow
// (https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html), so that
// other headers may define them, too.
extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

// The type of an array.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;

  void (*release)(struct ArrowSchema*);  // null if released
  void* private_data;
};

// The values of an array.
struct ArrowArray {
  int64_t length;
  int64_t null_count;  // -1 if unknown
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;

  void (*release)(struct ArrowArray*);  // null if released
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

// A sequence of arrays of one type. get_schema and get_next return 0 if they succeed, and an errno
// value otherwise.
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);  // released at the end
  const char* (*get_last_error)(struct ArrowArrayStream*);

  void (*release)(struct ArrowArrayStream*);  // null if released
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"

namespace joedb::inline v1 {

// ---- export -------------------------------------------------------------------------------------

// The values of a column at one time. The values stay in the column until the column changes; just
// before that, this object takes ownership of them.
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

// Tracks which columns of a database are used by arrays that export_table() has made for other
// libraries in this process. Such an array may outlive the database, and always has the values at
// the time of its export. Before a table changes, its columns that are used by live arrays are
// handed over to the arrays, and the database continues with copies. Without live arrays, this
// costs nothing.
//
// The owner of a database has one Arrow_Pins for it, and must call before_change() before the
// tables may change: before each non-const function of Database or Writable_Database, and of
// generated code that writes or pulls. For several writes, one call is enough if nothing is
// exported in between. Memory that moves is a change, too: before_change() must precede
// write_snapshot(), limit_memory(), wait_for_snapshot() and rollback(). Otherwise arrays refer to
// values that change, or to freed memory.
//
// If nothing is exported, before_change() only locks a mutex, and looks up a map.
//
// Arrays can be released by any thread at any time. Functions of this class and export_table() may
// be called by several threads while nothing changes the database; before_change() counts as a
// change.
class Arrow_Pins {
 public:
  // The database must outlive this object, and must not be moved.
  explicit Arrow_Pins(Database& database) : database_(database) {}
  // Hands all columns with live arrays over to the arrays, without copying. If there are such
  // columns, the database must not be used afterwards, only destroyed. Therefore declare this
  // object after the database.
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
  large_utf8,  // "U": every reader of Arrow supports this; the texts are copied
  utf8_view,   // "vu": 16 bytes are written for each text; long texts stay where they are
  binary,      // "Z": any bytes, copied
};

// Treatment of a text that is not UTF-8. Arrow requires UTF-8 for large_utf8 and utf8_view. Most
// readers do not check the texts, and may fail later, or have undefined behaviour.
enum class Arrow_Invalid_Text {
  error,
  replace,  // each byte that is not UTF-8 becomes U+FFFD
};

struct Arrow_Options {
  // The fields to export, in this order. If nullopt, all fields are exported, in the order of their
  // ids.
  std::optional<std::vector<Field_Id>> fields = {};
  // The ids of the records to export, in this order; by default all records, in the order of their
  // ids.
  std::optional<std::vector<index_t>> records = {};
  // True: the first column is `__id`, the ids of the records.
  bool with_ids = false;
  Arrow_Text text = Arrow_Text::large_utf8;
  Arrow_Invalid_Text invalid_text = Arrow_Invalid_Text::error;
  // The file from which the bytes of blobs are read: the file of the database, or another object
  // for the same file. The stream keeps the file; blobs are read in the thread that asks for a
  // batch. A writer must have flushed the blobs. If null, blobs are exported as their positions and
  // sizes.
  std::shared_ptr<const Abstract_File> blob_file = {};
  // Maximum number of rows in a batch; at least 1.
  index_t max_rows = index_t{1} << 20;
  // Deleted records divide a table into runs of records with consecutive ids. A run of at least
  // this number of records becomes a batch whose columns are not copied. Shorter runs are collected
  // in batches whose columns are copied.
  index_t min_run = 2048;
};

// Makes a stream of records of a table. It holds their values at the time of the call, however late
// it is read. Each item is a struct with a child for each field; a
// table without records yields no items.
//
//     int8, int16, int32, int64    c, s, i, l      the memory of the column: not copied
//     float32, float64             f, g            the same
//     boolean                      b               copied, to bits
//     references                   l               copied; null for a null reference
//     string                       Arrow_Text
//     blob                         Z               with blob_file; null for a null blob
//                                  +s              else, of position and size
//     date                         tdD             not copied
//     timestamp, duration          tsu:UTC, tDu …  not copied, but durations if one is missing
//     decimal(N)                   d:19,N          copied
//     enum                         c, s            places in a dictionary of texts; null for a
//     place
//                                                  of no name
//     bytes                        Z               copied
//     uuid                         w:16            copied; null for a value without 16 bytes
//     json                         Arrow_Text
//     boolean optional             b               copied
//
// Optional fields are nullable; missing values are null. If the type of a field does not follow
// from the Arrow type, the metadata `joedb.type` holds it: "references TABLE", "blob", "string" for
// texts as bytes, or a logical type, such as "date optional". create_table_for() reads these
// metadata.
//
// The stream and its arrays stay valid and keep their values until they are released, whatever
// happens to the database, if its owner calls Arrow_Pins::before_change. Any thread can use them;
// only one thread at a time may use the stream.
//
// Throws Data_Error if there is no such table, field or record, or if max_rows is below 1, and
// std::bad_alloc; then `out` is unchanged. The stream fails with EINVAL for a text that is not
// UTF-8 or is too long for a view (2 GiB or more), with EIO for a blob that cannot be read, and
// with ENOMEM. The text of the error names the field and, if known, the record. After an error,
// get_next tries the same batch again.
void export_table(Arrow_Pins& pins, Table_Id table, const Arrow_Options& options,
                  ArrowArrayStream* out);

// ---- import -------------------------------------------------------------------------------------

struct Arrow_Import_Options {
  // If true, null becomes the default value of the field: 0, false, the empty string. If false,
  // null is an error, except for references and blobs, which can be null.
  bool null_is_default = false;
  // If true, columns without a field of the same name are skipped. If false, they are an error.
  bool ignore_unknown = false;
  // If true, the column `__id` holds the ids of the new records. If false, this column is skipped,
  // and the new records get ids after the last id.
  bool use_ids = false;
  // True: numbers are rounded to a value that a float32 or float64 field can hold. False: a number
  // that the field cannot hold exactly, or a time with a fraction of a second, is an error; NaN is
  // always allowed. A finite number beyond
  // the range of float32 is always an error there.
  bool round = false;
  // New names of columns, by their old ones: fields, or `__id`.
  std::map<std::string, std::string> rename = {};
  // Called now and then before anything is written. If it throws, nothing is written.
  std::function<void()> check = [] {};
  // True: structs of position and size are written to blob fields unchanged, for a stream exported
  // from this file. False: they are an error.
  bool blob_positions = false;
};

struct Arrow_Imported {
  index_t rows = 0;
  // Id of the first row; null if there are no rows. Unless ids were given, the other rows have the
  // ids that follow.
  Record_Id first;
};

// Adds a record for each row of a stream whose items are structs (record batches, tables, data
// frames). Always releases the stream, even if this throws. Columns are written to the fields of
// the same name; a field without a column gets default values.
//
//     integers, float32, float64    all integers, half, float and double; bool: if no value is lost
//     int64                         also times and dates: the seconds since 1970, in UTC
//     boolean                       bool; integers that are 0 or 1
//     references                    integers that are not negative; -1 and null for a null one;
//                                   floats that are whole numbers, and NaN for a null one
//     string                        u, U, vu; z, Z, vz
//     blob                          the same, and w, whose bytes go to the journal; see
//                                   blob_positions
//     date, timestamp               times and dates; integers, which are stored values
//     duration                      durations; integers, which are stored values
//     decimal(N)                    decimals of 128 bits; integers; floats nearest to a decimal
//     enum                          texts that are names; integers that are places
//     uuid                          w:16; texts, or 16 bytes
//     bytes, json                   as string
//
// Optional fields hold null, and have no value without a column. Each of these types may be
// dictionary-encoded.
//
// Reads all batches into memory, and checks every value before the first value is written. Throws
// Data_Error for a value that does not fit (the text names the column, the row counted from 0, and
// the value), Unique_Violation for a key that a unique index already has or that occurs twice, and
// Exception, with the text of the stream, if the stream fails. Nothing has been written then. For
// an inconsistent stream (a missing buffer, wrong numbers of children, decreasing offsets), throws
// Data_Error; but the interface does not provide the sizes of most buffers, so they cannot be
// checked.
//
// While writing, throws the exceptions of Writable_Database::write_vector: std::bad_alloc, and
// Io_Error and Write_Disabled, after which nothing more can be written. The new records may exist
// then, without some of their values; rollback() removes them.
//
// If there is an Arrow_Pins for the database, the caller must first call before_change(table). The
// stream may be an export of the same table.
Arrow_Imported import_stream(Writable_Database& database, Table_Id table, ArrowArrayStream* in,
                             const Arrow_Import_Options& options = {});

// Creates a table with a field for each column of a schema of structs, except `__id`. Integers
// become the smallest integer type that holds all their values (but uint64 becomes int64),
// half-floats float32, dates, times, durations, decimals and arrow.uuid fields of logical types,
// and bytes blobs, unless `joedb.type` in the metadata says otherwise. The fields for the columns
// `optional` are optional. Does not release the schema.
//
// Throws Data_Error for a type without a field type (lists, decimals with more than 18 digits
// behind the point: the text names the column), for names that are not identifiers or occur twice,
// and the errors of Writable_Database::write for a table. Then nothing was written, unless the
// error is an Io_Error.
Table_Id create_table_for(Writable_Database& database, const std::string& name,
                          const ArrowSchema& schema, std::span<const std::string> optional = {});

}  // namespace joedb::inline v1

#endif
