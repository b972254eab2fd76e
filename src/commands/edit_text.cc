#include "commands/edit_text.h"

#include <algorithm>
#include <tuple>

#include "commands/commands.h"
#include "kernel/base/counted.h"
#include "kernel/base/parse_number.h"
#include "kernel/schema/line_reader.h"
#include "kernel/table/declaration.h"
#include "kernel/table/references.h"
#include "kernel/table/same_bits.h"
#include "text/columns.h"
#include "text/dump.h"

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

namespace {

constexpr std::string_view null_word = "null";

// An escape in two forms. Both begin with a backslash.
struct Escape {
  std::string_view name, octal;
};
constexpr Escape escapes[] = {{"\\n", "\\012"}, {"\\t", "\\011"}, {"\\r", "\\015"}};

// Replaces escapes of form `from` by those of form `to`.
std::string with_escapes(std::string_view text, std::string_view Escape::*from,
                         std::string_view Escape::*to) {
  std::string result;
  while (!text.empty()) {
    std::size_t size = text.front() == '\\' ? std::min<std::size_t>(2, text.size()) : 1;
    const Escape* const escape =
        std::find_if(std::begin(escapes), std::end(escapes),
                     [&](const Escape& e) { return text.starts_with(e.*from); });
    if (escape != std::end(escapes)) {
      size = (escape->*from).size();
      result += escape->*to;
    } else {
      result += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return result;
}

template <Field_Value T>
std::string value_text(const Logical_Type& logical, T value) {
  std::string text;
  append_value(text, logical, value);
  if constexpr (std::is_same_v<T, Record_Id>)
    if (value.is_null()) text = null_word;
  if constexpr (std::is_same_v<T, std::string_view>)
    if (text.find('\\') != text.npos) return with_escapes(text, &Escape::octal, &Escape::name);
  return text;
}

std::string value_text(const Column_Base& column, index_t id) {
  return visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    return value_text<T>(column.logical(), static_cast<const Column<T>&>(column).get(id));
  });
}

// Parses a word, and calls f with the value. Throws Data_Error if the word is not a value of this
// type.
template <Field_Value T, class F>
void with_value(std::string_view word, const Logical_Type& logical, F f) {
  if constexpr (std::is_same_v<T, Record_Id>)
    if (word == null_word) return f(Record_Id());
  std::string text(word);
  if constexpr (std::is_same_v<T, std::string_view>)
    if (text.find('\\') != text.npos) text = with_escapes(text, &Escape::name, &Escape::octal);
  Line_Reader in(text);
  const T value = read_field_value<T>(in, logical);
  in.require_end();
  f(value);
}

// Splits a line into words. Characters directly after a closing quote belong to the quoted word.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view spaces = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(spaces);
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    std::size_t end = 0;
    if (line.front() == '"') {
      for (end = 1; end < line.size() && line[end] != '"'; ++end)
        if (line[end] == '\\') ++end;
      end = std::min(end + 1, line.size());
    }
    end = std::min(line.find_first_of(spaces, end), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string type_text(const Database& database, const Column_Base& column) {
  return type_text(database, column, "__unknown_table__");
}

// ---- writing ------------------------------------------------------------------------------------

class Table_Commands {
 public:
  Table_Commands(const Database& database, const Table& table, std::string& out)
      : database_(database), table_(table), out_(out) {}

  void print() {
    out_ += "table " + table_.name() + '\n';
    for_each_field(table_, [&](Field_Id, const Field& field) {
      columns_.push_back(field.column.get());
      names_.push_back(field.name);
      out_ += "field " + field.name + ' ' + type_text(database_, *field.column) + '\n';
    });
    if (table_.records().used_count() == 0) return;
    const std::vector<std::string> title = make_title();
    Text_Columns layout{std::vector<Text_Columns::Column>(title.size())};
    layout.fit(title);
    for_each_record([&](index_t id) { layout.fit(words_of_record(id)); });
    for (Text_Columns::Column& column : layout.columns)
      column.width = std::min(widest, column.width);
    out_ += layout.line(title) + '\n';
    for_each_record([&](index_t id) { out_ += layout.line(words_of_record(id)) + '\n'; });
  }

 private:
  static constexpr std::size_t widest = 40;

  std::vector<std::string> make_title() const {
    std::vector<std::string> title{"# id"};
    title.insert(title.end(), names_.begin(), names_.end());
    return title;
  }
  std::vector<std::string> words_of_record(index_t id) const {
    std::vector<std::string> words{std::to_string(id)};
    for (const Column_Base* const column : columns_) words.push_back(value_text(*column, id));
    return words;
  }
  template <class F>
  void for_each_record(F f) {
    for_each_run(table_, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) f(id);
    });
  }

