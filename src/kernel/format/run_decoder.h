#ifndef JOEDB_SRC_KERNEL_FORMAT_RUN_DECODER_H
#define JOEDB_SRC_KERNEL_FORMAT_RUN_DECODER_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "joedb/format/codec.h"

namespace joedb::inline v1 {

// Reads bytes of a journal that are all in memory, without a check for each read. Has the functions
// of Decoder_Input that decode_place and decode_value need.
class Run_Cursor {
 public:
  explicit Run_Cursor(std::string_view window)
      : current_(window.data()), end_(window.data() + window.size()) {}

  const char* position() const { return current_; }
  // True if an entry can be read from here, because all its bytes except those of a text are in
  // memory.
  bool has_entry() const { return end_ - current_ >= max_entry_bytes; }
  void begin_entry() { is_unusual_ = false; }
  // True if the current entry must be read by a Decoder_Input, because it has an id of two bytes,
  // or a text that does not end in these bytes. The value that was read is wrong then.
  bool is_unusual() const { return is_unusual_; }

  const char* take(std::size_t size) {
    const char* const result = current_;
    current_ += size;
    return result;
  }
  std::uint64_t take_compact() {
    const std::size_t size = compact_size_from_first_byte(*current_);
    return read_compact(take(size), size);
  }
  Record_Id take_record() { return Record_Id(static_cast<index_t>(take_compact()) - 1); }
  std::uint16_t take_small_id() {
    const auto id = static_cast<unsigned char>(*take(1));
    is_unusual_ |= id >= 32;
    return id;
  }
  std::string_view take_string() {
    const std::uint64_t size = take_compact();
    if (size <= static_cast<std::uint64_t>(end_ - current_)) [[likely]]
      return {take(size), size};
    is_unusual_ = true;
    return {};
  }

 private:
  // Opcode, table, record, field, and the two numbers of a blob.
  static constexpr std::ptrdiff_t max_entry_bytes = 1 + 1 + 8 + 1 + 8 + 8;

  const char* current_;
  const char* const end_;
  bool is_unusual_ = false;
};

// Decodes inserted rows and values, of which most journals consist, from the bytes before `end`
// that are in memory, until an entry is unusual. Moves `in` and `context` past them. `sink` has
// four functions:
//
//   T* table(Table_Id);
//   bool insert(T&, Record_Id);
//   C* column(T&, Record_Id, Field_Id, Type_Code);  // where values of this type can be set
//   template <Field_Value V> bool set(C&, Record_Id, V value);
//
// If an entry must be left to decode_entry, which also detects its errors, these functions return
// null or false, and change nothing.
//
// Everything is inlined into one loop, with the cursor and the context in registers. With a
// Decoder_Input, opening a journal would take 1.8 times as long; with a Context, which gcc 12 keeps
// in memory, twice as long. is_unusual() refers to a single entry, so that the compiler can omit
// the check for entries that are never unusual; with a flag for the whole run, opening would take
// 1.05 times as long.
template <class Sink>
[[gnu::always_inline]] inline void decode_run(Decoder_Input& in, Context& context, Offset end,
                                              Sink sink) {
  Run_Cursor cursor(in.window(end));
  const char* done = cursor.position();
  Table_Id last_table = context.table;
  auto* table = sink.table(last_table);
  Record_Id last_record = context.record;
  Field_Id last_field = context.field;
  while (cursor.has_entry()) {
    cursor.begin_entry();
    const auto opcode = static_cast<std::uint8_t>(*cursor.take(1));
    if (opcode == static_cast<std::uint8_t>(Opcode::append)) {
      if (table == nullptr || !sink.insert(*table, last_record + 1)) break;
      last_record = last_record + 1;
      done = cursor.position();
      continue;
    }
    if (opcode < first_update_opcode || opcode > last_update_opcode) break;
    const auto form = static_cast<Update_Form>((opcode - first_update_opcode) & 3);
    const auto type = static_cast<Type_Code>((opcode - first_update_opcode) / 4 + 1);
    if (form == Update_Form::vector) break;
    Table_Id table_id = last_table;
    Record_Id record = last_record;
    Field_Id field = last_field;
    decode_place(cursor, form, table_id, record, field);
    auto* const updated = form == Update_Form::full ? sink.table(table_id) : table;
    if (updated == nullptr) break;
    auto* const column = sink.column(*updated, record, field, type);
    if (column == nullptr) break;
    const bool is_set = visit_type(type, [&]<class T>(std::type_identity<T>) {
      const T value = decode_value<T>(cursor);
      return !cursor.is_unusual() && sink.template set<T>(*column, record, value);
    });
    if (!is_set) break;
    table = updated;
    last_table = table_id;
    last_record = record;
    last_field = field;
    done = cursor.position();
  }
  context = {last_table, last_record, last_field};
  in.move_to(done);
}

}  // namespace joedb::inline v1

#endif
