#include "joedb/arrow/arrow.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>

#include "exchange/arrow/arrays.h"
#include "exchange/arrow/logical.h"
#include "exchange/arrow/utf8.h"
#include "kernel/base/utf8.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {
namespace {

// ---- exported tables ----------------------------------------------------------------------------

struct Exported_Field {
  std::string name;
  Type_Code type;
  Shared_Logical_Type logical;
  std::shared_ptr<const Arrow_Pin> pin;
};

// A run of records with consecutive ids.
struct Run {
  index_t first;
  index_t size;
};

// A table in its state at the time of the export.
struct Exported_Table {
  std::string name;
  std::vector<Exported_Field> fields;
  std::vector<Run> runs;
  Arrow_Options options;
  Arrow_Type type;
};

Arrow_Type arrow_type(const Database& database, const Field& field, const Arrow_Options& options) {
  const Type type = field.column->type();
  Arrow_Type result{.format = "", .name = field.name};
  switch (type.code) {
    case Type_Code::int8:
      result.format = "c";
      break;
    case Type_Code::int16:
      result.format = "s";
      break;
    case Type_Code::int32:
      result.format = "i";
      break;
    case Type_Code::int64:
      result.format = "l";
      break;
    case Type_Code::float32:
      result.format = "f";
      break;
    case Type_Code::float64:
      result.format = "g";
      break;
    case Type_Code::boolean:
      result.format = "b";
      break;
    case Type_Code::reference: {
      const Table* const referenced = database.find_table(type.referenced);
      result.format = "l";
      result.is_nullable = true;
      if (referenced != nullptr)
        result.metadata = {{"joedb.type", declared_type_text(type.code, field.column->logical(),
                                                             referenced->name())}};
      break;
    }
    case Type_Code::string:
      if (options.text == Arrow_Text::binary) {
        result.format = "Z";
        result.metadata = {{"joedb.type", "string"}};
      } else {
        result.format = options.text == Arrow_Text::utf8_view ? "vu" : "U";
      }
      break;
    case Type_Code::blob:
      result.metadata = {{"joedb.type", "blob"}};
      result.is_nullable = true;
      if (options.blob_file) {
        result.format = "Z";
      } else {
        result.format = "+s";
        result.children = {{.format = "l", .name = "position"}, {.format = "l", .name = "size"}};
      }
      break;
    case Type_Code::none:
      break;
  }
  add_logical_type(result, type.code, field.column->logical());
  return result;
}

// ---- batches ------------------------------------------------------------------------------------

// The records of one item of the stream. If they are a single run, columns of numbers are not
// copied.
struct Batch {
  std::vector<Run> runs;
  index_t rows = 0;

  bool is_whole() const { return runs.size() == 1; }
  // Calls f(row, id) for each record.
  template <class F>
  void for_each(F f) const {
    index_t row = 0;
    for (const Run& run : runs)
      for (index_t id = run.first; id < run.first + run.size; ++id) f(row++, id);
  }
};

// The validity bitmap of a batch. All records are valid until set_null() is called.
class Validity {
 public:
  explicit Validity(index_t rows) : rows_(rows) {}
  void set_null(index_t row) {
    if (null_count_ == 0) {
      const std::size_t size = static_cast<std::size_t>(rows_) / 8 + 1;
      bits_ = Arrow_Buffer(size);
      std::memset(bits_.data(), 0xff, size);
    }
    char& byte = bits_.data()[row / 8];
    byte = static_cast<char>(byte & ~(1 << (row % 8)));
    ++null_count_;
  }
  index_t null_count() const { return null_count_; }
  // Adds the bitmap to the array; adds a null pointer if no record is null.
  void add_to(Arrow_Array_Builder& array) && {
    if (null_count_ == 0)
      array.add_buffer(nullptr);
    else
      array.add_buffer(std::move(bits_));
  }

 private:
  const index_t rows_;
  index_t null_count_ = 0;
  Arrow_Buffer bits_;
};

std::size_t size_of(index_t count, std::size_t unit) {
  return static_cast<std::size_t>(count) * unit;
}

// Creates the arrays of one batch.
class Batch_Writer {
 public:
  Batch_Writer(const Exported_Table& table, const Batch& batch) : table_(table), batch_(batch) {}

