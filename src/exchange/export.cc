#include "exchange/export.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "exchange/row_source.h"
#include "exchange/value_formats.h"
#include "kernel/base/time.h"
#include "text/dump.h"
#include "text/text_buffer.h"

namespace joedb {

namespace {

// ---- columns ------------------------------------------------------------------------------------

class Column_Printer {
 public:
  virtual ~Column_Printer() = default;
  virtual void print(std::string& out, index_t record) const = 0;
};

template <class Format>
class Id_Printer final : public Column_Printer {
 public:
  void print(std::string& out, index_t record) const override {
    append_value(out, std::int64_t{record});
  }
};

template <class Format, class T>
class Value_Printer final : public Column_Printer {
 public:
  Value_Printer(const Format& format, const Column<T>& column, const Abstract_File& file)
      : format_(format), column_(column), file_(file) {}
  void print(std::string& out, index_t record) const override {
    const T value = column_.get(record);
    if constexpr (std::is_same_v<T, Record_Id> || std::is_same_v<T, Blob>) {
      if (value.is_null()) return format_.null(out);
    }
    if constexpr (std::is_same_v<T, Blob>)
      format_.bytes(out, file_.read_blob(value));
    else
      format_.value(out, value);
  }

 private:
  const Format& format_;
  const Column<T>& column_;
  const Abstract_File& file_;
};

void append_json(std::string& out, const Csv_Values& format, std::string_view text) {
  format.value(out, text);
}

// Nests the JSON, in one line. A text that is no JSON, or would be read as something else, becomes
// {"base64": "…"}.
void append_json(std::string& out, const Json_Values& format, std::string_view text) {
  constexpr std::string_view null = "null", key = "\"base64\"", mark = "\xef\xbb\xbf";
  const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::size_t colon = text.find(':');
  // A reader of the line reads "\u0062ase64" as that key, too. The parser accepts texts with a byte
  // order mark or a NUL.
  const bool has_such_key =
      text.find(key) < colon || (text.substr(start, 1) == "{" && text.find('\\') < colon);
  if (text.substr(start, null.size()) == null || has_such_key || text.starts_with(mark) ||
      text.find('\0') != text.npos || !nlohmann::json::accept(text))
    return format.bytes(out, text);
  const std::size_t size = out.size();
  out += text;
  // In JSON, ends of lines can only be between the values.
  for (std::size_t i = size; i < out.size(); ++i)
    if (out[i] == '\n' || out[i] == '\r') out[i] = ' ';
}

// Prints the values of a logical type: as their texts; decimals and booleans as such; a value that
// has no text as append_stored().
template <class Format, class T>
class Logical_Printer final : public Column_Printer {
  using Kind = Logical_Type::Kind;

 public:
  Logical_Printer(const Format& format, const Column<T>& column)
      : format_(format), column_(column), logical_(column.logical()) {}
  void print(std::string& out, index_t record) const override {
    const T value = column_.get(record);
    if (is_missing<T>(logical_, value)) return format_.null(out);
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (logical_.kind == Kind::bytes) return format_.bytes(out, value);
      if (logical_.kind == Kind::plain) return format_.optional_text(out, value);
      if (logical_.kind == Kind::json) {
        if (value.empty() && !logical_.is_optional) return format_.null(out);
        return append_json(out, format_, value);
      }
    }
    std::string text;
    if (!append_logical<T>(text, logical_, value)) {
      if constexpr (std::is_same_v<T, std::string_view>)
        if (value.empty() && !logical_.is_optional) return format_.value(out, value);
      if (logical_.kind == Kind::plain) return format_.value(out, value);
      append_stored(text, value);
      return format_.value(out, std::string_view(text));
    }
    if (logical_.kind == Kind::decimal || logical_.kind == Kind::boolean)
      format_.word(out, text);
    else
      format_.value(out, std::string_view(text));
  }

