#include "commands/commands.h"

#include <algorithm>
#include <charconv>

#include "text/dump.h"
#include "text/reference_names.h"

namespace joedb::inline v1 {

namespace {

class Name_Completer {
 public:
  Name_Completer(const Database& database, const std::vector<std::string_view>& words,
                 std::string_view prefix)
      : database_(database), words_(words), prefix_(prefix) {}

  Completions complete(std::string_view kind) {
    const std::size_t place = kind == "index_field" ? 2 : 1;  // of the name of the table
    const Table* const table =
        words_.size() > place ? database_.find_table(words_[place]) : nullptr;
    if (kind == "table") return add_tables(), std::move(result_);
    if (kind == "type") return add_words(type_words), std::move(result_);
    if (kind == "condition") return add_condition(table), std::move(result_);
    if (kind == "declared_index") return add_declared_indexes(), std::move(result_);
    if (table == nullptr) return {};
    if (kind == "field" || kind == "index_field")
      add_fields(*table);
    else if (kind == "record")
      add_records(*table);
    else if (kind == "new_record")
      result_.add(prefix_, std::to_string(table->records().size()));
    else if (kind == "row")
      add_row_value(*table);
    else if (kind == "value")
      add_value_of_named_field(*table);
    return std::move(result_);
  }

 private:
  static constexpr std::string_view type_words[] = {
      "string",   "blob",     "int8",    "int16",      "int32", "int64",
      "float32",  "float64",  "boolean", "references", "date",  "timestamp",
      "duration", "decimal(", "enum(",   "bytes",      "uuid",  "json"};
  static constexpr std::string_view truth_words[] = {"true", "false"};

  template <std::size_t n>
  void add_words(const std::string_view (&words)[n]) {
    for (const std::string_view word : words) result_.add(prefix_, word);
  }
  void add_tables() {
    for (const Table* t : live_tables(database_)) result_.add(prefix_, t->name());
  }
  void add_declared_indexes() {
    for (const Index* const index : database_.indexes())
      if (database_.is_declared(*index)) result_.add(prefix_, index->definition().name);
  }
  void add_fields(const Table& table) {
    for (const Field& field : table.fields())
      if (field.column) result_.add(prefix_, field.name);
  }

  // Adds the ids that begin with the typed digits. Visits ids by their number of digits. Gives up
  // after `tries` ids, because most of them may be unused.
  void add_records(const Table& table) {
    index_t first = 0;
    const bool is_number =
        std::from_chars(prefix_.data(), prefix_.data() + prefix_.size(), first).ptr ==
        prefix_.data() + prefix_.size();
    Reference_Names names(database_);
    index_t tries = 100'000;
    const index_t size = table.records().size();
    if (!prefix_.empty() && (!is_number || first < 0))
      return add_records_named(table, std::min(size, tries), names);
    for (index_t count = prefix_.empty() ? size : 1; first < size; first *= 10, count *= 10) {
      const index_t end = std::min(size, first + count);
      for (index_t id = first; id < end; ++id) {
        if (--tries < 0) result_.is_cut = true;
        if (result_.is_cut) return;
        if (table.records().is_used(id))
          result_.add(prefix_, std::to_string(id), names.name(table.id(), Record_Id(id)));
      }
      if (prefix_.empty() || first == 0) return;
    }
  }

  // Adds the records with ids below `end` whose names begin with the typed text.
  void add_records_named(const Table& table, index_t end, Reference_Names& names) {
    result_.is_by_note = true;
    for (index_t id = 0; id < end && !result_.is_cut; ++id) {
      std::string name = names.name(table.id(), Record_Id(id));
      if (name.starts_with(prefix_)) result_.add("", std::to_string(id), std::move(name));
    }
  }

  void add_value(const Field& field) {
    const Type& type = field.column->type();
    const Logical_Type& logical = field.column->logical();
    const bool is_boolean = logical.kind == Logical_Type::Kind::boolean;
    if (type.code == Type_Code::boolean || is_boolean) add_words(truth_words);
    for (const std::string& name : logical.names) result_.add(prefix_, name);
    if (logical.is_optional) result_.add(prefix_, "null");
    if (type.code != Type_Code::reference) return;
    result_.add(prefix_, "-1", "none");
    if (const Table* const referenced = database_.find_table(type.referenced))
      add_records(*referenced);
  }

  // Adds values for the syntax insert_into TABLE ID VALUE….
  void add_row_value(const Table& table) {
    std::size_t values_before = words_.size() - 3;
    for (const Field& field : table.fields())
      if (field.column && values_before-- == 0) return add_value(field);
  }

  // Adds values for the syntax update TABLE ID FIELD VALUE: the fourth word is the field.
  void add_value_of_named_field(const Table& table) {
    if (words_.front() == "add_field") return add_value_of_typed_field();
    if (words_.size() < 4) return;
    if (const Field* const field = table.find_field(table.find_field(words_[3]))) add_value(*field);
  }

  // Adds values for the syntax add_field TABLE NAME boolean = VALUE.
  void add_value_of_typed_field() {
    if (words_[3] == "boolean") add_words(truth_words);
    if (words_[3] != "references" || words_.size() < 5) return;
    result_.add(prefix_, "-1", "none");
    if (const Table* const referenced = database_.find_table(words_[4])) add_records(*referenced);
  }

  // Adds words for the syntax find TABLE FIELD [OP] VALUE …, and find INDEX.
  void add_condition(const Table* table) {
    if (words_.size() == 1) {
      add_tables();
      for (const Index* index : database_.indexes()) result_.add(prefix_, index->definition().name);
    }
    if (table == nullptr) return;
    const Field* field = nullptr;
    bool has_operator = false;
    for (std::size_t i = 2; i < words_.size(); ++i) {
      if (field == nullptr)
        field = table->find_field(table->find_field(words_[i]));
      else if (!has_operator && is_find_operator(words_[i]))
        has_operator = true;
      else
        field = nullptr, has_operator = false;
    }
    if (field == nullptr) return add_fields(*table);
    if (!has_operator)
      for (const std::string_view word : find_operators) result_.add(prefix_, word);
    add_value(*field);
  }

  const Database& database_;
  const std::vector<std::string_view>& words_;
  const std::string_view prefix_;
  Completions result_;
};

}  // namespace

Completions complete_from(const Database& database, std::string_view kind,
                          const std::vector<std::string_view>& words, std::string_view prefix) {
  return Name_Completer(database, words, prefix).complete(kind);
}

}  // namespace joedb::inline v1