  ArrowArray write() {
    Arrow_Array_Builder result;
    result.add_buffer(nullptr);
    if (table_.options.with_ids) result.add_child(ids());
    for (const Exported_Field& field : table_.fields) {
      field_ = &field;
      logical_ = &get(field.logical);
      result.add_child(visit_type(field.type, [&](auto type) {
        return logical_->has_plain_values() ? values(type) : logical_values(type);
      }));
    }
    return result.finish(batch_.rows, 0);
  }

 private:
  template <class T>
  const T* column() const {
    return reinterpret_cast<const T*>(field_->pin->values());
  }
  std::string place(index_t id) const {
    return "table " + table_.name + ", field " + field_->name + ", record " + std::to_string(id);
  }

  ArrowArray ids() {
    Arrow_Buffer out(size_of(batch_.rows, sizeof(std::int64_t)));
    batch_.for_each([&](index_t row, index_t id) { out.as<std::int64_t>()[row] = id; });
    return finish({}, std::move(out));
  }
  ArrowArray finish(Validity* validity, Arrow_Buffer values) {
    Arrow_Array_Builder array;
    const index_t null_count = validity == nullptr ? 0 : validity->null_count();
    if (validity == nullptr)
      array.add_buffer(nullptr);
    else
      std::move(*validity).add_to(array);
    array.add_buffer(std::move(values));
    return array.finish(batch_.rows, null_count);
  }

  template <class T>
  ArrowArray values(std::type_identity<T>) {
    Arrow_Array_Builder array;
    array.add_buffer(nullptr);
    add_numbers<T>(array);
    return array.finish(batch_.rows, 0);
  }
  template <class T>
  void add_numbers(Arrow_Array_Builder& array) {
    const T* const column = this->column<T>();
    if (batch_.is_whole()) {
      array.add_owner(field_->pin);
      return array.add_buffer(column + batch_.runs[0].first);
    }
    Arrow_Buffer out(size_of(batch_.rows, sizeof(T)));
    T* end = out.as<T>();
    for (const Run& run : batch_.runs) {
      std::memcpy(end, column + run.first, size_of(run.size, sizeof(T)));
      end += run.size;
    }
    array.add_buffer(std::move(out));
  }

  // Normalizes the values, because a column from a snapshot may contain bytes other than 0 and 1.
  ArrowArray values(std::type_identity<bool>) {
    const char* const column = field_->pin->values();
    const std::size_t size = size_of(batch_.rows, 1) / 8 + 1;
    Arrow_Buffer out(size);
    std::memset(out.data(), 0, size);
    index_t row = 0;
    for (const Run& run : batch_.runs)
      for (index_t i = 0; i < run.size;) {
        const char* const in = column + run.first + i;
        constexpr std::uint64_t ones = 0x0101010101010101;
        if (row % 8 == 0 && i + 8 <= run.size && (load<std::uint64_t>(in) & ~ones) == 0) {
          // The product moves byte k of the word to bit k of its highest byte.
          const std::uint64_t bits = load<std::uint64_t>(in) * 0x0102040810204080;
          out.data()[row / 8] = static_cast<char>(bits >> 56);
          row += 8;
          i += 8;
        } else {
          char& byte = out.data()[row / 8];
          byte = static_cast<char>(byte | (*in != 0) << (row % 8));
          ++row;
          ++i;
        }
      }
    return finish({}, std::move(out));
  }

  ArrowArray values(std::type_identity<Record_Id>) {
    const Record_Id* const column = this->column<Record_Id>();
    Validity validity(batch_.rows);
    Arrow_Buffer out(size_of(batch_.rows, sizeof(std::int64_t)));
    batch_.for_each([&](index_t row, index_t id) {
      out.as<std::int64_t>()[row] = column[id].value();
      if (column[id].is_null()) validity.set_null(row);
    });
    return finish(&validity, std::move(out));
  }

  // ---- logical types

