#include "text/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

#include "kernel/base/json_text.h"
#include "kernel/schema/logical_type.h"
#include "text/dump.h"
#include "text/text_buffer.h"

namespace joedb::inline v1 {

namespace {

class Json_Writer {
 public:
  Json_Writer(const Database& database, std::ostream& out, bool base64,
              const std::function<void(std::int64_t)>& on_progress)
      : database_(database), out_(out), base64_(base64), on_progress_(on_progress) {}

  void write() {
    out_.add("{\n");
    bool is_first = true;
    for (const Table* table : live_tables(database_)) {
      if (!is_first) out_.add(",\n");
      is_first = false;
      write_table(*table);
    }
    out_.add("\n}\n");
    out_.flush();
    if (has_special_float_)
      std::cerr << "warning: inf or nan value encoded as 0. JSON does not support inf and nan.\n";
    if (has_bad_text_)
      std::cerr << "warning: a string is not utf8, and was cut. Use --base64 to get all bytes.\n";
  }

 private:
  void write_table(const Table& table) {
    out_.add(" \"", table.name(), "\":\n {\n  \"__size\": ", table.records().used_count());
    for_each_field(table, [&](Field_Id, const Field& field) {
      out_.add(",\n  \"", field.name, "\": [");
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        write_column(table, static_cast<const Column<T>&>(*field.column));
      });
      out_.add(']');
    });
    out_.add("\n }");
  }

  template <class T>
  void write_column(const Table& table, const Column<T>& column) {
    if constexpr (std::is_same_v<T, Record_Id>) targets_ = find_targets(column.type().referenced);
    bool is_first = true;
    for_each_run(table, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) {
        const std::string_view separator = is_first ? "" : ", ";
        if (column.logical().has_plain_values() ||
            !write_logical<T>(separator, column.logical(), column.get(id)))
          write_element(separator, column.get(id));
        is_first = false;
        out_.write_full_block();
        constexpr std::int64_t step = 1 << 14;
        if (++values_ % step == 0 && on_progress_) on_progress_(values_);
      }
    });
  }

  template <class T>
  void write_element(std::string_view separator, T value) {
    out_.add(separator);
    write_value(value);
  }
  // Appends the separator and the number in one piece. Integers are short enough.
  template <std::integral T>
  requires(!std::is_same_v<T, bool>) void write_element(std::string_view separator, T value) {
    char text[24];
    char* const digits = std::copy(separator.begin(), separator.end(), text);
    out_.add(std::string_view(text, std::to_chars(digits, std::end(text), value).ptr));
  }
  void write_element(std::string_view separator, String value) {
    out_.add(separator.empty() ? std::string_view("\"") : std::string_view(", \""));
    write_text(value);
    out_.add('"');
  }

  // Decimals are numbers, other values with a text of their own are strings. Returns false for a
  // value without such a text.
  template <class T>
  bool write_logical(std::string_view separator, const Logical_Type& logical, T value) {
    using Kind = Logical_Type::Kind;
    if (is_missing<T>(logical, value)) return out_.add(separator, "null"), true;
    std::string text;
    if (!append_logical<T>(text, logical, value)) return false;
    const bool is_word = logical.kind == Kind::decimal || logical.kind == Kind::boolean;
    const std::string_view quote = is_word ? "" : "\"";
    out_.add(separator, quote, text, quote);
    return true;
  }

  template <class T>
  void write_value(T value) {
    append_value(out_.text(), value);
  }

  void write_value(float value) { write_float(value); }
  void write_value(double value) { write_float(value); }
  void write_float(auto value) {
    const bool is_special = !std::isfinite(value);
    has_special_float_ |= is_special;
    append_value(out_.text(), is_special ? 0 : value);
  }

  void write_text(String value) {
    if (base64_) {
      append_base64(out_.text(), value);
    } else if (!append_json_text(out_.text(), value)) {
      has_bad_text_ = true;
      out_.add("!!! This string is not utf8 !!!");
    }
  }

  void write_value(Blob value) {
    out_.add('[');
    append_value(out_.text(), value);
    out_.add(']');
  }

  // The records to which a column of references can refer.
  struct Targets {
    const Record_Ids* records = nullptr;  // null if the table was dropped
    // The index in the arrays for each record id. Null if the indexes are equal to the ids.
    const std::vector<index_t>* indexes = nullptr;
  };

  void write_value(Record_Id value) {
    const index_t id = value.value();
    if (targets_.records == nullptr)
      out_.add(id);
    else if (!targets_.records->is_used(id))
      out_.add(-1);
    else
      out_.add(targets_.indexes ? (*targets_.indexes)[static_cast<std::size_t>(id)] : id);
  }

  Targets find_targets(Table_Id referenced) {
    const Table* const table = database_.find_table(referenced);
    if (table == nullptr) return {};
    const Record_Ids& records = table->records();
    if (records.is_dense()) return {&records, nullptr};
    const auto [entry, is_new] = indexes_.try_emplace(referenced);
    std::vector<index_t>& indexes = entry->second;
    if (is_new) {
      indexes.resize(static_cast<std::size_t>(records.size()), -1);
      index_t next = 0;
      for_each_run(records, [&](index_t first, index_t size) {
        for (index_t id = first; id < first + size; ++id)
          indexes[static_cast<std::size_t>(id)] = next++;
      });
    }
    return {&records, &indexes};
  }

  const Database& database_;
  Text_Buffer out_;
  const bool base64_;
  const std::function<void(std::int64_t)>& on_progress_;
  std::int64_t values_ = 0;
  Targets targets_;
  std::map<Table_Id, std::vector<index_t>> indexes_;  // for tables with unused ids
  bool has_special_float_ = false;
  bool has_bad_text_ = false;
};

}  // namespace

void write_json(const Database& database, std::ostream& out, bool base64,
                const std::function<void(std::int64_t)>& on_progress) {
  Json_Writer(database, out, base64, on_progress).write();
}

std::int64_t count_values(const Database& database) {
  std::int64_t values = 0;
  for (const Table* table : live_tables(database))
    for_each_field(*table,
                   [&](Field_Id, const Field&) { values += table->records().used_count(); });
  return values;
}

}  // namespace joedb::inline v1