 private:
  const Format& format_;
  const Column<T>& column_;
  const Logical_Type& logical_;
};

template <class Format>
class Time_Printer final : public Column_Printer {
 public:
  Time_Printer(const Format& format, const Column<std::int64_t>& column)
      : format_(format), column_(column) {}
  void print(std::string& out, index_t record) const override {
    const std::int64_t time = column_.get(record);
    if (is_missing(column_.logical(), time)) return format_.null(out);
    format_.value(out, std::string_view(iso_time_text(time)));
  }

 private:
  const Format& format_;
  const Column<std::int64_t>& column_;
};

// Prints a reference as the value of a field of the referenced record.
template <class Format>
class Lookup_Printer final : public Column_Printer {
 public:
  Lookup_Printer(const Format& format, const Column<Record_Id>& column, const Table& referenced,
                 std::unique_ptr<Column_Printer> value)
      : format_(format), column_(column), referenced_(referenced), value_(std::move(value)) {}
  void print(std::string& out, index_t record) const override {
    const Record_Id target = column_.get(record);
    if (target.is_null()) return format_.null(out);
    if (!referenced_.is_used(target))
      throw Data_Error("record " + std::to_string(record) + " refers to record " +
                       std::to_string(target.value()) + " of table " + referenced_.name() +
                       ", which does not exist");
    value_->print(out, target.value());
  }

 private:
  const Format& format_;
  const Column<Record_Id>& column_;
  const Table& referenced_;
  const std::unique_ptr<Column_Printer> value_;
};

// ---- tables -------------------------------------------------------------------------------------

// Returns the fields to write.
std::vector<const Field*> fields_of(const Table& table, const Export_Settings& settings) {
  const auto require = [&](const std::string& name) {
    if (table.find_field(name).is_null())
      throw Data_Error("table " + table.name() + " has no field " + name);
  };
  for (const std::string& name : settings.skipped) require(name);
  for (const std::string& name : settings.times) require(name);
  for (const auto& [name, place] : settings.references) require(name);
  std::vector<const Field*> result;
  for_each_field(table, [&](Field_Id, const Field& field) {
    if (std::ranges::count(settings.skipped, field.name) == 0) result.push_back(&field);
  });
  return result;
}

template <class Format>
class Table_Writer {
 public:
  Table_Writer(const Database& database, const Table& table, const Abstract_File& file,
               const Export_Settings& settings, const Format& format)
      : database_(database), table_(table), file_(file), settings_(settings), format_(format) {
    if (settings.has_ids) add(id_column_name, std::make_unique<Id_Printer<Format>>());
    for (const Field* field : fields_of(table, settings)) add(field->name, printer_of(*field));
  }

  void write(std::ostream& out, const std::function<void()>& after_record) {
    Text_Buffer buffer(out);
    for_each_run(table_, [&](index_t first, index_t size) {
      for (index_t record = first; record < first + size; ++record) {
        format_.begin_record(buffer.text());
        for (const auto& [prefix, printer] : columns_) {
          buffer.text() += prefix;
          printer->print(buffer.text(), record);
        }
        format_.end_record(buffer.text());
        buffer.end_line();
        after_record();
      }
    });
    buffer.flush();  // not in the destructor, which ignores errors
  }

 private:
  void add(std::string_view name, std::unique_ptr<Column_Printer> printer) {
    columns_.emplace_back(format_.prefix(name, columns_.empty()), std::move(printer));
  }