  template <class T>
  ArrowArray logical_values(std::type_identity<T> type) {
    using Kind = Logical_Type::Kind;
    if constexpr (std::is_same_v<T, std::string_view>) {
      return logical_->kind == Kind::uuid ? uuids() : values(type);
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      Validity validity(batch_.rows);
      if constexpr (std::is_integral_v<T>)
        if (logical_->kind == Kind::enumeration) return places<T>(validity);
      if (logical_->is_optional) find_missing<T>(validity);
      if (logical_->kind == Kind::boolean) return booleans<T>(validity);
      if constexpr (std::is_same_v<T, std::int64_t>)
        if (logical_->kind == Kind::decimal) return decimals(validity);
      if (logical_->kind == Kind::duration && validity.null_count() > 0)
        return with_zeros<T>(validity);
      const index_t null_count = validity.null_count();
      Arrow_Array_Builder array;
      std::move(validity).add_to(array);
      add_numbers<T>(array);
      return array.finish(batch_.rows, null_count);
    } else {
      return values(type);
    }
  }
  template <class T>
  void find_missing(Validity& validity) const {
    const T* const column = this->column<T>();
    batch_.for_each([&](index_t row, index_t id) {
      if (is_missing<T>(*logical_, column[id])) validity.set_null(row);
    });
  }
  // DuckDB also converts the durations of null rows to another unit, which the smallest integer
  // does not fit.
  template <class T>
  ArrowArray with_zeros(Validity& validity) {
    const T* const column = this->column<T>();
    Arrow_Buffer out(size_of(batch_.rows, sizeof(T)));
    batch_.for_each([&](index_t row, index_t id) {
      out.as<T>()[row] = is_missing<T>(*logical_, column[id]) ? T() : column[id];
    });
    return finish(&validity, std::move(out));
  }
  template <class T>
  ArrowArray booleans(Validity& validity) {
    const T* const column = this->column<T>();
    const std::size_t size = size_of(batch_.rows, 1) / 8 + 1;
    Arrow_Buffer out(size);
    std::memset(out.data(), 0, size);
    batch_.for_each([&](index_t row, index_t id) {
      char& byte = out.data()[row / 8];
      byte = static_cast<char>(byte | (column[id] > 0) << (row % 8));
    });
    return finish(&validity, std::move(out));
  }
  // Numbers of 128 bits.
  ArrowArray decimals(Validity& validity) {
    const auto* const column = this->column<std::int64_t>();
    Arrow_Buffer out(size_of(batch_.rows, 2 * sizeof(std::int64_t)));
    batch_.for_each([&](index_t row, index_t id) {
      const std::int64_t value = is_missing(*logical_, column[id]) ? 0 : column[id];
      out.as<std::int64_t>()[2 * row] = value;
      out.as<std::int64_t>()[2 * row + 1] = value < 0 ? -1 : 0;
    });
    return finish(&validity, std::move(out));
  }
  // The places of names, which are indexes of the dictionary. A place of no name is null, because
  // readers do not check indexes. Readers also look at the indexes of null rows, which become 0.
  template <class T>
  ArrowArray places(Validity& validity) {
    const T* const column = this->column<T>();
    const std::size_t names = logical_->names.size();
    const auto has_name = [&](T place) { return static_cast<std::size_t>(place) < names; };
    batch_.for_each([&](index_t row, index_t id) {
      if (!has_name(column[id])) validity.set_null(row);
    });
    const index_t null_count = validity.null_count();
    Arrow_Array_Builder array;
    std::move(validity).add_to(array);
    if (null_count == 0) {
      add_numbers<T>(array);
    } else {
      Arrow_Buffer out(size_of(batch_.rows, sizeof(T)));
      batch_.for_each([&](index_t row, index_t id) {
        out.as<T>()[row] = has_name(column[id]) ? column[id] : T(0);
      });
      array.add_buffer(std::move(out));
    }
    array.set_dictionary(make_names(*logical_));
    return array.finish(batch_.rows, null_count);
  }
  ArrowArray uuids() {
    constexpr std::size_t size = 16;
    Validity validity(batch_.rows);
    Arrow_Buffer out(size_of(batch_.rows, size));
    batch_.for_each([&](index_t row, index_t id) {
      const std::string_view t = text(id);
      char* const to = out.data() + size_of(row, size);
      if (t.size() == size)
        std::memcpy(to, t.data(), size);
      else
        std::memset(to, 0, size);
      if (t.size() != size) validity.set_null(row);
    });
    return finish(&validity, std::move(out));
  }

