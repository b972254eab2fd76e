#ifndef JOEDB_FORMAT_ENTRY_H
#define JOEDB_FORMAT_ENTRY_H

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "joedb/schema/type.h"

// The entries of a journal, file format version 5. Each is a plain struct. A handler, which
// consumes a journal, is called with one of them at a time (decoder.h); a writer passes them to
// encode (encoder.h), or to Writable_Database::write. Strings are views: in a handler of the bytes
// of the journal, valid during the call.
//
// A struct only says what an entry contains. Whether it fits the tables is checked by
// Database::prepare (table/database.h). Its bytes are described in docs/file_format.md.

namespace joedb::inline v1 {

// A table with this name. Its id is the number of Create_Table entries so far, this one included.
struct Create_Table {
  std::string_view name;
  friend bool operator==(const Create_Table&, const Create_Table&) = default;
};

// The id is never used again.
struct Drop_Table {
  Table_Id table;
  friend bool operator==(const Drop_Table&, const Drop_Table&) = default;
};

struct Rename_Table {
  Table_Id table;
  std::string_view name;
  friend bool operator==(const Rename_Table&, const Rename_Table&) = default;
};

// A field of all records of the table, which have the default value of its type. Its id is the
// number of Add_Field entries of this table so far, this one included.
struct Add_Field {
  Table_Id table;
  std::string_view name;
  Type type;
  friend bool operator==(const Add_Field&, const Add_Field&) = default;
};

struct Drop_Field {
  Table_Id table;
  Field_Id field;
  friend bool operator==(const Drop_Field&, const Drop_Field&) = default;
};

struct Rename_Field {
  Table_Id table;
  Field_Id field;
  std::string_view name;
  friend bool operator==(const Rename_Field&, const Rename_Field&) = default;
};

// A mark in the history where a program ran a function of its own while it upgraded the schema. It
// is part of the schema.
struct Custom {
  std::string_view name;
  friend bool operator==(const Custom&, const Custom&) = default;
};

// Text for readers of the history. It does not change the tables.
struct Comment {
  std::string_view text;
  friend bool operator==(const Comment&, const Comment&) = default;
};

// When the entries before it were written. It does not change the tables; at_time
// (journal/moment.h) finds a past state by it.
struct Timestamp {
  std::int64_t seconds;  // since 1970, UTC
  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};

// A mark with a meaning that the program gives it. A schema upgrade ends with one.
struct Valid_Data {
  friend bool operator==(const Valid_Data&, const Valid_Data&) = default;
};

// Bytes kept in the journal; `blob` is their position and size in the file. Values of fields refer
// to them by these two numbers. Integrity entries (format/integrity.h) are not given to handlers.
struct Blob_Data {
  Blob blob;
  friend bool operator==(const Blob_Data&, const Blob_Data&) = default;
};

// A new record. Ids need not be consecutive; the skipped ones become free.
struct Insert {
  Table_Id table;
  Record_Id record;
  friend bool operator==(const Insert&, const Insert&) = default;
};

// The record must be in use. Its id may be used again.
struct Delete {
  Table_Id table;
  Record_Id record;
  friend bool operator==(const Delete&, const Delete&) = default;
};

// The same for records [record, record + size), with default values.
struct Insert_Vector {
  Table_Id table;
  Record_Id record;
  std::int64_t size;
  friend bool operator==(const Insert_Vector&, const Insert_Vector&) = default;
};

// All of [record, record + size) must be in use. They are deleted from the last to the first.
struct Delete_Vector {
  Table_Id table;
  Record_Id record;
  std::int64_t size;
  friend bool operator==(const Delete_Vector&, const Delete_Vector&) = default;
};

// A new value of a field of a record that is in use.
template <Field_Value T>
struct Update {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  T value;
  friend bool operator==(const Update&, const Update&) = default;
};

// The values of a vector while it is decoded (decoder.h).
template <Field_Value T>
class Vector_Values;

// New values for records [record, record + size), some of which may not be in use. Values that the
// handler does not read are skipped. Only for handlers: `values` reads from the decoder.
template <Field_Value T>
struct Update_Vector {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  std::int64_t size;
  Vector_Values<T>& values;
};

// First bytes of entries. Other bytes, but those of updates, are invalid.
enum class Opcode : std::uint8_t {
  create_table = 0x01,
  drop_table = 0x02,
  add_field = 0x03,
  drop_field = 0x04,
  insert_into = 0x05,
  delete_from = 0x06,
  append = 0x08,
  comment = 0x0a,
  timestamp = 0x0b,
  rename_table = 0x0c,
  rename_field = 0x0d,
  valid_data = 0x0e,
  insert_vector = 0x0f,
  custom = 0x10,
  blob = 0x13,
  delete_vector = 0x14,
};

// Whether this entry is the end of a transaction (history/transaction.h).
template <class Entry>
inline constexpr bool is_transaction_end =
    std::is_same_v<Entry, Timestamp> || std::is_same_v<Entry, Valid_Data>;

// How an update says which value it sets. full: table, record and field follow. last: the field
// follows, of the table and record in the context. next: the same field of the next record, without
// any number. vector: as full, and then the number of values.
enum class Update_Form : std::uint8_t { full = 0, last = 1, next = 2, vector = 3 };

inline constexpr std::uint8_t first_update_opcode = 0x81;
inline constexpr std::uint8_t last_update_opcode = first_update_opcode + 4 * type_count - 1;

// An update of each type has four opcodes, one for each form. `type` must not be none.
constexpr std::uint8_t update_opcode(Type_Code type, Update_Form form) {
  return static_cast<std::uint8_t>(first_update_opcode + 4 * (static_cast<int>(type) - 1) +
                                   static_cast<int>(form));
}

// What short forms of entries refer to: the table and record of the last Insert, Insert_Vector,
// Update or Update_Vector, and the field of the last update. Reader and writer keep one each, which
// are equal at every entry. At the start of a journal everything is null.
struct Context {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  friend bool operator==(const Context&, const Context&) = default;
};

// "insert_into", "update_next int32", …; "entry" for a byte that is no opcode.
std::string opcode_name(std::uint8_t opcode);

}  // namespace joedb::inline v1

#endif
