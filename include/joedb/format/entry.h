#ifndef JOEDB_FORMAT_ENTRY_H
#define JOEDB_FORMAT_ENTRY_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "joedb/schema/type.h"

// Compact numbers, most significant byte first. The three high bits of the first byte give the
// number of bytes that follow it; its five low bits are the most significant bits of the value.
//
//     0 … 31          00 … 1f
//     32 … 8191       20 20 … 3f ff
//     8192 … 2^21-1   40 20 00 … 5f ff ff
//     … 2^61-1        … ff ff ff ff ff ff ff ff

namespace joedb::inline v1 {

inline constexpr std::size_t max_compact_size = 8;
inline constexpr std::uint64_t max_compact = (std::uint64_t{1} << 61) - 1;

// Number of bytes of the shortest form. Requires value <= max_compact.
constexpr std::size_t compact_size(std::uint64_t value) {
  std::size_t size = 1;
  for (std::uint64_t limit = 32; value >= limit; limit <<= 8) ++size;
  return size;
}

// Writes the shortest form of `value` (<= max_compact) at `out` and returns its end.
constexpr char* write_compact(char* out, std::uint64_t value) {
  if (value < 32) {
    *out = static_cast<char>(value);
    return out + 1;
  }
  const std::size_t size = compact_size(value);
  for (std::size_t i = size; i-- > 0; value >>= 8) out[i] = static_cast<char>(value);
  *out = static_cast<char>(static_cast<unsigned char>(*out) | ((size - 1) << 5));
  return out + size;
}

// Number of bytes of the compact number that starts with this byte: 1 … 8. Readers also accept
// forms that are longer than the shortest form.
constexpr std::size_t compact_size_from_first_byte(char first) {
  return (static_cast<unsigned char>(first) >> 5) + std::size_t{1};
}

// Returns the value of the `size` bytes at `in`. `size` must be compact_size_from_first_byte(*in).
constexpr std::uint64_t read_compact(const char* in, std::size_t size) {
  assert(size == compact_size_from_first_byte(*in));
  std::uint64_t value = static_cast<unsigned char>(*in) & 0x1fu;
  for (std::size_t i = 1; i < size; ++i) value = value << 8 | static_cast<unsigned char>(in[i]);
  return value;
}

// The entries of a journal, file format version 5. Each entry is a plain struct. A reader of a
// journal calls its handler with one entry at a time (codec.h). A writer passes entries to encode
// (codec.h), or to Writable_Database::write. Strings are views. In a handler, they point to the
// bytes of the journal, and are valid only during the call.
//
// Database::prepare (table/database.h) checks whether an entry is valid for the tables.
// docs/file_format.md describes the bytes of entries.

// Creates a table with this name. The id of the table is the number of Create_Table entries so far,
// including this entry.
struct Create_Table {
  std::string_view name;
  friend bool operator==(const Create_Table&, const Create_Table&) = default;
};

// Drops a table. The id of the table is never used again.
struct Drop_Table {
  Table_Id table;
  friend bool operator==(const Drop_Table&, const Drop_Table&) = default;
};

struct Rename_Table {
  Table_Id table;
  std::string_view name;
  friend bool operator==(const Rename_Table&, const Rename_Table&) = default;
};

// Adds a field to the table. All records get the default value of its type. The id of the field is
// the number of Add_Field entries of this table so far, including this entry.
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

// Marks the place in the history where a program ran a function of its own while it upgraded the
// schema. The mark is part of the schema.
struct Custom {
  std::string_view name;
  friend bool operator==(const Custom&, const Custom&) = default;
};

// Text for readers of the history. It does not change the tables.
struct Comment {
  std::string_view text;
  friend bool operator==(const Comment&, const Comment&) = default;
};

// The time when the entries before this entry were written. A Timestamp does not change the tables;
// at_time (journal/readonly_journal.h) uses it to find a past state.
struct Timestamp {
  std::int64_t seconds;  // since 1970, UTC
  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};

// A mark that ends a transaction (history/changes.h); otherwise, the program defines its meaning. A
// schema upgrade ends with a Valid_Data.
struct Valid_Data {
  friend bool operator==(const Valid_Data&, const Valid_Data&) = default;
};

// Bytes stored in the journal. `blob` is their position and size in the file; fields of type blob
// store these two numbers. Handlers are not called for integrity entries (format/header.h), unless
// they have the member type Sees_Integrity_Entries (decode_entry).
struct Blob_Data {
  Blob blob;
  friend bool operator==(const Blob_Data&, const Blob_Data&) = default;
};

// Inserts a record. Ids need not be consecutive; skipped ids become free.
struct Insert {
  Table_Id table;
  Record_Id record;
  friend bool operator==(const Insert&, const Insert&) = default;
};

// Deletes a record, which must be in use. The id of the record may be used again.
struct Delete {
  Table_Id table;
  Record_Id record;
  friend bool operator==(const Delete&, const Delete&) = default;
};

// Inserts the records [record, record + size), with default values.
struct Insert_Vector {
  Table_Id table;
  Record_Id record;
  std::int64_t size;
  friend bool operator==(const Insert_Vector&, const Insert_Vector&) = default;
};

// Deletes the records [record, record + size), from the last to the first. All of them must be in
// use.
struct Delete_Vector {
  Table_Id table;
  Record_Id record;
  std::int64_t size;
  friend bool operator==(const Delete_Vector&, const Delete_Vector&) = default;
};

// Sets a field of a record, which must be in use.
template <Field_Value T>
struct Update {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  T value;
  friend bool operator==(const Update&, const Update&) = default;
};

// The values of a vector while it is decoded (codec.h).
template <Field_Value T>
class Vector_Values;

// Sets a field of the records [record, record + size), some of which may not be in use. Valid only
// while a handler is called, because `values` reads from the decoder. Values that the handler does
// not read are skipped.
template <Field_Value T>
struct Update_Vector {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  std::int64_t size;
  Vector_Values<T>& values;
};

// The first byte of an entry. All values that are not listed are invalid, except those of updates
// (update_opcode).
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

// True if this entry ends a transaction (history/changes.h).
template <class Entry>
inline constexpr bool is_transaction_end =
    std::is_same_v<Entry, Timestamp> || std::is_same_v<Entry, Valid_Data>;

// How an update encodes the place of its value. full: table, record and field follow the opcode.
// last: the field follows; table and record are those of the context. next: nothing follows; the
// update sets the same field of the next record. vector: like full, followed by the number of
// values.
enum class Update_Form : std::uint8_t { full = 0, last = 1, next = 2, vector = 3 };

inline constexpr std::uint8_t first_update_opcode = 0x81;
inline constexpr std::uint8_t last_update_opcode = first_update_opcode + 4 * type_count - 1;

// Returns the opcode of an update. Each type has four opcodes, one for each form. `type` must not
// be none.
constexpr std::uint8_t update_opcode(Type_Code type, Update_Form form) {
  return static_cast<std::uint8_t>(first_update_opcode + 4 * (static_cast<int>(type) - 1) +
                                   static_cast<int>(form));
}

// The table, record and field that short forms of entries refer to: the table and record of the
// last Insert, Insert_Vector, Update or Update_Vector, and the field of the last update. The reader
// and the writer of a journal each keep a Context; the two are equal at every entry. At the start
// of a journal all three are null.
struct Context {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  friend bool operator==(const Context&, const Context&) = default;
};

// Returns a name such as "insert_into" or "update_next int32"; "entry" if the byte is not an
// opcode.
std::string opcode_name(std::uint8_t opcode);

}  // namespace joedb::inline v1

#endif