  // ---- texts

  // A missing value is an empty text.
  std::string_view text(index_t id) const {
    const String_Handle& handle = column<String_Handle>()[id];
    if (handle.is_inline()) {
      const std::string_view t(handle.bytes, handle.size);
      return is_missing(*logical_, t) ? std::string_view() : t;
    }
    const std::string_view texts = field_->pin->texts();
    const std::uint64_t offset = handle.offset();
    if (offset >= texts.size() || handle.size >= texts.size() - offset) return {};
    return texts.substr(offset, handle.size);
  }

  // Sizes and range of the texts of the batch, taken from their handles.
  struct Texts {
    std::size_t size = 0;         // total size in bytes
    const char* begin = nullptr;  // range of the texts in the block of the column
    const char* end = nullptr;
    bool is_ascii = false;  // also false if the check would take long
  };
  Texts inspect_texts() const {
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    const String_Handle* const handles = column<String_Handle>();
    Texts result;
    std::size_t size_in_block = 0;
    std::uint64_t bits = 0;
    batch_.for_each([&](index_t, index_t id) {
      const String_Handle& handle = handles[id];
      if (handle.is_inline()) {
        if (is_missing(*logical_, std::string_view(handle.bytes, handle.size))) return;
        result.size += handle.size;
        bits |= load<std::uint64_t>(handle.bytes) | load<std::uint32_t>(handle.bytes + 8);
        return;
      }
      const std::string_view t = text(id);
      if (t.empty()) return;
      size_in_block += t.size();
      if (result.begin == nullptr || t.data() < result.begin) result.begin = t.data();
      if (t.data() + t.size() > result.end) result.end = t.data() + t.size();
    });
    result.size += size_in_block;
    const std::size_t range = rest(result.begin, result.end);
    result.is_ascii = (bits & high_bits) == 0 && range / 2 <= size_in_block &&
                      joedb::is_ascii({result.begin, range});
    return result;
  }

  // The rows whose text is not UTF-8, in ascending order, each with the replacement of its text.
  using Replaced = std::vector<std::pair<index_t, std::string>>;
  Replaced check_texts(const Texts& texts) const {
    Replaced result;
    if (texts.is_ascii || format() == Arrow_Text::binary) return result;
    batch_.for_each([&](index_t row, index_t id) {
      const std::string_view t = text(id);
      if (is_utf8(t)) return;
      if (table_.options.invalid_text == Arrow_Invalid_Text::error)
        throw Data_Error(place(id) +
                         ": the text is not UTF-8; export texts as bytes, or let such "
                         "bytes be replaced");
      result.emplace_back(row, replaced_utf8(t));
    });
    return result;
  }
  // Calls f(row, text, is_replaced) for each record.
  template <class F>
  void for_each_text(const Replaced& replaced, F f) const {
    auto next = replaced.begin();
    batch_.for_each([&](index_t row, index_t id) {
      const bool is_replaced = next != replaced.end() && next->first == row;
      f(row, is_replaced ? std::string_view((next++)->second) : text(id), is_replaced);
    });
  }

  // Copies a block of fixed size, which is faster than the exact size, if the bytes after the text
  // can be read, and those after the copy overwritten.
  static constexpr std::size_t max_block = 32;
  void copy(char* out, std::string_view t) const {
    const std::string_view texts = field_->pin->texts();
    const bool is_in_block = t.data() >= texts.data() && t.data() < texts.data() + texts.size();
    if (t.size() <= max_block && is_in_block &&
        rest(t.data(), texts.data() + texts.size()) >= max_block)
      std::memcpy(out, t.data(), max_block);
    else if (!t.empty())
      std::memcpy(out, t.data(), t.size());
  }

