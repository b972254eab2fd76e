#include "joedb/format/codec.h"

#include <limits>

namespace joedb::inline v1 {

std::string opcode_name(std::uint8_t opcode) {
  if (opcode >= first_update_opcode && opcode <= last_update_opcode) {
    static constexpr const char* forms[] = {"update ", "update_last ", "update_next ",
                                            "update_vector "};
    const int index = opcode - first_update_opcode;
    return forms[index & 3] + std::string(type_name(static_cast<Type_Code>(index / 4 + 1)));
  }
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::create_table:
      return "create_table";
    case Opcode::drop_table:
      return "drop_table";
    case Opcode::add_field:
      return "add_field";
    case Opcode::drop_field:
      return "drop_field";
    case Opcode::insert_into:
      return "insert_into";
    case Opcode::delete_from:
      return "delete_from";
    case Opcode::append:
      return "append";
    case Opcode::comment:
      return "comment";
    case Opcode::timestamp:
      return "timestamp";
    case Opcode::rename_table:
      return "rename_table";
    case Opcode::rename_field:
      return "rename_field";
    case Opcode::valid_data:
      return "valid_data";
    case Opcode::insert_vector:
      return "insert_vector";
    case Opcode::custom:
      return "custom";
    case Opcode::blob:
      return "blob";
    case Opcode::delete_vector:
      return "delete_vector";
  }
  return "entry";
}

std::string Decoder_Input::entry_description() const {
  const std::string name = opcode_name(opcode_);
  return " (" + name + (name == "entry" ? "" : " entry") + " at offset " +
         std::to_string(entry_offset_) + ")";
}

void Decoder_Input::fail(const std::string& what) const {
  throw Corruption_Error(what + entry_description(), entry_offset_);
}

void Decoder_Input::throw_past_the_end(std::uint64_t size) const {
  fail("Trying to read past the end of file: " + std::to_string(size) + " bytes needed at offset " +
       std::to_string(position()) + ", but the journal ends at " + std::to_string(limit_));
}

void Decoder_Input::refill_or_throw(std::size_t size) {
  if (size > static_cast<std::uint64_t>(remaining())) throw_past_the_end(size);
  refill(size);
}

void Decoder_Input::skip(Offset size) {
  if (size < 0 || size > remaining()) throw_past_the_end(static_cast<std::uint64_t>(size));
  // A few bytes are read and not skipped: this costs less than a new window, and skipped bytes
  // could not be verified.
  constexpr Offset little = 1 << 16;
  const Offset in_window = end_ - current_;
  if (size <= in_window)
    current_ += size;
  else if (size < little)
    take(static_cast<std::size_t>(size));
  else
    reset(position() + size, limit_);
}

void Decoder_Input::read(char* out, std::size_t size) {
  if (size > static_cast<std::uint64_t>(remaining())) throw_past_the_end(size);
  const std::size_t in_window = std::min(size, window().size());
  if (in_window > 0) std::memcpy(out, current_, in_window);
  current_ += in_window;
  if (in_window == size) return;
  const Offset offset = position();
  read_at(out + in_window, size - in_window, offset);
  reset(offset + static_cast<Offset>(size - in_window), limit_);
}

std::uint16_t Decoder_Input::take_large_id() {
  const std::uint64_t id = take_compact();
  if (id > std::numeric_limits<std::uint16_t>::max())
    fail("table or field id too big: " + std::to_string(id));
  return static_cast<std::uint16_t>(id);
}

Type decode_type(Decoder_Input& in) {
  const auto code = static_cast<unsigned char>(*in.take(1));
  if (code == 0 || code > type_count) in.fail("unknown type code " + std::to_string(code));
  Type type{static_cast<Type_Code>(code), {}};
  if (type.code == Type_Code::reference) type.referenced = Table_Id(in.take_small_id());
  return type;
}

}  // namespace joedb::inline v1
