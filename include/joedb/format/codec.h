#ifndef JOEDB_FORMAT_CODEC_H
#define JOEDB_FORMAT_CODEC_H

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstring>
#include <string>

#include "joedb/base/error.h"
#include "joedb/base/types.h"
#include "joedb/format/entry.h"
#include "joedb/format/header.h"

namespace joedb::inline v1 {

// ---- decoder ------------------------------------------------------------------------------------

// Decodes bytes into entries. The decoder is strict: whatever the bytes are, each step decodes one
// entry, or throws a Corruption_Error that names the entry and its offset. Lengths are checked
// against the end of the journal before anything is read or allocated. Whether an entry is valid
// for the tables is checked by the handler. If the input reads a file, the functions also throw
// Io_Error.
//
// Most programs call Readonly_Journal::replay instead, or decode_entries for bytes in memory.

// The input of the decoder: a window on the bytes of a journal, which moves forward. Functions that
// take, read or skip bytes throw Corruption_Error if the journal ends too early. The input must not
// be used after that.
//
// Not thread-safe.
class Decoder_Input {
 public:
  // Offset of the next byte in the file.
  Offset position() const { return end_offset_ - (end_ - current_); }

  // No byte at or after this offset may be read.
  Offset limit() const { return limit_; }
  Offset remaining() const { return limit_ - position(); }

  // Moves past the next `size` bytes and returns their address, which is valid until the next call.
  const char* take(std::size_t size) {
    if (static_cast<std::size_t>(end_ - current_) < size) [[unlikely]]
      refill_or_throw(size);
    const char* const result = current_;
    current_ += size;
    return result;
  }

  // Returns the bytes from position() to `end` that are already in memory.
  std::string_view window(Offset end) const {
    return window().substr(0, static_cast<std::size_t>(std::max<Offset>(end - position(), 0)));
  }
  // Moves to an address in the window, which is not checked.
  void move_to(const char* address) { current_ = address; }

  // Moves past `size` bytes of the journal, which need not be in memory.
  void skip(Offset size);

  // Copies the next `size` bytes, which need not be in the window, to `out`.
  void read(char* out, std::size_t size);

  // Takes a compact number (format/entry.h): 0 … 2^61 - 1.
  std::uint64_t take_compact() {
    const char first = *take(1);
    const std::size_t size = compact_size_from_first_byte(first);
    if (size == 1) return static_cast<unsigned char>(first);
    --current_;
    return read_compact(take(size), size);
  }

  // Takes a string, which is valid until the next call.
  std::string_view take_string() {
    const std::uint64_t size = take_compact();
    if (size > static_cast<std::uint64_t>(remaining())) [[unlikely]]
      throw_past_the_end(size);
    return {take(size), size};
  }

  // Takes the id of a table or field: 0 … 65535. Throws Corruption_Error for a larger number.
  std::uint16_t take_small_id() {
    if (current_ != end_) [[likely]] {
      const auto first = static_cast<unsigned char>(*current_);
      if (first < 32) [[likely]] {
        ++current_;
        return first;
      }
    }
    return take_large_id();
  }

  // Takes a record id: the null id, or 0 … 2^61 - 2.
  Record_Id take_record() { return Record_Id(static_cast<index_t>(take_compact()) - 1); }

  // Takes the opcode of an entry. From then on, errors name this entry.
  void begin_entry() {
    entry_offset_ = position();
    opcode_ = 0;
    opcode_ = static_cast<std::uint8_t>(*take(1));
  }
  std::uint8_t opcode() const { return opcode_; }
  Offset entry_offset() const { return entry_offset_; }

  // Returns " (update int32 entry at offset 1234)", for example.
  std::string entry_description() const;

  // Throws a Corruption_Error with this text, the entry and its offset.
  [[noreturn]] void fail(const std::string& what) const;

  // Called after each blob that may be an integrity entry. An override throws Corruption_Error if
  // the entry does not match the bytes that it covers.
  virtual void note_integrity(std::string_view payload) { static_cast<void>(payload); }

 protected:
  Decoder_Input() = default;
  ~Decoder_Input() = default;