  Arrow_Text format() const {
    return logical_->kind == Logical_Type::Kind::bytes ? Arrow_Text::binary : table_.options.text;
  }
  // Adds the bitmap of texts that are not missing. Returns the number of missing ones.
  index_t add_validity_of_texts(Arrow_Array_Builder& array) const {
    Validity validity(batch_.rows);
    if (logical_->is_optional)
      batch_.for_each([&](index_t row, index_t id) {
        const String_Handle& handle = column<String_Handle>()[id];
        if (handle.is_inline() &&
            is_missing(*logical_, std::string_view(handle.bytes, handle.size)))
          validity.set_null(row);
      });
    const index_t null_count = validity.null_count();
    std::move(validity).add_to(array);
    return null_count;
  }

  ArrowArray values(std::type_identity<std::string_view>) {
    const Texts texts = inspect_texts();
    const Replaced replaced = check_texts(texts);
    if (format() == Arrow_Text::utf8_view) return views(texts, replaced);
    std::size_t most = texts.size + max_block;
    for (const auto& [row, text] : replaced) most += text.size();
    Arrow_Buffer offsets(size_of(batch_.rows + 1, sizeof(std::int64_t)));
    Arrow_Buffer bytes(most);
    std::int64_t* const ends = offsets.as<std::int64_t>() + 1;
    ends[-1] = 0;
    char* out = bytes.data();
    for_each_text(replaced, [&](index_t row, std::string_view t, bool) {
      copy(out, t);
      out += t.size();
      ends[row] = out - bytes.data();
    });
    Arrow_Array_Builder array;
    const index_t null_count = add_validity_of_texts(array);
    array.add_buffer(std::move(offsets));
    array.add_buffer(std::move(bytes));
    return array.finish(batch_.rows, null_count);
  }

  // An element of a view array. Its first 4 bytes are the size of the text. If the text has at most
  // 12 bytes, it follows. Otherwise, 12 other bytes follow: the first 4 bytes of the text, the
  // index of the part that contains it, and its offset in that part.
  struct View {
    static constexpr std::size_t max_inline_size = 12;
    std::uint64_t start;
    std::uint64_t rest;
  };
  static_assert(sizeof(View) == 16);

  // Texts of more than 12 bytes are in parts. The first parts are overlapping ranges of the
  // column's block: several, because an offset has only 31 bits. They are followed by parts for
  // single texts: for replaced texts, and for texts that cross the end of a range.
  ArrowArray views(const Texts& texts, const Replaced& replaced) {
    constexpr std::size_t chunk = std::size_t{1} << 30;
    constexpr std::size_t longest = std::numeric_limits<std::int32_t>::max();
    const char* const begin = texts.begin;
    const char* const end = texts.end;
    std::size_t replaced_size = 0;
    for (const auto& [row, text] : replaced) replaced_size += text.size();
    struct Part {
      const char* data;
      std::size_t size;
    };
    std::vector<Part> parts;
    for (const char* part = begin; part < end; part += std::min(chunk, rest(part, end)))
      parts.push_back({part, std::min(longest, rest(part, end))});
    Arrow_Buffer own(replaced_size);
    char* own_end = own.data();
    const auto add_part = [&](std::string_view t) {
      parts.push_back({t.data(), t.size()});
      return View_Place{parts.size() - 1, 0};
    };
    Arrow_Buffer out(size_of(batch_.rows, sizeof(View)));
    for_each_text(replaced, [&](index_t row, std::string_view t, bool is_replaced) {
      View& view = out.as<View>()[row];
      if (t.size() <= View::max_inline_size) {
        view = {t.size(), 0};
        if (!t.empty()) std::memcpy(reinterpret_cast<char*>(&view) + 4, t.data(), t.size());
        return;
      }
      if (t.size() > longest)
        throw Data_Error("table " + table_.name + ", field " + field_->name +
                         ": a text has more than 2147483647 bytes, which a view cannot have");
      View_Place place;
      if (is_replaced) {
        std::memcpy(own_end, t.data(), t.size());
        place = add_part({own_end, t.size()});
        own_end += t.size();
      } else {
        const std::size_t offset = rest(begin, t.data());
        place = {offset / chunk, offset % chunk};
        if (place.offset + t.size() > parts[place.part].size) place = add_part(t);
      }
      view = {t.size() | std::uint64_t{load<std::uint32_t>(t.data())} << 32,
              place.part | place.offset << 32};
    });
    Arrow_Array_Builder array;
    array.add_owner(field_->pin);
    const index_t null_count = add_validity_of_texts(array);
    array.add_buffer(std::move(out));
    Arrow_Buffer sizes(size_of(static_cast<index_t>(parts.size()), sizeof(std::int64_t)));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      array.add_buffer(parts[i].data);
      sizes.as<std::int64_t>()[i] = static_cast<std::int64_t>(parts[i].size);
    }
    array.add_buffer(std::move(sizes));
    array.add_memory(std::move(own));
    return array.finish(batch_.rows, null_count);
  }
  struct View_Place {
    std::size_t part = 0;
    std::size_t offset = 0;
  };
  static std::size_t rest(const char* begin, const char* end) {
    return static_cast<std::size_t>(end - begin);
  }

