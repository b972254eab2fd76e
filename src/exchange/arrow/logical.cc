#include "exchange/arrow/logical.h"

#include <cstring>

#include "kernel/schema/logical_type.h"

namespace joedb::inline v1 {

static std::string unit_of(std::uint8_t scale) {
  return scale == 0 ? "s" : scale == 3 ? "m" : scale == 6 ? "u" : "n";
}

void add_logical_type(Arrow_Type& type, Type_Code stored, const Logical_Type& logical) {
  using Kind = Logical_Type::Kind;
  if (logical.is_plain() || stored == Type_Code::reference) return;
  type.is_nullable = type.is_nullable || logical.is_optional;
  type.metadata = {{"joedb.type", declared_type_text(stored, logical)}};
  switch (logical.kind) {
    case Kind::boolean:
      type.format = "b";
      break;
    case Kind::date:
      type.format = "tdD";
      break;
    case Kind::timestamp:
      type.format = "ts" + unit_of(logical.scale) + ":UTC";
      break;
    case Kind::duration:
      type.format = "tD" + unit_of(logical.scale);
      break;
    case Kind::decimal:
      type.format = "d:19," + std::to_string(logical.scale);
      break;
    case Kind::enumeration:
      type.dictionary = {{.format = "u", .name = ""}};
      type.is_nullable = true;
      break;
    case Kind::bytes:
      type.format = "Z";
      break;
    case Kind::uuid:
      type.format = "w:16";
      type.is_nullable = true;
      type.metadata.emplace_back("ARROW:extension:name", "arrow.uuid");
      type.metadata.emplace_back("ARROW:extension:metadata", "");
      break;
    case Kind::plain:
    case Kind::json:
      break;
  }
}

ArrowArray make_names(const Logical_Type& logical) {
  std::size_t size = 0;
  for (const std::string& name : logical.names) size += name.size();
  Arrow_Buffer offsets((logical.names.size() + 1) * sizeof(std::int32_t));
  Arrow_Buffer bytes(size);
  std::int32_t end = 0;
  std::int32_t* offset = offsets.as<std::int32_t>();
  *offset = 0;
  for (const std::string& name : logical.names) {
    std::memcpy(bytes.data() + end, name.data(), name.size());
    end += static_cast<std::int32_t>(name.size());
    *++offset = end;
  }
  Arrow_Array_Builder array;
  array.add_buffer(nullptr);
  array.add_buffer(std::move(offsets));
  array.add_buffer(std::move(bytes));
  return array.finish(static_cast<index_t>(logical.names.size()), 0);
}

}  // namespace joedb::inline v1