  // Starts at `offset` with an empty window.
  void reset(Offset offset, Offset limit) {
    current_ = end_ = nullptr;
    end_offset_ = offset;
    limit_ = limit;
  }
  void set_window(const char* begin, std::size_t size, Offset end_offset) {
    current_ = begin;
    end_ = begin + size;
    end_offset_ = end_offset;
  }
  std::string_view window() const { return {current_, static_cast<std::size_t>(end_ - current_)}; }

  // Moves the window so that it holds at least `size` bytes from position() on. Called only if
  // `size` <= remaining().
  virtual void refill(std::size_t size) = 0;
  // Reads `size` bytes at `offset`, outside the window. All these bytes are before the limit.
  virtual void read_at(char* out, std::size_t size, Offset offset) = 0;

 private:
  void refill_or_throw(std::size_t size);
  std::uint16_t take_large_id();
  [[noreturn]] void throw_past_the_end(std::uint64_t size) const;

  const char* current_ = nullptr;
  const char* end_ = nullptr;
  Offset end_offset_ = 0;  // offset of end_ in the file
  Offset limit_ = 0;
  Offset entry_offset_ = 0;
  std::uint8_t opcode_ = 0;
};

// Reads bytes that are all in memory. `offset` is the offset of the first byte in the file. The
// bytes must outlive the input.
class Memory_Decoder_Input final : public Decoder_Input {
 public:
  explicit Memory_Decoder_Input(std::string_view bytes, Offset offset = 0) {
    const Offset end = offset + static_cast<Offset>(bytes.size());
    reset(offset, end);
    set_window(bytes.data(), bytes.size(), end);
  }

 private:
  void refill(std::size_t) override {}
  void read_at(char*, std::size_t, Offset) override {}
};

// Decodes the next value. `in` is a Decoder_Input, or an input that reads bytes without checks
// (src/kernel/format/run_decoder.h). A string is valid until the next call.
template <Field_Value T, class Input>
T decode_value(Input& in) {
  if constexpr (std::is_same_v<T, bool>) {
    return *in.take(1) != 0;
  } else if constexpr (has_fixed_size<T>) {
    return load<T>(in.take(sizeof(T)));
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return in.take_string();
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    return in.take_record();
  } else {
    const auto position = static_cast<std::int64_t>(in.take_compact());
    return Blob(position, static_cast<std::int64_t>(in.take_compact()));
  }
}

// Decodes the values of an Update_Vector, one after the other. Valid while the handler is called.
template <Field_Value T>
class Vector_Values {
 public:
  // Throws Corruption_Error if the rest of the journal cannot hold `size` values.
  Vector_Values(Decoder_Input& in, std::int64_t size) : in_(in), remaining_(size) {
    // Every value takes at least one byte, and a number takes its full size.
    const std::int64_t least = has_fixed_size<T> ? static_cast<std::int64_t>(sizeof(T)) : 1;
    if (size < 0 || size > in.remaining() / least)
      in.fail("update_vector too big: " + std::to_string(size) + " values do not fit in the " +
              std::to_string(in.remaining()) + " bytes before the checkpoint");
  }

  // Number of values that have not been read.
  std::int64_t remaining() const { return remaining_; }

  // Returns the next value. Requires remaining() > 0. A string is valid until the next call.
  T next() {
    assert(remaining_ > 0);
    --remaining_;
    return decode_value<T>(in_);
  }

  // Copies all remaining values to `out`, which must have room for remaining() of them.
  void read_all(T* out) requires has_fixed_size<T> {
    if constexpr (std::is_same_v<T, bool>) {
      while (remaining_ > 0) *out++ = next();
    } else {
      in_.read(reinterpret_cast<char*>(out), static_cast<std::size_t>(remaining_) * sizeof(T));
      remaining_ = 0;
    }
  }

  void skip_rest() {
    if constexpr (has_fixed_size<T>) {
      in_.skip(remaining_ * static_cast<std::int64_t>(sizeof(T)));
      remaining_ = 0;
    } else {
      while (remaining_ > 0) next();
    }
  }