  // ---- blobs

  ArrowArray values(std::type_identity<Blob>) {
    const Blob* const column = this->column<Blob>();
    Validity validity(batch_.rows);
    batch_.for_each([&](index_t row, index_t id) {
      if (column[id].is_null()) validity.set_null(row);
    });
    const index_t null_count = validity.null_count();
    Arrow_Array_Builder array;
    std::move(validity).add_to(array);
    if (table_.options.blob_file) {
      add_blob_bytes(array);
    } else {
      Arrow_Buffer positions(size_of(batch_.rows, sizeof(std::int64_t)));
      Arrow_Buffer sizes(size_of(batch_.rows, sizeof(std::int64_t)));
      batch_.for_each([&](index_t row, index_t id) {
        positions.as<std::int64_t>()[row] = column[id].get_position();
        sizes.as<std::int64_t>()[row] = column[id].get_size();
      });
      array.add_child(finish({}, std::move(positions)));
      array.add_child(finish({}, std::move(sizes)));
    }
    return array.finish(batch_.rows, null_count);
  }

  void add_blob_bytes(Arrow_Array_Builder& array) {
    const Blob* const column = this->column<Blob>();
    const Abstract_File& file = *table_.options.blob_file;
    const Offset file_size = file.get_size();
    Arrow_Buffer offsets(size_of(batch_.rows + 1, sizeof(std::int64_t)));
    std::int64_t total = 0;
    offsets.as<std::int64_t>()[0] = 0;
    batch_.for_each([&](index_t row, index_t id) {
      const Blob blob = column[id];
      if (!blob.is_null()) {
        if (blob.get_position() < 0 || blob.get_size() < 0 || blob.get_position() > file_size ||
            blob.get_size() > file_size - blob.get_position())
          throw Corruption_Error(place(id) + ": the blob is not in the file", blob.get_position());
        total += blob.get_size();
      }
      offsets.as<std::int64_t>()[row + 1] = total;
    });
    Arrow_Buffer bytes(static_cast<std::size_t>(total));
    batch_.for_each([&](index_t row, index_t id) {
      const std::int64_t offset = offsets.as<std::int64_t>()[row];
      const auto size = static_cast<std::size_t>(offsets.as<std::int64_t>()[row + 1] - offset);
      if (size > 0) file.read_exactly(bytes.data() + offset, size, column[id].get_position());
    });
    array.add_buffer(std::move(offsets));
    array.add_buffer(std::move(bytes));
  }

  const Exported_Table& table_;
  const Batch& batch_;
  const Exported_Field* field_ = nullptr;
  const Logical_Type* logical_ = nullptr;  // of the field
};

// ---- the stream ---------------------------------------------------------------------------------

class Table_Stream {
 public:
  explicit Table_Stream(Exported_Table table) : table_(std::move(table)) {}