  const Database& database_;
  const Table& table_;
  std::string& out_;
  std::vector<const Column_Base*> columns_;
  std::vector<std::string> names_;
};

}  // namespace

std::string edit_text(const Database& database, const Table* only) {
  std::string text;
  for (const Table* const table : live_tables(database)) {
    if (only != nullptr && table != only) continue;
    Table_Commands(database, *table, text).print();
    text += '\n';
  }
  return text += "end\n";
}

// ---- reading ------------------------------------------------------------------------------------

Edited_Text::Edited_Text(std::string_view text, const Database& database, const Table* only)
    : database_(database), only_(only) {
  read_lines(text);
  if (!has_end_) {
    problems_ = {{std::max<std::size_t>(line_, 1),
                  "the last line, end, is missing: the text may have been cut off"}};
    return;
  }
  for (Edited_Table& table : tables_) match_table(table);
  require_one_each();
  for (Edited_Table& table : tables_)
    for (Edited_Field& field : table.fields) match_field(table, field);
  if (problems_.empty())
    for (const Edited_Table& table : tables_) check_rows(table);
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
}

void Edited_Text::read_lines(std::string_view text) {
  while (!text.empty()) {
    ++line_;
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Edited_Text::read_line(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty() || words[0].starts_with('#')) return;
  if (has_end_) return problem("nothing can follow end");
  if (words[0] == "end" && words.size() == 1) {
    has_end_ = true;
  } else if (words[0] == "table") {
    read_table(words);
  } else if (words[0] == "field") {
    read_field(words);
  } else {
    read_row(words);
  }
}

void Edited_Text::read_table(const std::vector<std::string_view>& words) {
  const bool has_old = words.size() == 4 && words[2] == "was";
  if (words.size() != 2 && !has_old) return problem("expected: table NAME, or table NAME was OLD");
  Edited_Table& table = tables_.emplace_back();
  table.line = line_;
  table.name = words[1];
  table.old_name = has_old ? words[3] : words[1];
}

void Edited_Text::read_field(const std::vector<std::string_view>& words) {
  if (tables_.empty()) return problem("a table must stand before its fields");
  if (!tables_.back().rows.empty())
    return problem("the fields of a table stand before its records");
  Edited_Field field{};
  field.line = line_;
  std::size_t next = 1;
  const auto take = [&] { return next < words.size() ? words[next++] : std::string_view(); };
  field.name = field.old_name = take();
  field.type = take();
  if (next < words.size() && words[next] == "optional") {
    take();
    field.type += " optional";
  }
  if (field.type == type_name(Type_Code::reference)) {
    field.referenced = take();
    if (next < words.size() && words[next] == on_delete_word) {
      take();
      field.rule = take();
    }
  }
  for (std::string_view word = take(); !word.empty(); word = take()) {
    const bool is_old = word == "was";
    if (!is_old && word != "=") {
      next = words.size() + 1;
      break;
    }
    const std::string_view value = take();
    if (value.empty()) next = words.size() + 1;
    (is_old ? field.old_name : field.initial) = value;
    if (!is_old) field.has_initial = true;
  }
  if (field.type.empty() || next != words.size() ||
      (field.type == type_name(Type_Code::reference) && field.referenced.empty()))
    return problem(
        "expected: field NAME TYPE, field NAME TYPE = VALUE, or field NAME TYPE was OLD");
  tables_.back().fields.push_back(field);
}

void Edited_Text::read_row(const std::vector<std::string_view>& words) {
  Edited_Row row{line_, -1, {words.begin() + 1, words.end()}};
  if (words[0] != "+") {
    row.id = parse_number<index_t>(words[0]).value_or(-1);
    if (row.id < 0)
      return problem("table, field, end, + or the id of a record expected, got `" +
                     std::string(words[0].substr(0, 40)) + '`');
  }
  if (tables_.empty()) return problem("a table must stand before its records");
  tables_.back().rows.push_back(std::move(row));
}

// ---- comparing ----------------------------------------------------------------------------------

const Edited_Text::Edited_Table* Edited_Text::find_table(std::string_view name) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const Edited_Table& t) { return t.name == name; });
  return found == tables_.end() ? nullptr : &*found;
}

void Edited_Text::match_table(Edited_Table& table) {
  line_ = table.line;
  table.old = database_.find_table(table.old_name);
  const bool has_old_name = table.old_name != table.name;
  if (table.old == nullptr && has_old_name)
    problem("there was no table " + std::string(table.old_name));
  if (only_ != nullptr && table.old != only_)
    problem("only the table " + only_->name() + " is edited");
  if (table.old == nullptr && !is_identifier(table.name))
    problem(std::string(table.name) + " is no name for a table");
}

