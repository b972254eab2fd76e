#include "kernel/table/declaration.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernel/base/counted.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {

static constexpr std::string_view type_word = "type ";

static bool are_ignored = false;

void ignore_declarations() { are_ignored = true; }
bool are_declarations_ignored() { return are_ignored; }

// "references", or "references on_delete RULE".
static std::optional<Declared_Type> parse_reference(std::string_view text) {
  const auto parts = split_rule(text);
  if (!parts || parts->type != type_name(Type_Code::reference)) return {};
  return Declared_Type{Type_Code::reference, {.on_delete = parts->rule}};
}

std::optional<Declared_Type> parse_type_words(std::string_view words) {
  return words.starts_with(type_name(Type_Code::reference)) ? parse_reference(words)
                                                            : parse_declared_type(words);
}

std::optional<Type_Declaration> parse_declaration(std::string_view comment) {
  if (are_ignored || !comment.starts_with(declaration_mark)) return {};
  std::string_view text = comment.substr(declaration_mark.size());
  if (!text.starts_with(type_word)) return {};
  text.remove_prefix(type_word.size());
  const std::size_t point = text.find('.');
  const std::size_t blank = text.find(' ');
  if (point == text.npos || blank == text.npos || point > blank) return {};
  auto type = parse_type_words(text.substr(blank + 1));
  if (!type) return {};
  return Type_Declaration{text.substr(0, point), text.substr(point + 1, blank - point - 1),
                          *std::move(type)};
}

// ---- indexes ------------------------------------------------------------------------------------

static constexpr std::string_view index_words[] = {"create_index ", "create_unique_index ",
                                                   "drop_index "};

std::optional<Index_Declaration> parse_index_declaration(std::string_view comment) {
  if (are_ignored || !comment.starts_with(declaration_mark)) return {};
  std::string_view text = comment.substr(declaration_mark.size());
  const auto word = std::find_if(std::begin(index_words), std::end(index_words),
                                 [&](std::string_view w) { return text.starts_with(w); });
  if (word == std::end(index_words)) return {};
  text.remove_prefix(word->size());
  const auto take = [&](char end) {
    const std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
  };
  const auto kind = word - std::begin(index_words);
  Index_Declaration result{.is_drop = kind == 2, .is_unique = kind == 1};
  if (result.is_drop || text.ends_with(',')) {
    result.name = std::exchange(text, {});
  } else {
    result.name = take(' ');
    result.table = take(' ');
  }
  while (!text.empty()) result.fields.push_back(take(','));
  const bool has_names = is_identifier(result.name) &&
                         std::all_of(result.fields.begin(), result.fields.end(), is_identifier);
  return has_names && result.is_drop == result.fields.empty() ? std::optional(std::move(result))
                                                              : std::nullopt;
}

std::optional<Index_Definition> definition_of(const Index_Declaration& declaration,
                                              const Database& database) {
  const Table* const table = database.find_table(declaration.table);
  if (table == nullptr) return {};
  Index_Definition result{std::string(declaration.name), table->id(), {}, declaration.is_unique};
  for (const std::string_view field : declaration.fields) {
    result.fields.push_back(table->find_field(field));
    if (result.fields.back().is_null()) return {};
  }
  return result;
}

bool is_declaration(std::string_view comment) {
  return parse_declaration(comment) || parse_index_declaration(comment);
}

std::string index_command(const Index_Definition& index, const Table& table) {
  std::string text(index_words[index.is_unique ? 1 : 0]);
  text.append(index.name).append(" ").append(table.name());
  char separator = ' ';
  for (const Field_Id field : index.fields) {
    text.append(1, std::exchange(separator, ',')).append(table.find_field(field)->name);
  }
  return text;
}

std::string index_declaration(const Index_Definition& index, const Table& table) {
  return std::string(declaration_mark).append(index_command(index, table));
}

std::vector<std::string> index_declarations(const Database& database, const Table& table) {
  std::map<std::string, std::string> texts;
  for (const auto& index : table.indexes())
    if (database.is_declared(*index))
      texts.emplace(index->definition().name, index_declaration(index->definition(), table));
  std::vector<std::string> result;
  for (auto& [name, text] : texts) result.push_back(std::move(text));
  return result;
}