 private:
  Decoder_Input& in_;
  std::int64_t remaining_;
};

// Not inlined, because other kinds of updates are far more frequent, and small.
template <Field_Value T, class Handler>
[[gnu::noinline]] void decode_update_vector(Decoder_Input& in, const Context& context,
                                            Handler& handler) {
  const auto size = static_cast<std::int64_t>(in.take_compact());
  Vector_Values<T> values(in, size);
  handler(Update_Vector<T>{context.table, context.record, context.field, size, values});
  values.skip_rest();
}

// Decodes the place of the value that an update sets. `table`, `record` and `field` are those of
// the previous entry, and are replaced by those of this entry. (The place is three arguments and
// not a Context, because gcc 12 would not keep a Context in registers.)
template <class Input>
void decode_place(Input& in, Update_Form form, Table_Id& table, Record_Id& record,
                  Field_Id& field) {
  switch (form) {
    case Update_Form::full:
    case Update_Form::vector:
      table = Table_Id(in.take_small_id());
      record = in.take_record();
      field = Field_Id(in.take_small_id());
      break;
    case Update_Form::last:
      field = Field_Id(in.take_small_id());
      break;
    case Update_Form::next:
      record = record + 1;
      break;
  }
}

template <Field_Value T, class Handler>
void decode_update(Decoder_Input& in, Context& context, Update_Form form, Handler& handler) {
  decode_place(in, form, context.table, context.record, context.field);
  if (form == Update_Form::vector) [[unlikely]]
    decode_update_vector<T>(in, context, handler);
  else
    handler(Update<T>{context.table, context.record, context.field, decode_value<T>(in)});
}

// Throws Corruption_Error for an unknown type code.
Type decode_type(Decoder_Input& in);

// Decodes one entry and calls handler(entry) with one of the structs of entry.h. A handler is an
// overload set for all of them. An integrity entry is skipped, unless the handler has a member type
// Sees_Integrity_Entries. Throws Corruption_Error for an invalid entry, and the exceptions of the
// handler. After an exception, `in` may be in the middle of an entry.
template <class Handler>
void decode_entry(Decoder_Input& in, Context& context, Handler&& handler) {
  in.begin_entry();
  const std::uint8_t opcode = in.opcode();
  if (opcode >= first_update_opcode && opcode <= last_update_opcode) {
    const int index = opcode - first_update_opcode;
    const auto form = static_cast<Update_Form>(index & 3);
    visit_type(static_cast<Type_Code>(index / 4 + 1), [&]<class T>(std::type_identity<T>) {
      decode_update<T>(in, context, form, handler);
    });
    return;
  }
  const auto take_table = [&] { return Table_Id(in.take_small_id()); };
  const auto take_field = [&] { return Field_Id(in.take_small_id()); };
  const auto take_size = [&] { return static_cast<std::int64_t>(in.take_compact()); };
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::append:
      context.record = context.record + 1;
      return handler(Insert{context.table, context.record});
    case Opcode::insert_into:
      context.table = take_table();
      context.record = in.take_record();
      return handler(Insert{context.table, context.record});
    case Opcode::delete_from: {
      const Table_Id table = take_table();
      return handler(Delete{table, in.take_record()});
    }
    case Opcode::insert_vector:
      context.table = take_table();
      context.record = in.take_record();
      return handler(Insert_Vector{context.table, context.record, take_size()});
    case Opcode::delete_vector: {
      const Table_Id table = take_table();
      const Record_Id record = in.take_record();
      return handler(Delete_Vector{table, record, take_size()});
    }
    case Opcode::comment:
      return handler(Comment{in.take_string()});
    case Opcode::timestamp:
      return handler(Timestamp{load<std::int64_t>(in.take(sizeof(std::int64_t)))});
    case Opcode::valid_data:
      return handler(Valid_Data{});
    case Opcode::blob: {
      const std::int64_t size = take_size();
      const Offset position = in.position();
      if (size == integrity_payload_size && in.remaining() >= size) [[unlikely]] {
        const std::string_view payload(in.take(static_cast<std::size_t>(size)),
                                       static_cast<std::size_t>(size));
        in.note_integrity(payload);
        const auto entry = decode_integrity_payload(payload);
        if (!entry) return handler(Blob_Data{Blob(position, size)});
        if constexpr (requires { typename std::remove_cvref_t<Handler>::Sees_Integrity_Entries; })
          handler(*entry);
        return;
      }
      in.skip(size);
      return handler(Blob_Data{Blob(position, size)});
    }
    case Opcode::create_table:
      return handler(Create_Table{in.take_string()});
    case Opcode::drop_table:
      return handler(Drop_Table{take_table()});
    case Opcode::rename_table: {
      const Table_Id table = take_table();
      return handler(Rename_Table{table, in.take_string()});
    }
    case Opcode::add_field: {
      const Table_Id table = take_table();
      const std::string name(in.take_string());  // the type may be in the next window
      return handler(Add_Field{table, name, decode_type(in)});
    }
    case Opcode::drop_field: {
      const Table_Id table = take_table();
      return handler(Drop_Field{table, take_field()});
    }
    case Opcode::rename_field: {
      const Table_Id table = take_table();
      const Field_Id field = take_field();
      return handler(Rename_Field{table, field, in.take_string()});
    }
    case Opcode::custom:
      return handler(Custom{in.take_string()});
  }
  in.fail("Unexpected operation: get_position() = " + std::to_string(in.position()));
}

