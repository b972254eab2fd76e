#ifndef JOEDB_FORMAT_ENCODER_H
#define JOEDB_FORMAT_ENCODER_H

#include <concepts>
#include <cstring>
#include <string>

#include "joedb/base/types.h"
#include "joedb/format/entry.h"

// Encodes entries as bytes. These are pure functions: they write to memory of the caller, return
// the end of the bytes written, and choose the same short forms as joedb 10, which depend on the
// context. They do not check the entry, and throw nothing. The memory at `out` must have the size
// that the functions …_limit return, an upper bound of the bytes written. Thread-safe for different
// arguments.

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

// Upper bound of the size of an encoded value, in bytes.
template <Field_Value T>
constexpr std::size_t value_size_limit(const T& value) {
  if constexpr (has_fixed_size<T>)
    return sizeof(T);
  else if constexpr (std::is_same_v<T, std::string_view>)
    return max_compact_size + value.size();
  else
    return 2 * max_compact_size;
}

// Writes the number of bytes, as a compact number, then the bytes.
inline char* encode_string(char* out, std::string_view text) {
  out = write_compact(out, text.size());
  if (!text.empty()) std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Writes a compact number. A negative number, or one above max_compact (2^61 - 1), cannot be
// encoded: 0 is written instead, as in joedb 10. So a reference to an impossible record is written
// as null.
inline char* encode_number(char* out, std::uint64_t number) {
  return write_compact(out, number <= max_compact ? number : 0);
}
inline char* encode_number(char* out, std::int64_t number) {
  return encode_number(out, static_cast<std::uint64_t>(number));
}

// Writes the id plus one; 0 is null.
inline char* encode_record(char* out, Record_Id record) {
  return encode_number(out, static_cast<std::uint64_t>(record.value()) + 1);
}

// Writes numbers and booleans as they are in memory, strings and references as above, a blob as two
// compact numbers.
template <Field_Value T>
char* encode_value(char* out, const T& value) {
  if constexpr (has_fixed_size<T>) {
    return store(out, value);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return encode_string(out, value);
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    return encode_record(out, value);
  } else {
    out = encode_number(out, value.get_position());
    return encode_number(out, value.get_size());
  }
}

// ---- parts of entries ---------------------------------------------------------------------------

inline char* encode_opcode(char* out, Opcode opcode) {
  *out = static_cast<char>(opcode);
  return out + 1;
}

inline char* encode_cell(char* out, Opcode opcode, Table_Id table, Record_Id record) {
  return encode_record(write_compact(encode_opcode(out, opcode), table.value()), record);
}

// ---- entries ------------------------------------------------------------------------------------

// Upper bound of the size of any entry without the bytes of its strings.
inline constexpr std::size_t entry_size_limit = 1 + 5 * max_compact_size;

// Upper bound of the size of an encoded entry, in bytes.
inline std::size_t encoded_size_limit(const auto& entry) {
  if constexpr (requires { entry.name; })
    return entry_size_limit + entry.name.size();
  else if constexpr (requires { entry.text; })
    return entry_size_limit + entry.text.size();
  else if constexpr (requires { entry.value; })
    return entry_size_limit + value_size_limit(entry.value);
  else
    return entry_size_limit;
}

// Each writes one whole entry, and updates `context` if the entry changes it. `context` must be the
// one after the previous entry of the same journal.
inline char* encode(char* out, Context&, const Create_Table& e) {
  return encode_string(encode_opcode(out, Opcode::create_table), e.name);
}

inline char* encode(char* out, Context&, const Drop_Table& e) {
  return write_compact(encode_opcode(out, Opcode::drop_table), e.table.value());
}

inline char* encode(char* out, Context&, const Rename_Table& e) {
  out = write_compact(encode_opcode(out, Opcode::rename_table), e.table.value());
  return encode_string(out, e.name);
}

inline char* encode(char* out, Context&, const Add_Field& e) {
  out = write_compact(encode_opcode(out, Opcode::add_field), e.table.value());
  out = encode_string(out, e.name);
  *out++ = static_cast<char>(e.type.code);
  return e.type.code == Type_Code::reference ? write_compact(out, e.type.referenced.value()) : out;
}

inline char* encode(char* out, Context&, const Drop_Field& e) {
  out = write_compact(encode_opcode(out, Opcode::drop_field), e.table.value());
  return write_compact(out, e.field.value());
}

inline char* encode(char* out, Context&, const Rename_Field& e) {
  out = write_compact(encode_opcode(out, Opcode::rename_field), e.table.value());
  return encode_string(write_compact(out, e.field.value()), e.name);
}

inline char* encode(char* out, Context&, const Custom& e) {
  return encode_string(encode_opcode(out, Opcode::custom), e.name);
}

inline char* encode(char* out, Context&, const Comment& e) {
  return encode_string(encode_opcode(out, Opcode::comment), e.text);
}

inline char* encode(char* out, Context&, const Timestamp& e) {
  return store(encode_opcode(out, Opcode::timestamp), e.seconds);
}

inline char* encode(char* out, Context&, const Valid_Data&) {
  return encode_opcode(out, Opcode::valid_data);
}

inline char* encode(char* out, Context& context, const Insert& e) {
  if (e.table == context.table && e.record == context.record + 1)
    out = encode_opcode(out, Opcode::append);
  else
    out = encode_cell(out, Opcode::insert_into, e.table, e.record);
  context.table = e.table;
  context.record = e.record;
  return out;
}

inline char* encode(char* out, Context&, const Delete& e) {
  return encode_cell(out, Opcode::delete_from, e.table, e.record);
}

inline char* encode(char* out, Context& context, const Insert_Vector& e) {
  context.table = e.table;
  context.record = e.record;
  out = encode_cell(out, Opcode::insert_vector, e.table, e.record);
  return encode_number(out, e.size);
}

inline char* encode(char* out, Context&, const Delete_Vector& e) {
  out = encode_cell(out, Opcode::delete_vector, e.table, e.record);
  return encode_number(out, e.size);
}

template <Field_Value T>
char* encode(char* out, Context& context, const Update<T>& e) {
  const auto start = [&](Update_Form form) {
    *out = static_cast<char>(update_opcode(code_of<T>, form));
    return out + 1;
  };
  if (e.table == context.table && e.record == context.record) {
    out = write_compact(start(Update_Form::last), e.field.value());
  } else if (e.table == context.table && e.record == context.record + 1 &&
             e.field == context.field) {
    out = start(Update_Form::next);
  } else {
    out = write_compact(start(Update_Form::full), e.table.value());
    out = write_compact(encode_record(out, e.record), e.field.value());
  }
  // Assigned one by one: otherwise gcc puts the three together on the stack, and waits for them to
  // be stored.
  context.table = e.table;
  context.record = e.record;
  context.field = e.field;
  return encode_value(out, e.value);
}

// Writes the start of an update of `size` values, at most entry_size_limit bytes. The caller
// appends the values, each by encode_value.
template <Field_Value T>
char* encode_update_vector(char* out, Context& context, Table_Id table, Record_Id record,
                           Field_Id field, std::int64_t size) {
  context = {table, record, field};
  *out++ = static_cast<char>(update_opcode(code_of<T>, Update_Form::vector));
  out = encode_record(write_compact(out, table.value()), record);
  return encode_number(write_compact(out, field.value()), size);
}

// Writes the start of a blob, at most entry_size_limit bytes. The caller appends its `size` bytes.
inline char* encode_blob(char* out, std::size_t size) {
  return write_compact(encode_opcode(out, Opcode::blob), size);
}

// All entries except Blob_Data and Update_Vector, whose bytes are not in the struct.
template <class Entry>
concept Encodable = requires(char* out, Context& context, const Entry& entry) {
  { encode(out, context, entry) } -> std::same_as<char*>;
};

// ---- whole entries in a string ------------------------------------------------------------------

// Appends the entry. Throws std::bad_alloc; neither `out` nor `context` has changed then.
template <Encodable Entry>
void append_encoded(std::string& out, Context& context, const Entry& entry) {
  const std::size_t start = out.size();
  out.resize(start + encoded_size_limit(entry));
  const char* const end = encode(out.data() + start, context, entry);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

}  // namespace joedb::inline v1

#endif