void declare_index(Writable_Database& database, const Index_Definition& definition) {
  const Database& content = std::as_const(database).get_database();
  if (const std::string problem = content.declaration_problem(definition); !problem.empty())
    throw Data_Error("create_index: " + problem);
  const Table& table = content.table(definition.table);
  if (definition.is_unique) {
    Index index(definition, table);
    index.take_all();
    index.insert_waiting();
    if (const auto found = index.find_duplicates(); found.count > 0)
      throw Unique_Violation(index.violation_text(found.second, found.first), definition.name,
                             found.second, found.first);
  }
  const std::string comment = index_declaration(definition, table);
  database.write(Comment{comment});
}

void drop_index(Writable_Database& database, std::string_view name) {
  if (std::as_const(database).get_database().find_declared_index(name) == nullptr)
    throw Data_Error("drop_index: the file declares no index " + std::string(name));
  const std::string comment = std::string(declaration_mark).append(index_words[2]).append(name);
  database.write(Comment{comment});
}

std::vector<std::string> violated_indexes(const Database& database) {
  std::vector<std::string> result;
  for (const Index* const index : database.indexes()) {
    if (!index->definition().is_unique || !database.is_declared(*index)) continue;
    const auto found = index->find_duplicates();
    if (found.count == 0) continue;
    result.push_back(
        "index " + index->definition().name + ": " + counted(found.count, "record") +
        (found.count == 1 ? " has" : " have") +
        " the key of another one; the first: " + index->violation_text(found.second, found.first));
  }
  return result;
}

// ---- types --------------------------------------------------------------------------------------

std::string type_declaration(std::string_view table, std::string_view field, Type_Code stored,
                             const Logical_Type& logical) {
  std::string text(declaration_mark);
  text.append(type_word).append(table).append(".").append(field).append(" ");
  return text.append(declared_type_text(stored, logical));
}

bool is_extension(const std::vector<std::string>& names, const std::vector<std::string>& more) {
  return names.size() <= more.size() && std::equal(names.begin(), names.end(), more.begin());
}

std::string type_text(const Database& database, const Column_Base& column, std::string_view gone) {
  const Type& type = column.type();
  const Table* const table = database.find_table(type.referenced);
  return declared_type_text(type.code, column.logical(), table ? table->name() : gone);
}

namespace {

// Returns why a value of `before` would mean something else as a value of `after`; empty if it
// would not.
template <Field_Value T>
std::string problem_of(const Logical_Type& before, const Logical_Type& after, T value) {
  using Kind = Logical_Type::Kind;
  const bool was_missing = is_missing<T>(before, value);
  if (was_missing != is_missing<T>(after, value) && !std::is_floating_point_v<T>)
    return was_missing ? "has no value, so the field must stay optional"
                       : "has the value that would mean null";
  if (was_missing || after.kind == Kind::plain) return "";
  std::string is, would_be;
  const bool had_text = append_logical<T>(is, before, value);
  const bool has_text = append_logical<T>(would_be, after, value);
  if (before.kind == after.kind) {
    if (is == would_be || value == T()) return "";
    return "has the value " + is + ", which would become " + (has_text ? would_be : "another one");
  }
  if (before.kind != Kind::plain && had_text)
    return "has the value " + is + " of another type: use retype_field";
  const bool needs_text = after.kind != Kind::json && value != T();
  if (!needs_text || has_text) return "";
  append_value(is, value);
  return "has the value " + is + ", which is no " + expected_text(after);
}

}  // namespace

void require_same_meaning(const Table& table, const Field& field, const Logical_Type& before,
                          const Logical_Type& after) {
  const Column_Base& column = *field.column;
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    const Record_Ids& records = table.records();
    for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
      const T value = static_cast<const Column<T>&>(column).get(id);
      if (const std::string problem = problem_of<T>(before, after, value); !problem.empty())
        throw Data_Error(table.name() + "." + field.name + ": record " + std::to_string(id) + " " +
                         problem);
    }
  });
}

