#include "text/blame_text.h"

#include "kernel/schema/value_text.h"
#include "kernel/table/record_runs.h"
#include "text/change_text.h"

namespace joedb::inline v1 {

namespace {

class Blame_Reader {
 public:
  Blame_Reader(Abstract_File& file, const Database& database, Offset end, const Blamed& blamed,
               Recovery recovery, const std::function<void(const Blame_Line&)>& f)
      : blamed_(blamed), f_(f), table_(database.find_table(blamed.table)) {
    if (table_ == nullptr) throw Exception("there is no table " + blamed.table);
    if (blamed.record && !table_->is_used(*blamed.record))
      throw Exception("there is no record " + std::to_string(blamed.record->value()) + " of " +
                      blamed.table);
    if (!blamed.field.empty()) {
      field_ = table_->find_field(blamed.field);
      if (field_.is_null())
        throw Exception("the table " + blamed.table + " has no field " + blamed.field);
    }
    blame_.emplace(file, database, end, table_->id(), blamed.record.value_or(Record_Id()),
                   recovery);
  }

  void read() {
    if (blamed_.record) return read_values(*blamed_.record);
    for_each_run(*table_, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) {
        const Record_Id record(id);
        if (blamed_.has_fields)
          read_values(record);
        else
          f_({.record = record, .writer = blame_->last_writer(record)});
      }
    });
  }

 private:
  void read_values(Record_Id record) {
    for (std::size_t i = 0; i < table_->fields().size(); ++i) {
      const Field& field = table_->fields()[i];
      const Field_Id id(static_cast<std::uint16_t>(i + 1));
      if (!field.column || (!field_.is_null() && id != field_)) continue;
      Values value(field.column->type().code);
      value.append(*field.column, record.value(), 1);
      f_({record, &field, std::move(value), blame_->writer(record, id)});
    }
  }

  const Blamed& blamed_;
  const std::function<void(const Blame_Line&)>& f_;
  const Table* const table_;
  Field_Id field_;
  std::optional<Blame> blame_;
};

void append_text(std::string& out, const Value& value, bool is_complete) {
  constexpr std::size_t max_text_size = 40;
  std::visit(
      [&]<class T>(const T& typed) {
        if constexpr (std::is_same_v<T, std::string_view>) {
          std::size_t size = typed.size();
          if (!is_complete && size > max_text_size) {
            size = max_text_size;  // back to the start of a character
            while (size > max_text_size - 4 &&
                   (static_cast<unsigned char>(typed[size]) & 0xc0u) == 0x80u)
              --size;
          }
          append_shown(out, typed.substr(0, size));
          if (size < typed.size()) out += "…";
        } else {
          append_value(out, typed);
        }
      },
      value);
}

}  // namespace

void for_each_blame_line(Abstract_File& file, const Database& database, Offset end,
                         const Blamed& blamed, Recovery recovery,
                         const std::function<void(const Blame_Line&)>& f) {
  Blame_Reader(file, database, end, blamed, recovery, f).read();
}

std::string blame_text(const Blame_Line& line, bool has_record, bool is_complete) {
  std::string text = has_record ? std::to_string(line.record.value()) : "";
  if (line.field == nullptr) return text;
  text.append(has_record ? " " : "").append(line.field->name) += ' ';
  append_text(text, line.value[0], is_complete);
  return text;
}

}  // namespace joedb::inline v1
