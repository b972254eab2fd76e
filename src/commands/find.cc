#include <algorithm>
#include <string_view>
#include <vector>

#include "commands/commands.h"
#include "kernel/base/suggestion.h"
#include "text/dump.h"
#include "text/table_printer.h"

namespace joedb::inline v1 {

bool is_find_operator(std::string_view word) {
  return std::find(std::begin(find_operators), std::end(find_operators), word) !=
         std::end(find_operators);
}

namespace {

// ---- by an index --------------------------------------------------------------------------------

constexpr std::string_view range_word = "..";

// Reads values for the first fields of an index, up to the end of the line, or to `..`.
std::vector<Key_Part> read_key(Line_Reader& in, const Table& table,
                               const std::vector<Field_Id>& fields) {
  std::vector<Key_Part> key;
  for (const Field_Id field : fields) {
    if (!in.has_more() || (!in.is_classic() && in.peek_word() == range_word)) break;
    const Column_Base& column = *table.find_field(field)->column;
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      const T value = read_field_value<T>(in, column.logical());
      // Reading::classic accepts an unquoted text at the end of the line, but also sets
      // has_failed().
      bool is_there = !in.has_failed();
      if constexpr (std::is_same_v<T, std::string_view>) is_there = is_there || !value.empty();
      if (is_there) key.push_back(key_part(value));
    });
  }
  return key;
}

// Returns the records between two positions of an index, in the order of the index.
std::vector<index_t> records_between(Index::Cursor i, const Index::Cursor& end,
                                     const Display& display) {
  constexpr std::size_t interval = 4096;
  std::vector<index_t> records;
  for (; i != end; i.next()) {
    if (records.size() % interval == 0) display.check();
    records.push_back(i.record().value());
  }
  return records;
}

// Also suggests tables, because the user may have meant a table.
[[noreturn]] void throw_no_such_index(const Line_Reader& in, const Database& database,
                                      const std::string& name) {
  if (database.indexes().empty()) throw no_such_table(in, database, name);
  std::vector<std::string> names;
  if (!in.is_classic()) {
    for (const Index* index : database.indexes()) names.push_back(index->definition().name);
    for (const Table* table : live_tables(database)) names.push_back(table->name());
  }
  throw in.error("No such index: " + name + did_you_mean(name, names));
}

// ---- by conditions ------------------------------------------------------------------------------

int compare(const Key_Part& a, const Key_Part& b) {
  if (a.number != b.number) return a.number < b.number ? -1 : 1;
  return a.text.compare(b.text);
}

// True if each key that begins with `a` is before each key that begins with `b`.
bool is_before(Key a, Key b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (const int order = compare(a[i], b[i])) return order < 0;
  return false;
}

struct Find_Condition {
  Field_Id field;
  const Column_Base* column;
  Key_Part (*read)(const Column_Base& column, index_t id);
  bool (*is_missing)(const Column_Base& column, index_t id);
  std::string_view op;
  Key_Part value;
  bool is_for_null = false;

  bool holds(index_t id) const {
    // A record without a value only meets `= null`, and != with a value.
    if (const bool is_null = is_missing(*column, id); is_null || is_for_null)
      return (op == "=" && is_null && is_for_null) || (op == "!=" && is_null != is_for_null);
    const Key_Part part = read(*column, id);
    if (op == "begins") return part.text.starts_with(value.text);
    if (op == "contains") return part.text.find(value.text) != part.text.npos;
    const int order = compare(part, value);
    return op == "="    ? order == 0
           : op == "!=" ? order != 0
           : op == "<"  ? order < 0
           : op == "<=" ? order <= 0
           : op == ">"  ? order > 0
                        : order >= 0;
  }
};

// Reads FIELD [OP] VALUE. An operator in quotes is read as a value.
Find_Condition read_condition(Line_Reader& in, const Table& table) {
  Find_Condition c{};
  c.field = read_field(in, table);
  c.column = table.find_field(c.field)->column.get();
  c.op = "=";
  if (is_find_operator(in.peek_word())) c.op = in.read_word("operator");
  const Type_Code type = c.column->type().code;
  if ((c.op == "begins" || c.op == "contains") && type != Type_Code::string)
    throw in.error(std::string(c.op) + " is for strings, and this field is " +
                   std::string(type_name(type)));
  visit_type(type, [&]<class T>(std::type_identity<T>) {
    const T value = read_field_value<T>(in, c.column->logical());
    c.value = key_part(value);
    c.is_for_null = is_missing<T>(c.column->logical(), value);
    c.is_missing = [](const Column_Base& column, index_t id) {
      return is_missing<T>(column.logical(), T(static_cast<const Column<T>&>(column).get(id)));
    };
    c.read = [](const Column_Base& column, index_t id) {
      return key_part<T>(static_cast<const Column<T>&>(column).get(id));
    };
  });
  return c;
}