// Returns the comment. Throws Data_Error if the stored type does not suit.
static std::string checked_declaration(const Table& table, std::string_view field, Type_Code stored,
                                       const Logical_Type& logical) {
  if (is_stored_as(logical, stored)) return type_declaration(table.name(), field, stored, logical);
  throw Data_Error(table.name() + "." + std::string(field) + " is stored as " +
                   std::string(type_name(stored)) + ", which cannot be " +
                   declared_type_text(stored, logical));
}

void declare_type(Writable_Database& database, Table_Id table_id, Field_Id field_id,
                  const Logical_Type& logical) {
  const Table& table = std::as_const(database).get_database().table(table_id);
  const Field* const field = table.find_field(field_id);
  if (field == nullptr) throw Data_Error("set_type: invalid field_id");
  const Type_Code stored = field->column->type().code;
  const Logical_Type& before = field->column->logical();
  if (logical == before) return;
  const std::string comment = checked_declaration(table, field->name, stored, logical);
  if (logical.kind == Logical_Type::Kind::enumeration && before.kind == logical.kind &&
      !is_extension(before.names, logical.names))
    throw Data_Error(
        table.name() + "." + field->name + ": names can only be added, behind those of " +
        declared_type_text(stored, before) + ", because the history of the file has them");
  require_same_meaning(table, *field, before, logical);
  database.write(Comment{comment});
}

// Without a look at the values, which are the default ones.
void add_field(Writable_Database& database, const Add_Field& entry, const Logical_Type& logical) {
  if (logical.is_plain()) return database.write(entry);
  const Table& table = std::as_const(database).get_database().table(entry.table);
  const std::string comment = checked_declaration(table, entry.name, entry.type.code, logical);
  database.write(entry);
  database.write(Comment{comment});
  const Field_Id field = table.find_field(entry.name);
  for_each_run(table.records(), 0, table.records().size(), [&](index_t first, index_t size) {
    write_missing(database, table, field, Record_Id(first), size);
  });
}

template <Field_Value T>
static std::string invalid_values(const Table& table, const Field& field) {
  const auto& column = static_cast<const Column<T>&>(*field.column);
  const Logical_Type& logical = column.logical();
  index_t count = 0;
  std::string first, text;
  const Record_Ids& records = table.records();
  for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
    const T value = column.get(id);
    text.clear();
    if (is_missing<T>(logical, value) || append_logical<T>(text, logical, value)) continue;
    if (++count > 1) continue;
    first = std::to_string(id) + ", with ";
    append_value<T>(first, logical, value);
  }
  if (count == 0) return "";
  return table.name() + "." + field.name + ": " + counted(count, "record") +
         (count == 1 ? " has" : " have") + " no value of its type; the first is record " + first;
}

std::vector<std::string> invalid_values(const Database& database) {
  using Kind = Logical_Type::Kind;
  std::vector<std::string> result;
  for (const Table* const table : live_tables(database))
    for (const Field& field : table->fields()) {
      if (!field.column) continue;
      const Kind kind = field.column->logical().kind;
      if (kind == Kind::plain || kind == Kind::json) continue;
      std::string text = visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        return invalid_values<T>(*table, field);
      });
      if (!text.empty()) result.push_back(std::move(text));
    }
  return result;
}

template <Field_Value T>
static void write_same(Writable_Database& database, const Table& table, Field_Id field,
                       Record_Id first, index_t size, T value) {
  if (size == 1) return database.write(Update<T>{table.id(), first, field, value});
  constexpr index_t block = index_t{1} << 16;
  const std::vector<T> values(static_cast<std::size_t>(std::min(size, block)), value);
  for (index_t done = 0; done < size; done += block)
    database.write_vector(
        table.id(), first + done, field,
        std::span<const T>(values).first(static_cast<std::size_t>(std::min(size - done, block))));
}

void write_missing(Writable_Database& database, const Table& table, Field_Id field, Record_Id first,
                   index_t size) {
  const Column_Base& column = *table.find_field(field)->column;
  if (!column.logical().is_optional || size <= 0) return;
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, bool>)  // optional booleans are integers
      write_same<T>(database, table, field, first, size, missing_value<T>(column.logical()));
  });
}

}  // namespace joedb::inline v1