template <class Things, class Problem>
static void require_different(const Things& things, Problem problem) {
  std::set<std::string_view> names, old_names;
  for (const auto& thing : things)
    if (!names.insert(thing.name).second || !old_names.insert(thing.old_name).second)
      problem(thing);
}

void Edited_Text::require_one_each() {
  const auto is_twice = [this](const auto& thing) {
    line_ = thing.line;
    problem(std::string(thing.name) + " is there twice");
  };
  require_different(tables_, is_twice);
  for (const Edited_Table& table : tables_) require_different(table.fields, is_twice);
  if (only_ != nullptr && tables_.empty()) problem("the table " + only_->name() + " is missing");
}

void Edited_Text::match_field(Edited_Table& table, Edited_Field& field) {
  line_ = field.line;
  if (table.old != nullptr) field.id = table.old->find_field(field.old_name);
  if (!field.id.is_null()) {
    const Column_Base& old = *table.old->find_field(field.id)->column;
    field.declared = {old.type().code, old.logical()};
    if (field.has_initial) problem("= VALUE is for a new field");
    return match_type(field, old);
  }
  if (field.old_name != field.name) problem("there was no field " + std::string(field.old_name));
  std::string why;
  const auto rule = parse_on_delete(field.rule);
  if (!field.rule.empty() && !rule) problem("clear, cascade or refuse expected behind on_delete");
  if (!field.referenced.empty())
    field.declared = {Type_Code::reference,
                      {.on_delete = rule.value_or(Logical_Type::On_Delete::keep)}};
  else if (auto type = parse_declared_type(field.type, why))
    field.declared = *std::move(type);
  else
    problem(why);
  if (!is_identifier(field.name)) problem(std::string(field.name) + " is no name for a field");
  if (field.referenced.empty()) return;
  if (!find_table(field.referenced) &&
      (only_ == nullptr || database_.find_table(field.referenced) == nullptr))
    problem("there is no table " + std::string(field.referenced));
}

// Requires that the text has the referenced table. A table renamed without the word `was` is
// missing, and would be dropped.
void Edited_Text::require_referenced(const Edited_Field& field, const Type& old) {
  const Table* const table =
      old.code == Type_Code::reference ? database_.find_table(old.referenced) : nullptr;
  if (table == nullptr || only_ != nullptr) return;
  const auto is_this_table = [&](const Edited_Table& edited) { return edited.old == table; };
  if (std::none_of(tables_.begin(), tables_.end(), is_this_table))
    problem("the field " + std::string(field.name) + " references the table " + table->name() +
            ", which is not in this text. A new name is written: table NEW was " + table->name());
}

void Edited_Text::match_type(const Edited_Field& field, const Column_Base& column) {
  const std::string old_text = type_text(database_, column);
  const Type& old = column.type();
  std::string text(field.type);
  if (!field.referenced.empty()) text.append(" ").append(field.referenced);
  if (!field.rule.empty()) text.append(" ").append(on_delete_word).append(" ").append(field.rule);
  if (text == old_text) return require_referenced(field, old);
  const Edited_Table* const referenced = find_table(field.referenced);
  const bool is_renamed = old.code == Type_Code::reference && referenced && referenced->old &&
                          referenced->old == database_.find_table(old.referenced);
  const auto rule = field.rule.empty() ? std::optional(Logical_Type::On_Delete::keep)
                                       : parse_on_delete(field.rule);
  if (!is_renamed || rule != column.logical().on_delete)
    problem("the field " + std::string(field.name) + " is of type " + old_text +
            ", which cannot be changed here: use retype_field or set_type in joedbi");
}

void Edited_Text::check_rows(const Edited_Table& table) {
  std::set<index_t> ids;
  for (const Edited_Row& row : table.rows) {
    constexpr std::size_t max_problems = 20;
    if (problems_.size() >= max_problems) return;
    line_ = row.line;
    if (row.id >= 0 && !ids.insert(row.id).second)
      problem("record " + std::to_string(row.id) + " of table " + std::string(table.name) +
              " is there twice");
    else
      check_row(table, row);
  }
}

// Returns the old text of a value; empty if there is no old value.
static std::string old_text(const Table* table, index_t record, Field_Id field) {
  if (table == nullptr || field.is_null() || !table->records().is_used(record)) return "";
  return value_text(*table->find_field(field)->column, record);
}

static void require_blob(Blob blob) {
  if (blob != Blob()) throw Data_Error("the place of a blob cannot be edited; 0,0 is an empty one");
}