// Decodes all entries that begin before `end`, in order. Throws the exceptions of decode_entry;
// earlier entries have been handled then. If the handler has a function replay_batch(in, context,
// end), this function may decode some entries itself, and moves `in` and `context` past them. Calls
// note_end(position) after each entry that ends a transaction (is_transaction_end).
template <class Handler, class Note_End>
void decode_entries(Decoder_Input& in, Context& context, Handler&& handler, Offset end,
                    Note_End note_end) {
  for (;;) {
    if constexpr (requires { handler.replay_batch(in, context, end); })
      handler.replay_batch(in, context, end);
    if (in.position() >= end) return;
    decode_entry(in, context, handler);
    const auto opcode = static_cast<Opcode>(in.opcode());
    if (opcode == Opcode::timestamp || opcode == Opcode::valid_data) note_end(in.position());
  }
}
template <class Handler>
void decode_entries(Decoder_Input& in, Context& context, Handler&& handler, Offset end) {
  decode_entries(in, context, handler, end, [](Offset) {});
}

// Decodes bytes that start at `offset` in the file, from an empty context: they must be the first
// entries of a journal, or have no short forms. Returns the context after the last entry.
template <class Handler>
Context decode_entries(std::string_view bytes, Handler&& handler, Offset offset = 0) {
  Memory_Decoder_Input in(bytes, offset);
  Context context;
  decode_entries(in, context, handler, in.limit());
  return context;
}

// A handler that accepts every entry and does nothing. A handler that needs only some kinds of
// entries derives from this class, declares `using Ignore_Entries::operator();`, and overloads
// operator() for these kinds.
struct Ignore_Entries {
  template <class Entry>
  void operator()(const Entry&) {}
};

// ---- encoder ------------------------------------------------------------------------------------

// Functions that encode entries as bytes. Each function writes to memory at `out`, which the caller
// owns, and returns the end of the bytes written. The memory must have at least the size that the
// corresponding function …_limit returns. The functions choose the same short forms as joedb 10,
// which depend on the context. They do not check the entry, and throw nothing. Several threads may
// call them for different arguments.

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

// Writes the size of the text in bytes, as a compact number, and then the text.
inline char* encode_string(char* out, std::string_view text) {
  out = write_compact(out, text.size());
  if (!text.empty()) std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Writes a compact number. A number that is negative or greater than max_compact (2^61 - 1) cannot
// be encoded; 0 is written instead, as in joedb 10. So an invalid reference is written as null.
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

// Writes numbers and booleans as they are in memory, strings and references like encode_string and
// encode_record, and a blob as two compact numbers.
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

// Each function writes one whole entry, and updates `context` if the entry changes it. `context`
// must be the context after the previous entry of the same journal.
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
  // The members are assigned one by one. Otherwise gcc assembles the three values on the stack, and
  // reading them back waits for the stores.
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
