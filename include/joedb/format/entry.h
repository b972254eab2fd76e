#ifndef JOEDB_FORMAT_ENTRY_H
#define JOEDB_FORMAT_ENTRY_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/schema/type.h"

// The entries of a journal, file format version 5. Each is a plain struct; whoever consumes a
// journal is called with one of them at a time (decoder.h), whoever writes one passes them to
// encode (encoder.h). Strings are views of the journal's bytes, valid during the call.

namespace joedb::inline v1 {

struct Create_Table {
  std::string_view name;
  friend bool operator==(const Create_Table&, const Create_Table&) = default;
};

struct Drop_Table {
  Table_Id table;
  friend bool operator==(const Drop_Table&, const Drop_Table&) = default;
};

struct Rename_Table {
  Table_Id table;
  std::string_view name;
  friend bool operator==(const Rename_Table&, const Rename_Table&) = default;
};

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

// A mark in the history where the program ran a function of its own.
struct Custom {
  std::string_view name;
  friend bool operator==(const Custom&, const Custom&) = default;
};

struct Comment {
  std::string_view text;
  friend bool operator==(const Comment&, const Comment&) = default;
};

struct Timestamp {
  std::int64_t seconds;  // since 1970, UTC
  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};

struct Valid_Data {
  friend bool operator==(const Valid_Data&, const Valid_Data&) = default;
};

// Bytes kept in the journal; `blob` says where they stand in the file.
struct Blob_Data {
  Blob blob;
  friend bool operator==(const Blob_Data&, const Blob_Data&) = default;
};

struct Insert {
  Table_Id table;
  Record_Id record;
  friend bool operator==(const Insert&, const Insert&) = default;
};

struct Delete {
  Table_Id table;
  Record_Id record;
  friend bool operator==(const Delete&, const Delete&) = default;
};

// Records [record, record + size).
struct Insert_Vector {
  Table_Id table;
  Record_Id record;
  std::int64_t size;
  friend bool operator==(const Insert_Vector&, const Insert_Vector&) = default;
};

struct Delete_Vector {
  Table_Id table;
  Record_Id record;
  std::int64_t size;
  friend bool operator==(const Delete_Vector&, const Delete_Vector&) = default;
};

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

// New values for records [record, record + size). What the consumer does not read is skipped.
template <Field_Value T>
struct Update_Vector {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  std::int64_t size;
  Vector_Values<T>& values;
};

// First bytes of entries. An update of a type has four: full, last, next and vector.
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

enum class Update_Form : std::uint8_t { full = 0, last = 1, next = 2, vector = 3 };

inline constexpr std::uint8_t first_update_opcode = 0x81;
inline constexpr std::uint8_t last_update_opcode = first_update_opcode + 4 * type_count - 1;

constexpr std::uint8_t update_opcode(Type_Code type, Update_Form form) {
  return static_cast<std::uint8_t>(first_update_opcode + 4 * (static_cast<int>(type) - 1) +
                                   static_cast<int>(form));
}

// What short forms of entries refer to. Reader and writer keep one each, which are equal at every
// entry.
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
