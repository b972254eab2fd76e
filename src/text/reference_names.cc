#include "text/reference_names.h"

#include "kernel/schema/value_text.h"
#include "text/display_width.h"

namespace joedb::inline v1 {

static const Field* find_naming_field(const Table& table) {
  const auto is_text = [](const Field* field) {
    return field != nullptr && field->column && field->column->type().code == Type_Code::string;
  };
  for (const auto& index : table.indexes()) {
    const Index_Definition& definition = index->definition();
    if (!definition.is_unique || definition.fields.size() != 1) continue;
    const Field* const field = table.find_field(definition.fields.front());
    if (is_text(field)) return field;
  }
  for (const Field& field : table.fields())
    if (is_text(&field)) return &field;
  return nullptr;
}

const Field* Reference_Names::naming_field(const Table& table) {
  const auto [entry, is_new] = fields_.try_emplace(table.id(), nullptr);
  if (is_new) entry->second = find_naming_field(table);
  return entry->second;
}

std::string Reference_Names::name(Table_Id table_id, Record_Id record) {
  constexpr std::size_t longest = 25;
  constexpr std::size_t max_bytes = 200;
  const Table* const table = database_.find_table(table_id);
  if (table == nullptr || !table->is_used(record)) return "";
  const Field* const field = naming_field(*table);
  if (field == nullptr) return "";
  const std::string_view value =
      static_cast<const Column<std::string_view>&>(*field->column).get(record.value());
  std::string quoted;
  append_quoted(quoted, value.substr(0, max_bytes));
  const std::string_view text = std::string_view(quoted).substr(1, quoted.size() - 2);
  std::size_t kept = 0;
  for (std::size_t width = 0; kept < text.size();) {
    const Character next = first_character(text.substr(kept));
    width += static_cast<std::size_t>(next.width);
    if (width > longest) return std::string(text.substr(0, kept)) + "…";
    kept += next.size;
  }
  return std::string(text);
}

void Reference_Names::append(std::string& out, Table_Id table, Record_Id record) {
  append_value(out, record);
  const std::string text = name(table, record);
  if (!text.empty()) out.append(" (").append(text).append(")");
}

}  // namespace joedb::inline v1