// Returns an index that begins with the field, and contains all records. An index may lack records,
// because a record without values is in no index.
const Index* index_for(const Find_Condition& c, const Table& table) {
  if (c.op == "!=" || c.op == "contains") return nullptr;
  for (const auto& index : table.indexes())
    if (index->is_complete() && index->definition().fields.front() == c.field &&
        index->size() == static_cast<std::size_t>(table.records().used_count()))
      return index.get();
  return nullptr;
}

// Returns the records that may meet the condition, sorted by id.
std::vector<index_t> candidates(const Index& index, const Find_Condition& c,
                                const Display& display) {
  const Key key(&c.value, 1);
  const bool is_from_begin = c.op.starts_with('<');
  Index::Cursor begin = is_from_begin ? index.begin()
                        : c.op == ">" ? index.upper_bound(key)
                                      : index.lower_bound(key);
  std::vector<index_t> records;
  if (c.op == "begins") {
    for (; begin != index.end() && c.holds(begin.record().value()); begin.next())
      records.push_back(begin.record().value());
  } else {
    const Index::Cursor end = c.op == "<"                   ? index.lower_bound(key)
                              : c.op == "<=" || c.op == "=" ? index.upper_bound(key)
                                                            : index.end();
    records = records_between(begin, end, display);
  }
  std::sort(records.begin(), records.end());
  return records;
}

std::vector<index_t> matching_records(const Table& table,
                                      const std::vector<Find_Condition>& conditions,
                                      const Display& display) {
  const auto holds = [&](index_t id) {
    return std::all_of(conditions.begin(), conditions.end(),
                       [id](const Find_Condition& c) { return c.holds(id); });
  };
  for (const Find_Condition& c : conditions) {
    const Index* const index = index_for(c, table);
    if (index == nullptr) continue;
    std::vector<index_t> records = candidates(*index, c, display);
    std::erase_if(records, [&](index_t id) { return !holds(id); });
    return records;
  }
  constexpr index_t interval = 4096;
  std::vector<index_t> records;
  table.expect_scan();
  for (index_t id = 0; id < table.records().size(); ++id) {
    if (id % interval == 0) display.check();
    if (table.records().is_used(id) && holds(id)) records.push_back(id);
  }
  return records;
}

void print(std::ostream& out, const Table& table, std::vector<index_t> records,
           const Database& database, const Display& display) {
  Row_Style style(display, database);
  style.limit = display.limit;
  Table_Printer printer(table, std::move(records), style);
  printer.print(out);
  if (printer.rest().count > 0)
    out << "… " << printer.rest().count << " more: set limit 0 shows all\n";
}

}  // namespace

void find_records(Line_Reader& in, std::ostream& out, const Database& database,
                  const Display& display) {
  const std::string name(in.read_word("table or index name"));
  if (const Index* const index = database.find_index(name)) {
    const Table& table = database.table(index->definition().table);
    const auto& fields = index->definition().fields;
    const auto from = read_key(in, table, fields);
    const bool is_range = in.has_more() && !in.is_classic() && in.peek_word() == range_word;
    if (is_range) in.read_word(range_word);
    const auto to = is_range ? read_key(in, table, fields) : from;
    in.require_end();
    // Both ends are included; without values, an end is open. The first end may be behind the last.
    auto records = is_before(to, from)
                       ? std::vector<index_t>()
                       : records_between(index->lower_bound(from), index->upper_bound(to), display);
    return print(out, table, std::move(records), database, display);
  }
  const Table* const table = database.find_table(name);
  if (table == nullptr || in.is_classic()) throw_no_such_index(in, database, name);
  std::vector<Find_Condition> conditions;
  do conditions.push_back(read_condition(in, *table));
  while (in.has_more());
  print(out, *table, matching_records(*table, conditions, display), database, display);
}

}  // namespace joedb::inline v1