// Throws Data_Error if the word is not a valid value of this type.
static void require_value(const Declared_Type& type, std::string_view word) {
  visit_type(type.stored, [&]<class T>(std::type_identity<T>) {
    with_value<T>(word, type.logical, [](T value) {
      if constexpr (std::is_same_v<T, Blob>) require_blob(value);
    });
  });
}

void Edited_Text::check_row(const Edited_Table& table, const Edited_Row& row) {
  std::string names;
  std::size_t count = 0;
  for (const Edited_Field& field : table.fields) {
    if (!field.has_initial) {
      ++count;
      names.append(" ").append(field.name);
    }
  }
  if (row.words.size() != count)
    return problem(counted(count, "value") + " expected" +
                   (names.empty() ? "" : " (" + names.substr(1) + ')') + ", got " +
                   std::to_string(row.words.size()));
  std::size_t next = 0;
  for (const Edited_Field& field : table.fields) {
    const std::string_view word = field.has_initial ? field.initial : row.words[next++];
    // Unchanged text is always valid, even for a blob.
    if (word == old_text(table.old, row.id, field.id)) continue;
    try {
      require_value(field.declared, word);
    } catch (const Line_Error& error) {
      problem(std::string(field.name) + ": " + error.reason);
    } catch (const Data_Error& error) {
      problem(std::string(field.name) + ": " + error.what());
    }
  }
}

// ---- applying -----------------------------------------------------------------------------------

Change_Sink::Change_Sink(Database& database, Command_Writer& printer)
    : database_(&database), printer_(&printer) {
  decode_entries(database.schema_entries(), [&]<class Entry>(const Entry& entry) {
    if constexpr (Schema_Entry<Entry>) printer.skip(entry);
  });
  for (const std::string& declaration : database.declarations()) printer.skip(Comment{declaration});
  for (const Table* const table : live_tables(database))
    if (table->records().size() > 0) printer.note_records(table->id());
}

class Edited_Text::Applier {
 public:
  Applier(const Edited_Text& text, Change_Sink& sink) : text_(text), sink_(sink) {}

  Edit_Summary apply() {
    try {
      for (const Table* const table : live_tables(text_.database_)) drop(*table);
      for (const Edited_Table& table : text_.tables_) rename(table);
      for (const Edited_Table& table : text_.tables_) create(table);
      for (const Edited_Table& table : text_.tables_) add_fields(table);
      summary_.schema = sink_.count();
      delete_rows();
      for (const Edited_Table& table : text_.tables_) write_rows(table);
    } catch (const Edit_Error&) {
      throw;
    } catch (const Data_Error& error) {
      throw Edit_Error(line_, error.what());
    }
    return summary_;
  }

 private:
  // Drops missing tables and fields first, so that their names become free.
  void drop(const Table& table) {
    if (text_.only_ != nullptr && text_.only_ != &table) return;
    const auto edited = std::find_if(text_.tables_.begin(), text_.tables_.end(),
                                     [&](const Edited_Table& t) { return t.old == &table; });
    const Table_Id id = table.id();
    if (edited == text_.tables_.end()) {
      summary_.deleted += table.records().used_count();
      return sink_.write(Drop_Table{id});
    }
    line_ = edited->line;
    std::vector<Field_Id> dropped;
    for_each_field(table, [&](Field_Id field, const Field&) {
      if (std::none_of(edited->fields.begin(), edited->fields.end(),
                       [&](const Edited_Field& f) { return f.id == field; }))
        dropped.push_back(field);
    });
    for (const Field_Id field : dropped) sink_.write(Drop_Field{id, field});
  }

  void rename(const Edited_Table& table) {
    if (table.old == nullptr) return;
    line_ = table.line;
    if (table.name != table.old_name) sink_.write(Rename_Table{table.old->id(), table.name});
    for (const Edited_Field& field : table.fields) {
      line_ = field.line;
      if (!field.id.is_null() && field.name != field.old_name)
        sink_.write(Rename_Field{table.old->id(), field.id, field.name});
    }
  }

  void create(const Edited_Table& table) {
    line_ = table.line;
    if (table.old == nullptr) sink_.write(Create_Table{table.name});
  }

  void add_fields(const Edited_Table& table) {
    for (const Edited_Field& field : table.fields) {
      line_ = field.line;
      if (!field.id.is_null()) continue;
      Type type{field.declared.stored, {}};
      if (type.code == Type_Code::reference) {
        const Table* const referenced = sink_.database().find_table(field.referenced);
        if (referenced == nullptr)
          throw Data_Error("there is no table " + std::string(field.referenced));
        type.referenced = referenced->id();
      }
      sink_.write(Add_Field{find(table).id(), field.name, type});
      if (field.declared.logical.is_plain()) continue;
      const std::string declaration =
          type_declaration(table.name, field.name, type.code, field.declared.logical);
      sink_.write(Comment{declaration});
    }
  }

