#include "kernel/table/schema_text.h"

#include <algorithm>

#include "joedb/format/codec.h"
#include "joedb/schema/type.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

namespace {

// Writes an entry as a joedbi command, with names. `database` must have the schema before the
// entry.
class Line_Writer {
 public:
  explicit Line_Writer(const Database& database) : database_(database) {}

  std::string operator()(const Create_Table& e) const { return line("create_table", e.name); }
  std::string operator()(const Drop_Table& e) const { return line("drop_table", table(e.table)); }
  std::string operator()(const Rename_Table& e) const {
    return line("rename_table", table(e.table), e.name);
  }
  std::string operator()(const Add_Field& e) const {
    const std::string text = line("add_field", table(e.table), e.name, type_name(e.type.code));
    return e.type.code == Type_Code::reference ? line(text, table(e.type.referenced)) : text;
  }
  std::string operator()(const Drop_Field& e) const {
    return line("drop_field", table(e.table), field(e.table, e.field));
  }
  std::string operator()(const Rename_Field& e) const {
    return line("rename_field", table(e.table), field(e.table, e.field), e.name);
  }
  std::string operator()(const Custom& e) const { return line("custom", e.name); }

 private:
  template <class... Words>
  static std::string line(std::string_view first, const Words&... words) {
    std::string text(first);
    (text.append(" ").append(words), ...);
    return text;
  }
  std::string table(Table_Id id) const {
    const Table* const found = database_.find_table(id);
    return found == nullptr ? "?" : found->name();
  }
  std::string field(Table_Id id, Field_Id field) const {
    const Field* const found = database_.table(id).find_field(field);
    return found == nullptr ? "?" : found->name;
  }

  const Database& database_;
};

std::string quoted(const std::vector<std::string>& lines, std::size_t i) {
  return i < lines.size() ? '"' + lines[i] + '"' : "missing";
}

}  // namespace

std::vector<std::string> schema_lines(std::string_view entries) {
  std::vector<std::string> lines;
  Database database;
  decode_entries(entries, [&]<class Entry>(const Entry& entry) {
    if constexpr (is_schema_entry<Entry>) {
      lines.push_back(Line_Writer(database)(entry));
      database(entry);
    }
  });
  return lines;
}

std::string schema_difference(std::string_view first_entries, std::string_view first,
                              std::string_view second_entries, std::string_view second) {
  const auto a = schema_lines(first_entries), b = schema_lines(second_entries);
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  std::string text = "change " + std::to_string(i + 1) + " is ";
  text.append(quoted(a, i)).append(" ").append(first).append(", ");
  return text.append(quoted(b, i)).append(" ").append(second);
}

}  // namespace joedb::inline v1
