#ifndef JOEDB_TESTS_SUPPORT_ARROW_VALUES_H
#define JOEDB_TESTS_SUPPORT_ARROW_VALUES_H

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/arrow/arrow.h"
#include "joedb/base/error.h"
#include "joedb/table/database.h"
#include "kernel/schema/logical_type.h"

namespace joedb::testing {

// A reader of Arrow data that uses no code of the module arrow.

template <class T>
struct Arrow_Release {
  void operator()(T* t) const {
    if (t->release != nullptr) t->release(t);
    delete t;
  }
};
using Arrow_Schema_Pointer = std::unique_ptr<ArrowSchema, Arrow_Release<ArrowSchema>>;
using Arrow_Array_Pointer = std::unique_ptr<ArrowArray, Arrow_Release<ArrowArray>>;

// Returns a value as text.
inline std::string arrow_cell(const ArrowSchema& type, const ArrowArray& array, std::int64_t row) {
  const std::int64_t i = array.offset + row;
  const auto buffer = [&]<class T>(T, int n) {
    T value;
    std::memcpy(&value, static_cast<const char*>(array.buffers[n]) + i * std::int64_t{sizeof(T)},
                sizeof(T));
    return value;
  };
  const auto bit = [&](int n) {
    return (static_cast<const unsigned char*>(array.buffers[n])[i / 8] >> (i % 8) & 1) != 0;
  };
  if (array.null_count != 0 && array.buffers[0] != nullptr && !bit(0)) return "null";
  const auto number = [&](auto zero) {
    std::ostringstream out;
    out.precision(17);
    out << +buffer(zero, 1);
    return out.str();
  };
  const std::string_view format = type.format;
  if (type.dictionary != nullptr) {
    const std::int64_t place = format == "c" ? buffer(std::int8_t(), 1) : buffer(std::int16_t(), 1);
    return arrow_cell(*type.dictionary, *array.dictionary, place);
  }
  if (format == "b") return bit(1) ? "1" : "0";
  if (format == "c") return number(std::int8_t());
  if (format == "s") return number(std::int16_t());
  if (format == "i") return number(std::int32_t());
  if (format == "l") return number(std::int64_t());
  if (format == "tdD") return number(std::int32_t());
  if (format.starts_with("ts") || format.starts_with("tD")) return number(std::int64_t());
  if (format.starts_with("d:")) {
    std::int64_t parts[2];
    std::memcpy(parts, static_cast<const char*>(array.buffers[1]) + 16 * i, sizeof parts);
    if (parts[1] != (parts[0] < 0 ? -1 : 0)) throw Exception("a decimal beyond int64");
    return std::to_string(parts[0]);
  }
  if (format == "w:16") return {static_cast<const char*>(array.buffers[1]) + 16 * i, 16};
  if (format == "u") {
    const auto* const offsets = static_cast<const std::int32_t*>(array.buffers[1]);
    return {static_cast<const char*>(array.buffers[2]) + offsets[i],
            static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  if (format == "f") return number(float());
  if (format == "g") return number(double());
  if (format == "U" || format == "Z") {
    const auto* const offsets = static_cast<const std::int64_t*>(array.buffers[1]);
    return {static_cast<const char*>(array.buffers[2]) + offsets[i],
            static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  if (format == "vu") {
    const char* const view = static_cast<const char*>(array.buffers[1]) + 16 * i;
    std::int32_t words[4];
    std::memcpy(words, view, sizeof words);
    const auto size = static_cast<std::size_t>(words[0]);
    if (size <= 12) {
      for (std::size_t j = size; j < 12; ++j)
        if (view[4 + j] != 0) throw Exception("no zeros behind a short text");
      return {view + 4, size};
    }
    const std::int64_t last = array.n_buffers - 1;
    const auto* const sizes = static_cast<const std::int64_t*>(array.buffers[last]);
    if (words[2] >= last - 2 || words[3] + words[0] > sizes[words[2]])
      throw Exception("a view that does not fit");
    const char* const text = static_cast<const char*>(array.buffers[2 + words[2]]) + words[3];
    if (std::memcmp(text, view + 4, 4) != 0) throw Exception("not the prefix");
    return {text, size};
  }
  if (format == "+s") {
    std::string result = "{";
    for (std::int64_t child = 0; child < type.n_children; ++child) {
      if (child > 0) result += ", ";
      result += arrow_cell(*type.children[child], *array.children[child], i);
    }
    return result + "}";
  }
  throw Exception("format " + std::string(format));
}

// The items of a stream that was read to its end.
class Arrow_Items {
 public:
  // Reads and releases the stream. If it fails, throws Exception with its error text.
  explicit Arrow_Items(ArrowArrayStream& stream) : schema_(new ArrowSchema{}) {
    const auto require = [&](int code) {
      if (code == 0) return;
      const char* const text = stream.get_last_error(&stream);
      const std::string what = text == nullptr ? std::to_string(code) : text;
      stream.release(&stream);
      throw Exception(what);
    };
    require(stream.get_schema(&stream, schema_.get()));
    while (true) {
      Arrow_Array_Pointer item(new ArrowArray{});
      require(stream.get_next(&stream, item.get()));
      if (item->release == nullptr) break;
      items_.push_back(std::move(item));
    }
    stream.release(&stream);
  }

  const ArrowSchema& schema() const { return *schema_; }
  const std::vector<Arrow_Array_Pointer>& items() const { return items_; }

  // Returns the rows as texts.
  std::vector<std::string> rows() const {
    std::vector<std::string> result;
    for (const auto& item : items_)
      for (std::int64_t row = 0; row < item->length; ++row)
        result.push_back(arrow_cell(*schema_, *item, row));
    return result;
  }

 private:
  Arrow_Schema_Pointer schema_;
  std::vector<Arrow_Array_Pointer> items_;
};

// Returns the same text as arrow_cell().
inline std::string table_cell(const Table& table, Field_Id field, index_t id) {
  const Column_Base& column = *table.fields()[field.value() - std::size_t{1}].column;
  const Logical_Type& logical = column.logical();
  using Kind = Logical_Type::Kind;
  return visit_type(column.type().code, [&]<class T>(std::type_identity<T>) -> std::string {
    const T value = table.column<T>(field).get(id);
    if (is_missing(logical, value)) return "null";
    if constexpr (std::is_same_v<T, std::string_view>)
      if (logical.kind == Kind::uuid && value.size() != 16) return "null";
    if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::int16_t>) {
      const auto place = static_cast<std::size_t>(value);
      if (logical.kind == Kind::boolean) return value > 0 ? "1" : "0";
      if (logical.kind == Kind::enumeration)
        return place < logical.names.size() ? logical.names[place] : "null";
    }
    if constexpr (std::is_same_v<T, std::string_view>) {
      return std::string(value);
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      return value.is_null() ? "null" : std::to_string(value.value());
    } else if constexpr (std::is_same_v<T, Blob>) {
      if (value.is_null()) return "null";
      return "{" + std::to_string(value.get_position()) + ", " + std::to_string(value.get_size()) +
             "}";
    } else {
      std::ostringstream out;
      out.precision(17);
      out << +value;
      return out.str();
    }
  });
}

// Returns the rows of a table in the order of their ids.
inline std::vector<std::string> rows_of(const Table& table, bool with_ids = false) {
  std::vector<std::string> result;
  for (index_t id = 0; id < table.records().size(); ++id) {
    if (!table.records().is_used(id)) continue;
    std::string row = with_ids ? ", " + std::to_string(id) : "";
    for (std::size_t i = 0; i < table.fields().size(); ++i)
      if (table.fields()[i].column)
        row += ", " + table_cell(table, Field_Id(static_cast<std::uint16_t>(i + 1)), id);
    result.push_back("{" + (row.empty() ? row : row.substr(2)) + "}");
  }
  return result;
}

}  // namespace joedb::testing

#endif
