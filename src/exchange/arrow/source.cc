#include "exchange/arrow/source.h"

#include <bit>
#include <cstring>
#include <limits>

#include "kernel/base/parse_number.h"
#include "kernel/base/split.h"

namespace joedb::inline v1 {

// ---- types --------------------------------------------------------------------------------------

static std::string checked(const char* text) { return text == nullptr ? "" : text; }

// Returns the value of a key in the metadata; empty if there is none. Numbers in the metadata have
// the byte order of the machine. The interface does not state the total size, so the size cannot be
// checked.
static std::string metadata_value(const char* metadata, std::string_view wanted) {
  if (metadata == nullptr) return {};
  const auto read_size = [&metadata] {
    const auto size = load<std::int32_t>(metadata);
    if (size < 0) throw Data_Error("Arrow: metadata with a negative size");
    metadata += sizeof size;
    return static_cast<std::size_t>(size);
  };
  const auto read_text = [&] {
    const std::size_t size = read_size();
    const std::string_view text(metadata, size);
    metadata += size;
    return text;
  };
  for (std::size_t left = read_size(); left > 0; --left) {
    const std::string_view key = read_text();
    const std::string_view value = read_text();
    if (key == wanted) return std::string(value);
  }
  return {};
}

static const char* struct_children(const ArrowSchema& schema) {
  if (schema.n_children < 0 || (schema.n_children > 0 && schema.children == nullptr))
    return "a schema without its children";
  for (std::int64_t i = 0; i < schema.n_children; ++i)
    if (schema.children[i] == nullptr || schema.children[i]->release == nullptr)
      return "a schema with a child that was released";
  return nullptr;
}

static bool is_blob_place(const ArrowSchema& schema) {
  const auto is_int64 = [](const ArrowSchema& child, const char* name) {
    return checked(child.format) == "l" && checked(child.name) == name &&
           child.dictionary == nullptr;
  };
  return schema.n_children == 2 && struct_children(schema) == nullptr &&
         is_int64(*schema.children[0], "position") && is_int64(*schema.children[1], "size");
}

// Times with a time zone are in UTC, too; others are taken to be in UTC.
static bool find_time(std::string_view format, Arrow_Column_Type& type) {
  static constexpr struct {
    std::string_view format;
    Arrow_Kind kind;
    std::int64_t units;
    bool is_duration = false;
    bool is_date = false;
  } kinds[] = {{"tss:", Arrow_Kind::int64, 1},
               {"tsm:", Arrow_Kind::int64, 1000},
               {"tsu:", Arrow_Kind::int64, 1'000'000},
               {"tsn:", Arrow_Kind::int64, 1'000'000'000},
               {"tDs", Arrow_Kind::int64, 1, true},
               {"tDm", Arrow_Kind::int64, 1000, true},
               {"tDu", Arrow_Kind::int64, 1'000'000, true},
               {"tDn", Arrow_Kind::int64, 1'000'000'000, true},
               {"tdD", Arrow_Kind::int32, -86400, false, true},
               {"tdm", Arrow_Kind::int64, 1000, false, true}};
  for (const auto& k : kinds)
    if (format.starts_with(k.format)) {
      type.kind = k.kind;
      type.time_units = k.units;
      type.is_duration = k.is_duration;
      type.is_date = k.is_date;
      return true;
    }
  return false;
}

// "d:PRECISION,SCALE", with 128 bits, and "w:SIZE".
static bool find_fixed(std::string_view format, Arrow_Column_Type& type) {
  constexpr std::int64_t max_width = 4096;
  if (format.starts_with("w:")) {
    const auto width = parse_number<std::int64_t>(format.substr(2));
    if (!width || *width < 1 || *width > max_width) return false;
    type.kind = Arrow_Kind::fixed_bytes;
    type.is_bytes = true;
    type.width = *width;
    return true;
  }
  if (!format.starts_with("d:")) return false;
  const std::vector<std::string_view> parts = split(format.substr(2), ",");
  if (parts.size() != 2 && !(parts.size() == 3 && parts[2] == "128")) return false;
  const auto scale = parse_number<int>(parts[1]);
  if (!scale || *scale < -38 || *scale > 38) return false;
  type.kind = Arrow_Kind::decimal128;
  type.scale = *scale;
  return true;
}

static bool find_kind(const ArrowSchema& schema, Arrow_Column_Type& type) {
  static constexpr struct {
    std::string_view format;
    Arrow_Kind kind;
    bool is_bytes = false;
  } kinds[] = {{"n", Arrow_Kind::null},
               {"b", Arrow_Kind::boolean},
               {"c", Arrow_Kind::int8},
               {"s", Arrow_Kind::int16},
               {"i", Arrow_Kind::int32},
               {"l", Arrow_Kind::int64},
               {"C", Arrow_Kind::uint8},
               {"S", Arrow_Kind::uint16},
               {"I", Arrow_Kind::uint32},
               {"L", Arrow_Kind::uint64},
               {"e", Arrow_Kind::float16},
               {"f", Arrow_Kind::float32},
               {"g", Arrow_Kind::float64},
               {"u", Arrow_Kind::text},
               {"U", Arrow_Kind::large_text},
               {"vu", Arrow_Kind::text_view},
               {"z", Arrow_Kind::text, true},
               {"Z", Arrow_Kind::large_text, true},
               {"vz", Arrow_Kind::text_view, true}};
  for (const auto& k : kinds)
    if (k.format == schema.format) {
      type.kind = k.kind;
      type.is_bytes = k.is_bytes;
      return true;
    }
  if (find_time(schema.format, type) || find_fixed(schema.format, type)) return true;
  if (std::string_view(schema.format) != "+s" || !is_blob_place(schema)) return false;
  type.kind = Arrow_Kind::blob_place;
  return true;
}

// Returns a type that no field has in words, with its code in the Arrow format.
static std::string type_in_words(std::string_view format) {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"tD", "duration"}, {"td", "date"},       {"ts", "timestamp"}, {"tt", "time of day"},
      {"ti", "interval"}, {"d:", "decimal"},    {"+s", "struct"},    {"+l", "list"},
      {"+L", "list"},     {"+v", "list"},       {"+w", "list"},      {"+m", "map"},
      {"+u", "union"},    {"+r", "run-length"}, {"w:", "bytes"},     {"n", "null"}};
  const std::string code = '"' + std::string(format) + '"';
  for (const auto& [start, word] : words)
    if (format.starts_with(start)) return std::string(word) + " (" + code + ')';
  return code;
}

Arrow_Column_Type::Arrow_Column_Type(const ArrowSchema& schema)
    : name(checked(schema.name)), joedb_type(metadata_value(schema.metadata, "joedb.type")) {
  if (schema.format == nullptr) throw Data_Error("column " + name + ": a type without a format");
  if (!find_kind(schema, *this))
    throw Data_Error("column " + name + ": no field has the Arrow type " +
                     type_in_words(schema.format));
  is_uuid = width == 16 && metadata_value(schema.metadata, "ARROW:extension:name") == "arrow.uuid";
  if (schema.dictionary == nullptr) return;
  if (!is_arrow_integer(kind) || time_units != 0)
    throw Data_Error("column " + name + ": a dictionary needs integers");
  index = kind;
  has_dictionary = true;
  if (schema.dictionary->release == nullptr || schema.dictionary->format == nullptr ||
      schema.dictionary->dictionary != nullptr || !find_kind(*schema.dictionary, *this) ||
      kind == Arrow_Kind::blob_place)
    throw Data_Error("column " + name + ": no field has the values of this dictionary");
}

void require_struct(const ArrowSchema& schema) {
  if (schema.release == nullptr) throw Data_Error("Arrow: a schema that was released");
  if (schema.format == nullptr || std::string_view(schema.format) != "+s")
    throw Data_Error("Arrow: the items must be structs (record batches)");
  if (const char* const error = struct_children(schema); error != nullptr)
    throw Data_Error(std::string("Arrow: ") + error);
}

std::string arrow_name(const ArrowSchema& column) { return checked(column.name); }

// ---- values -------------------------------------------------------------------------------------

void Arrow_Values::fail(const std::string& what) const {
  throw Data_Error("column " + name_ + ": the array contradicts itself: " + what);
}

Arrow_Values::Arrow_Values(const std::string& name, Arrow_Kind kind, const ArrowArray& array,
                           std::int64_t first, std::int64_t size, std::int64_t width)
    : name_(name), kind_(kind), array_(array), first_(first), size_(size), width_(width) {
  if (array.length < 0 || array.offset < 0 || array.length > max_arrow_length ||
      array.offset > max_arrow_length)
    fail("a length or an offset is impossible");
  if (first > array.length || size > array.length - first)
    fail("it has " + std::to_string(array.length) + " elements, not " +
         std::to_string(first + size));
  first_ += array.offset;
  if (kind == Arrow_Kind::null) return;
  if (kind == Arrow_Kind::text_view && array.n_buffers < 3)
    fail("it has " + std::to_string(array.n_buffers) + " buffers");
  if (kind == Arrow_Kind::blob_place)
    check_buffers(1);
  else if (kind == Arrow_Kind::text || kind == Arrow_Kind::large_text)
    check_buffers(3);
  else
    check_buffers(kind == Arrow_Kind::text_view ? array.n_buffers : 2);
  if (kind == Arrow_Kind::text) check_offsets<std::int32_t>();
  if (kind == Arrow_Kind::large_text) check_offsets<std::int64_t>();
  if (kind == Arrow_Kind::text_view) check_views();
}

void Arrow_Values::check_buffers(std::int64_t count) {
  if (array_.n_buffers != count)
    fail("it has " + std::to_string(array_.n_buffers) + " buffers, not " + std::to_string(count));
  if (size_ == 0) return;
  if (array_.buffers == nullptr) fail("it has no buffers");
  if (array_.null_count != 0) validity_ = static_cast<const char*>(array_.buffers[0]);
  if (array_.null_count > 0 && validity_ == nullptr) fail("it has nulls, and no bitmap of them");
  if (count == 1) return;
  values_ = static_cast<const char*>(array_.buffers[1]);
  if (values_ == nullptr) fail("a buffer is missing");
}

template <class Offset_Type>
void Arrow_Values::check_offsets() {
  if (size_ == 0) return;
  texts_ = static_cast<const char*>(array_.buffers[2]);
  // The difference of two non-negative offsets cannot overflow.
  std::make_unsigned_t<Offset_Type> negative = 0, decreasing = 0;
  auto last = get<Offset_Type>(0);
  const Offset_Type begin = last;
  for (std::int64_t i = 1; i <= size_; ++i) {
    const auto next = get<Offset_Type>(i);
    negative |= static_cast<std::make_unsigned_t<Offset_Type>>(next);
    decreasing |= static_cast<std::make_unsigned_t<Offset_Type>>(next) -
                  static_cast<std::make_unsigned_t<Offset_Type>>(last);
    last = next;
  }
  if (begin < 0 || static_cast<Offset_Type>(negative) < 0) fail("an offset is negative");
  if (static_cast<Offset_Type>(decreasing) < 0) fail("offsets decrease");
  if (texts_ == nullptr && last > begin) fail("a buffer is missing");
  max_text_size_ = std::int64_t{last} - begin;
}

namespace {

struct View {
  static constexpr std::int64_t max_inline_size = 12;
  std::int32_t size;
  std::int32_t prefix;
  std::int32_t part;
  std::int32_t offset;
};

}  // namespace

void Arrow_Values::check_views() {
  const std::int64_t parts = array_.n_buffers - 3;
  const auto* const sizes =
      size_ == 0 ? nullptr : static_cast<const char*>(array_.buffers[array_.n_buffers - 1]);
  for (std::int64_t i = 0; i < size_; ++i) {
    if (is_null(i)) continue;
    const View v = get<View>(i);
    if (v.size < 0) fail("a text has a negative size");
    if (v.size <= View::max_inline_size) continue;
    if (v.part < 0 || v.part >= parts || v.offset < 0) fail("a text is in no buffer");
    if (sizes == nullptr || array_.buffers[2 + v.part] == nullptr) fail("a buffer is missing");
    if (std::int64_t{v.offset} + v.size >
        load<std::int64_t>(sizes + std::int64_t{sizeof(std::int64_t)} * v.part))
      fail("a text ends behind its buffer");
  }
}

std::string_view Arrow_Values::view(std::int64_t i) const {
  const View v = get<View>(i);
  const auto size = static_cast<std::size_t>(v.size);
  if (v.size <= View::max_inline_size)
    return {values_ + (first_ + i) * std::int64_t{sizeof v} + 4, size};
  return {static_cast<const char*>(array_.buffers[2 + v.part]) + v.offset, size};
}

// ---- rows ---------------------------------------------------------------------------------------

Arrow_Rows::Arrow_Rows(const Arrow_Column_Type& type, const ArrowArray& array, std::int64_t first,
                       std::int64_t size)
    : codes_(type.name, type.has_dictionary ? type.index : type.kind, array, first, size,
             type.width) {
  const auto fail = [&](const char* what) {
    throw Data_Error("column " + type.name + ": the array contradicts itself: " + what);
  };
  if (type.kind == Arrow_Kind::blob_place) {
    if (array.n_children != 2 || array.children == nullptr) fail("it has not two children");
    for (int i = 0; i < 2; ++i) {
      if (array.children[i] == nullptr || array.children[i]->release == nullptr)
        fail("a child was released");
      children_[i] = std::make_unique<Arrow_Values>(type.name, Arrow_Kind::int64,
                                                    *array.children[i], array.offset + first, size);
    }
  }
  if (!type.has_dictionary) return;
  if (array.dictionary == nullptr || array.dictionary->release == nullptr)
    fail("the dictionary is missing");
  values_ = std::make_unique<Arrow_Values>(type.name, type.kind, *array.dictionary, 0,
                                           array.dictionary->length, type.width);
  for (std::int64_t i = 0; i < size; ++i) {
    if (codes_.is_null(i)) continue;
    const std::int64_t code = codes_.integer(i);
    if (code < 0 || code >= values_->size()) fail("an index is not in the dictionary");
  }
}

// ---- half-floats --------------------------------------------------------------------------------

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t large = exponent == 31 ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | large << 23 | fraction << 13);
}

}  // namespace joedb::inline v1