  const Table& find(const Edited_Table& table) const {
    return *sink_.database().find_table(table.name);
  }

  // Deletes the missing records of all tables together, and does what the rules of references say.
  void delete_rows() {
    Deleted_Records gone;
    bool has_rules = false;
    std::size_t line = 1;
    for (const Edited_Table& edited : text_.tables_) {
      const Table& table = find(edited);
      line_ = edited.line;
      std::vector<index_t> missing = missing_records(edited, table);
      for (const index_t id : missing) sink_.write(Delete{table.id(), Record_Id(id)});
      summary_.deleted += static_cast<index_t>(missing.size());
      if (missing.empty() || !sink_.database().has_rules(table.id())) continue;
      if (!has_rules) line = edited.line;
      has_rules = true;
      gone[table.id()] = std::move(missing);
    }
    if (!has_rules) return;
    // What counts are the references in the text.
    for (const Edited_Table& edited : text_.tables_)
      for_each_kept_row(edited, [&](const Table& table, const Edited_Row& row) {
        write_row(edited, table, row, row.id, Part::references);
      });
    line_ = line;
    for (const auto& [table, record, field] : consequences_of_deletion(sink_.database(), gone)) {
      changed_.insert({table, record, field});
      if (field.is_null()) {
        sink_.write(Delete{table, record});
        ++summary_.deleted;
      } else {
        sink_.write(Update<Record_Id>{table, record, field, Record_Id()});
      }
    }
  }

  static std::vector<index_t> missing_records(const Edited_Table& edited, const Table& table) {
    std::set<index_t> ids;
    for (const Edited_Row& row : edited.rows)
      if (row.id >= 0) ids.insert(row.id);
    std::vector<index_t> result;
    for_each_run(table, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id)
        if (!ids.contains(id)) result.push_back(id);
    });
    return result;
  }

  template <class F>
  void for_each_kept_row(const Edited_Table& edited, F f) {
    const Table& table = find(edited);
    for (const Edited_Row& row : edited.rows)
      if (row.id >= 0 && table.records().is_used(row.id)) f(table, row);
  }

  // Writes records that have an id, and then inserts those without an id.
  void write_rows(const Edited_Table& edited) {
    const Table& table = find(edited);
    for (const Edited_Row& row : edited.rows)
      if (row.id >= 0 && !changed_.contains({table.id(), Record_Id(row.id), {}}))
        write_row(edited, table, row, row.id, Part::all);
    for (const Edited_Row& row : edited.rows)
      if (row.id < 0) write_row(edited, table, row, table.records().size(), Part::all);
  }

  enum class Part { all, references };
  void write_row(const Edited_Table& edited, const Table& table, const Edited_Row& row, index_t id,
                 Part part) {
    line_ = row.line;
    const bool is_new = !table.records().is_used(id);
    if (is_new) {
      sink_.write(Insert{table.id(), Record_Id(id)});
      ++summary_.inserted;
    }
    std::size_t next = 0;
    for (const Edited_Field& field : edited.fields) {
      const std::string_view word = field.has_initial ? field.initial : row.words[next++];
      const Field_Id field_id = field.id.is_null() ? table.find_field(field.name) : field.id;
      const Column_Base& column = *table.find_field(field_id)->column;
      if (part == Part::references && field.declared.stored != Type_Code::reference) continue;
      if (changed_.contains({table.id(), Record_Id(id), field_id})) continue;
      if (!is_new && word == value_text(column, id)) continue;
      visit_type(field.declared.stored, [&]<class T>(std::type_identity<T>) {
        with_value<T>(word, field.declared.logical, [&](T value) {
          if (!is_new && has_same_bits(T(static_cast<const Column<T>&>(column).get(id)), value))
            return;
          sink_.write(Update<T>{table.id(), Record_Id(id), field_id, value});
          if (!is_new) ++summary_.values;
        });
      });
    }
  }

  const Edited_Text& text_;
  Change_Sink& sink_;
  Edit_Summary summary_;
  // What followed from deletions: a null field means that the record was deleted.
  std::set<std::tuple<Table_Id, Record_Id, Field_Id>> changed_;
  std::size_t line_ = 1;
};

Edit_Summary Edited_Text::apply(Change_Sink& sink) const { return Applier(*this, sink).apply(); }

}  // namespace joedb::inline v1