  static void release(ArrowArrayStream* stream) {
    delete &of(stream);
    stream->release = nullptr;
  }
  static int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    Table_Stream& self = of(stream);
    return self.guard([&] { *out = make_arrow_schema(self.table_.type); });
  }
  static int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    Table_Stream& self = of(stream);
    return self.guard([&] {
      const Place before = self.place_;
      try {
        const Batch batch = self.next_batch();
        *out = batch.rows == 0 ? ArrowArray{} : Batch_Writer(self.table_, batch).write();
      } catch (...) {
        self.place_ = before;
        throw;
      }
    });
  }
  static const char* get_last_error(ArrowArrayStream* stream) {
    const std::string& error = of(stream).error_;
    return error.empty() ? nullptr : error.c_str();
  }

 private:
  static Table_Stream& of(ArrowArrayStream* stream) {
    return *static_cast<Table_Stream*>(stream->private_data);
  }

  template <class F>
  int guard(F f) noexcept {
    error_.clear();
    try {
      f();
      return 0;
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    } catch (const Data_Error& e) {
      return fail(e, EINVAL);
    } catch (const std::exception& e) {
      return fail(e, EIO);
    }
  }
  int fail(const std::exception& e, int code) noexcept {
    try {
      error_ = e.what();
    } catch (...) {
      error_.clear();
    }
    return code;
  }

  // The start of the next batch: a run, and the number of records already done in that run.
  struct Place {
    std::size_t run = 0;
    index_t done = 0;
  };

  // Returns the next batch. At the end, the batch is empty.
  Batch next_batch() {
    Batch batch;
    while (place_.run < table_.runs.size() && batch.rows < table_.options.max_rows) {
      const Run& run = table_.runs[place_.run];
      const index_t left = run.size - place_.done;
      const bool stands_alone = left >= table_.options.min_run;
      if (stands_alone && batch.rows > 0) break;
      const index_t size = std::min(left, table_.options.max_rows - batch.rows);
      batch.runs.push_back({run.first + place_.done, size});
      batch.rows += size;
      place_ = size == left ? Place{place_.run + 1, 0} : Place{place_.run, place_.done + size};
      if (stands_alone) break;
    }
    return batch;
  }

  const Exported_Table table_;
  Place place_;
  std::string error_;
};

// Throws Data_Error if a record does not exist.
std::vector<Run> runs_of(const Table& table, std::span<const index_t> ids) {
  std::vector<Run> runs;
  for (const index_t id : ids) {
    table.require_used(Record_Id(id));
    if (!runs.empty() && runs.back().first + runs.back().size == id)
      ++runs.back().size;
    else
      runs.push_back({id, 1});
  }
  return runs;
}

std::vector<Field_Id> all_fields(const Table& table) {
  std::vector<Field_Id> result;
  for_each_field(table, [&](Field_Id id, const Field&) { result.push_back(id); });
  return result;
}

}  // namespace

void export_table(Arrow_Pins& pins, Table_Id table, const Arrow_Options& options,
                  ArrowArrayStream* out) {
  const Database& database = pins.database();
  const Table& t = database.table(table);
  if (options.max_rows < 1) throw Data_Error("a batch needs at least one row");
  Exported_Table exported{.name = t.name(),
                          .fields = {},
                          .runs = {},
                          .options = options,
                          .type = {.format = "+s", .name = ""}};
  if (options.with_ids) exported.type.children.push_back({.format = "l", .name = "__id"});
  for (const Field_Id id : options.fields ? *options.fields : all_fields(t)) {
    const Field* const field = t.find_field(id);
    if (field == nullptr) throw Data_Error("table " + t.name() + " has no such field");
    exported.fields.push_back({field->name, field->column->type().code,
                               field->column->shared_logical(), pins.pin(table, id)});
    exported.type.children.push_back(arrow_type(database, *field, options));
  }
  if (options.records) {
    exported.runs = runs_of(t, *options.records);
    exported.options.records.reset();
  } else {
    for_each_run(t, [&](index_t first, index_t size) { exported.runs.push_back({first, size}); });
  }
  auto stream = std::make_unique<Table_Stream>(std::move(exported));
  out->get_schema = Table_Stream::get_schema;
  out->get_next = Table_Stream::get_next;
  out->get_last_error = Table_Stream::get_last_error;
  out->release = Table_Stream::release;
  out->private_data = stream.release();
}

}  // namespace joedb::inline v1