  std::unique_ptr<Column_Printer> value_printer(const Field& field) const {
    return visit_type(field.column->type().code,
                      [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Column_Printer> {
                        const auto& column = static_cast<const Column<T>&>(*field.column);
                        if (!column.logical().has_plain_values())
                          return std::make_unique<Logical_Printer<Format, T>>(format_, column);
                        return std::make_unique<Value_Printer<Format, T>>(format_, column, file_);
                      });
  }

  std::unique_ptr<Column_Printer> printer_of(const Field& field) const {
    for (const auto& [name, place] : settings_.references)
      if (name == field.name) return lookup_printer(field, place);
    const Logical_Type::Kind kind = field.column->logical().kind;
    const bool is_time = kind == Logical_Type::Kind::timestamp || kind == Logical_Type::Kind::date;
    if (is_time || std::ranges::count(settings_.times, field.name) == 0)
      return value_printer(field);
    if (field.column->type().code != Type_Code::int64 || kind != Logical_Type::Kind::plain)
      throw Data_Error("field " + field.name + " of table " + table_.name() +
                       " is not int64, so it cannot be a time");
    return std::make_unique<Time_Printer<Format>>(
        format_, static_cast<const Column<std::int64_t>&>(*field.column));
  }

  // `place` has the form TABLE.FIELD.
  std::unique_ptr<Column_Printer> lookup_printer(const Field& field,
                                                 const std::string& place) const {
    const Table* const referenced = database_.find_table(field.column->type().referenced);
    if (field.column->type().code != Type_Code::reference || referenced == nullptr)
      throw Data_Error("field " + field.name + " of table " + table_.name() +
                       " is not a reference");
    const std::string prefix = referenced->name() + ".";
    const Field* const target =
        place.starts_with(prefix)
            ? referenced->find_field(referenced->find_field(place.substr(prefix.size())))
            : nullptr;
    if (target == nullptr)
      throw Data_Error("--reference " + field.name + "=" + place + ": " + place +
                       " is not a field of table " + referenced->name() + ", which is referenced");
    return std::make_unique<Lookup_Printer<Format>>(
        format_, static_cast<const Column<Record_Id>&>(*field.column), *referenced,
        value_printer(*target));
  }

  const Database& database_;
  const Table& table_;
  const Abstract_File& file_;
  const Export_Settings& settings_;
  const Format& format_;
  std::vector<std::pair<std::string, std::unique_ptr<Column_Printer>>> columns_;
};

}  // namespace

void write_csv(const Database& database, const Table& table, const Abstract_File& file,
               const Export_Settings& settings, std::ostream& out,
               const std::function<void()>& after_record) {
  const auto fields = fields_of(table, settings);
  const bool has_one_column = fields.size() + (settings.has_ids ? 1 : 0) == 1;
  const Csv_Values format(settings.separator,
                          {.quotes_null = has_one_column, .quotes_empty = has_one_column});
  Table_Writer writer(database, table, file, settings, format);
  if (settings.has_header) {
    std::string header = settings.has_ids ? std::string(id_column_name) : "";
    for (const Field* field : fields)
      header += (header.empty() ? "" : std::string(1, settings.separator)) + field->name;
    out << header << '\n';
  }
  writer.write(out, after_record);
}

// {"__types": {"name": "string", "boss": null}}. A reference has no type, because it is written as
// an id or as a value of another table.
static std::string types_line(const Table& table, const Export_Settings& settings) {
  std::string line = "{\"" + std::string(types_key) + "\": {";
  auto add = [&, is_first = true](std::string_view name, const std::string& type) mutable {
    line += Json_Values::prefix(name, std::exchange(is_first, false));
    line += type.empty() ? "null" : '"' + type + '"';
  };
  if (settings.has_ids) add(id_column_name, "int64");
  for (const Field* field : fields_of(table, settings)) {
    const Type_Code type = field->column->type().code;
    add(field->name,
        type == Type_Code::reference ? "" : declared_type_text(type, field->column->logical()));
  }
  return line + "}}\n";
}

void write_jsonl(const Database& database, const Table& table, const Abstract_File& file,
                 const Export_Settings& settings, std::ostream& out,
                 const std::function<void()>& after_record) {
  const Json_Values format;
  if (settings.has_types) out << types_line(table, settings);
  Table_Writer(database, table, file, settings, format).write(out, after_record);
}

}  // namespace joedb
