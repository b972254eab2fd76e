#include <algorithm>
#include <set>

#include <absl/strings/str_join.h>

#include "exchange/identifiers.h"
#include "exchange/import.h"
#include "exchange/type_guess.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "text/columns.h"
#include "text/dump.h"

namespace joedb {

// ---- names --------------------------------------------------------------------------------------

std::string identifier_of(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::string result;
  for (const char c : text) {
    if (is_alphanumeric(c))
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  while (result.ends_with('_')) result.pop_back();
  if (result.empty()) return "column";
  if (result[0] >= '0' && result[0] <= '9') result.insert(0, 1, '_');
  return result;
}

namespace {

const std::string* find_setting(const Named_Settings& settings, std::string_view name) {
  for (const auto& [first, second] : settings)
    if (first == name) return &second;
  return nullptr;
}

// ---- planning -----------------------------------------------------------------------------------

// Limits, in rows and in bytes, for input that can be read only once: it is kept in memory.
constexpr std::int64_t short_sample = 10'000;
constexpr Offset sample_bytes_of_pipe = Offset{1} << 26;

class Planner {
 public:
  Planner(Row_Source& source, const Database& database, const Import_Settings& settings,
          const std::function<void()>& after_row)
      : source_(source),
        database_(database),
        settings_(settings),
        after_row_(after_row),
        table_(database.find_table(settings.table)) {}

  Import_Plan plan() {
    if (!is_identifier(settings_.table))
      throw Data_Error("`" + settings_.table +
                       "` cannot be the name of a table: --table gives another");
    plan_.table = settings_.table;
    plan_.is_new_table = table_ == nullptr;
    plan_.adds_fields = !has_all_fields();
    plan_.key = settings_.key;
    plan_.deletes_missing = settings_.deletes_missing;
    plan_.memory = settings_.memory;
    sample_rows();
    if (source_.has_more_columns() && has_all_fields()) expect_fields();
    // JSON lines without any record do not show which columns they have.
    if (has_no_rows() && plan_.deletes_missing && plan_.key.empty())
      source_.add_column(std::string(id_column_name));
    plan_.source_columns = source_.columns().size();
    guesses_.resize(plan_.source_columns);
    name_fields();
    for (std::size_t i = 0; i < plan_.source_columns; ++i) plan_column(i);
    require_names();
    return std::move(plan_);
  }

 private:
  // Returns true if columns must not add fields.
  bool has_all_fields() const { return table_ != nullptr && !settings_.adds_fields; }

  bool has_no_rows() const {
    return source_.has_more_columns() && plan_.rows_seen == 0 && plan_.has_read_all;
  }

  // Adds columns that rows not read yet may have: those in the settings, and the fields of the
  // table.
  void expect_fields() {
    const auto expect = [&](const std::string& word) {
      const auto number = parse_number<std::size_t>(word);
      if (!number || *number < 1 || *number > source_.columns().size()) source_.add_column(word);
    };
    for (const std::string& name : settings_.skipped) expect(name);
    for (const auto& [name, field] : settings_.renames) expect(name);
    name_fields();
    const std::set<std::string> fields(column_fields_.begin(), column_fields_.end());
    for_each_field(*table_, [&](Field_Id, const Field& field) {
      if (!fields.contains(field.name)) source_.add_column(field.name);
    });
  }

  bool has_enough_rows(std::int64_t limit) const {
    return (limit > 0 && plan_.rows_seen == limit) ||
           (!source_.input().can_seek() && source_.input().position() > sample_bytes_of_pipe);
  }

  void sample_rows() {
    const bool is_short =
        !source_.input().can_seek() || (has_all_fields() && !settings_.has_preview);
    const std::int64_t limit = settings_.sample == 0 && is_short ? short_sample : settings_.sample;
    if (!has_all_fields() || settings_.has_preview || source_.has_more_columns()) {
      while (!has_enough_rows(limit) && source_.next()) sample_row(source_.cells());
      plan_.has_read_all = !has_enough_rows(limit);
    }
    source_.rewind();
  }

  void sample_row(std::span<const Cell> cells) {
    if (guesses_.size() < cells.size()) guesses_.resize(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) guesses_[i].add(cells[i]);
    ++plan_.rows_seen;
    after_row_();
  }

  // Returns true if an argument of --rename or --skip means column i: it is the column's name, or
  // its number from 1.
  bool is_meant(const std::string& word, std::size_t i) const {
    const std::vector<std::string>& columns = source_.columns();
    return word == columns[i] ||
           (parse_number<std::size_t>(word) == i + 1 && std::ranges::count(columns, word) == 0);
  }
  bool is_skipped(std::size_t i) const {
    return std::ranges::any_of(settings_.skipped,
                               [&](const std::string& word) { return is_meant(word, i); });
  }
  const std::string* renamed(std::size_t i) const {
    for (const auto& [word, field] : settings_.renames)
      if (is_meant(word, i)) return &field;
    return nullptr;
  }

  // False if the column __id of a new table has other values than record ids: then it is a field.
  bool may_have_ids(std::size_t i) const {
    if (table_ != nullptr || i >= guesses_.size() || guesses_[i].value_count() == 0) return true;
    const Type_Code type = guesses_[i].type(false);
    return type == Type_Code::int32 || type == Type_Code::int64;
  }

  // Sets column_fields_.
  void name_fields() {
    const std::vector<std::string>& columns = source_.columns();
    column_fields_.assign(columns.size(), "");
    std::vector<std::size_t> others;  // columns whose field the user has not chosen
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (is_skipped(i)) continue;
      if (const std::string* const field = renamed(i)) {
        column_fields_[i] = *field;
      } else if (columns[i] == id_column_name && may_have_ids(i)) {
        plan_.id_source = i;
      } else {
        others.push_back(i);
        names.push_back(columns[i]);
      }
    }
    names = to_identifiers(names);
    for (std::size_t k = 0; k < others.size(); ++k) column_fields_[others[k]] = names[k];
  }

  // Throws Data_Error if the name of the field has a number from to_identifiers(). This number
  // depends on the order of the columns. If their order was different when the table was created,
  // the values would go to the wrong fields.
  void require_own_name(std::size_t i) const {
    const std::string& name = source_.columns()[i];
    if (table_ == nullptr || is_identifier(name) || renamed(i)) return;
    const std::string field = identifier_of(name);
    if (column_fields_[i] == field && table_->find_field(field + "_2").is_null()) return;
    throw Data_Error("the columns " + name + " and another one are for the field " + field +
                     ": give each a field, by its number from 1: --rename " +
                     std::to_string(i + 1) + "=FIELD");
  }

  void plan_column(std::size_t i) {
    if (column_fields_[i].empty()) return;
    Import_Plan::Column column{i, column_fields_[i], Type_Code::none, true};
    if (!is_identifier(column.field))
      throw Data_Error("`" + column.field + "` cannot be the name of a field");
    require_own_name(i);
    if (!fields_.insert(column.field).second)
      source_.fail(
          {}, "two columns are for the field " + column.field + ": --skip or --rename one of them");
    const Type_Guess& guess = guesses_[i];
    column.examples = guess.examples();
    column.empty_count = plan_.rows_seen - guess.value_count();
    const Field* const field =
        table_ == nullptr ? nullptr : table_->find_field(table_->find_field(column.field));
    column.is_new = field == nullptr;
    if (field != nullptr)
      take_field(column, *field);
    else
      make_field(column, guess);
    const std::string& header = source_.header(i);
    if (column.is_new && column.field != header && renamed(i) == nullptr)
      column.renamed_from = header.empty() ? std::to_string(i + 1) + " without a name" : header;
    plan_.columns.push_back(std::move(column));
  }

  void take_field(Import_Plan::Column& column, const Field& field) {
    column.type = field.column->type().code;
    column.logical = field.column->logical();
    const std::string* const reference = find_setting(settings_.references, column.field);
    const std::string* const name_table = find_setting(settings_.enums, column.field);
    if (reference == nullptr && name_table == nullptr) return;
    const Table* const referenced = database_.find_table(field.column->type().referenced);
    if (column.type != Type_Code::reference || referenced == nullptr)
      throw Data_Error("field " + column.field + " of table " + plan_.table +
                       " is not a reference, so nothing can be looked up");
    const std::string wanted = name_table == nullptr ? *reference : referenced->name() + ".name";
    set_lookup(column, wanted, name_table != nullptr);
    if (column.referenced != referenced->name())
      throw Data_Error("field " + column.field + " of table " + plan_.table +
                       " is a reference to table " + referenced->name() + ", not to " +
                       column.referenced);
  }

  void make_field(Import_Plan::Column& column, const Type_Guess& guess) {
    if (table_ != nullptr && !settings_.adds_fields)
      throw Data_Error("table " + plan_.table + " has no field " + column.field +
                       ", for the column " + source_.columns()[column.source] +
                       ": --add-fields adds it, --skip leaves the column out, --rename " +
                       source_.columns()[column.source] + "=FIELD names another field");
    take_guess(column, guess);
    if (const std::string* const type = find_setting(settings_.types, column.field)) {
      take_type(column, *type);
    } else if (const std::string* const names = find_setting(settings_.enums, column.field)) {
      set_lookup(column, (names->empty() ? column.field : *names) + ".name", true);
    } else if (const std::string* const reference =
                   find_setting(settings_.references, column.field)) {
      set_lookup(column, *reference, false);
    }
  }

  void set_type(Import_Plan::Column& column, const Declared_Type& type) const {
    column.type = type.stored;
    column.logical = type.logical;
  }

  void take_guess(Import_Plan::Column& column, const Type_Guess& guess) const {
    set_type(column, declared_or_guessed(column, guess));
    if (column.type != Type_Code::string || !column.logical.is_plain()) return;
    column.has_times = guess.has_times();
    column.similar_type = guess.similar_type();
  }

  void take_type(Import_Plan::Column& column, const std::string& text) const {
    forget_guess(column);
    std::string problem;
    const auto type =
        text == "time" ? Declared_Type{Type_Code::int64, {}} : parse_declared_type(text, problem);
    if (!type)
      throw Data_Error(
          "--type " + column.field + "=" + text + ": " + problem +
          "; expected a type like int32, date, decimal(2) or 'int32 optional', or time");
    set_type(column, *type);
  }

  static void forget_guess(Import_Plan::Column& column) {
    column.logical = {};
    column.is_guessed = false;
    column.has_times = false;
    column.similar_type = column.plain_type = Type_Code::none;
    column.other_time_text.clear();
  }

  Declared_Type declared_or_guessed(Import_Plan::Column& column, const Type_Guess& guess) const {
    if (settings_.only_strings) return {Type_Code::string, {}};
    for (const auto& [name, type] : source_.declared_types())
      if (name == source_.columns()[column.source] && type.stored != Type_Code::none) return type;
    const Type_Code plain = guess.type(settings_.reads_times, column.empty_count > 0);
    if (settings_.only_plain_types) return {plain, {}};
    Declared_Type type = guess.declared_type(settings_.reads_times, column.empty_count);
    // The records that are there have no value, which is neither 1970-01-01 nor 0.00.
    if (type.logical.kind != Logical_Type::Kind::plain && table_ != nullptr &&
        table_->records().used_count() > 0)
      type.logical.is_optional = true;
    column.is_guessed = true;
    if (!type.logical.is_plain()) column.plain_type = plain;
    if (type.logical.kind == Logical_Type::Kind::timestamp)
      column.other_time_text = guess.other_time_text();
    return type;
  }

  // `place` has the form TABLE.FIELD.
  void set_lookup(Import_Plan::Column& column, const std::string& place, bool is_enum) {
    const std::size_t dot = place.find('.');
    const std::string field = dot == place.npos ? "" : place.substr(dot + 1);
    column.referenced = place.substr(0, dot);
    column.lookup = field;
    column.creates_missing = is_enum || settings_.creates_references;
    forget_guess(column);
    if (!is_identifier(column.referenced) || !is_identifier(field))
      throw Data_Error("--reference " + column.field + "=" + place + ": expected " + column.field +
                       "=TABLE.FIELD");
    if (column.referenced == plan_.table && table_ == nullptr) return;  // require_names() checks it
    const Table* const referenced = database_.find_table(column.referenced);
    column.makes_table = referenced == nullptr && is_enum;
    if (referenced != nullptr) {
      const Field* const found = referenced->find_field(referenced->find_field(field));
      if (found != nullptr) {
        column.type = found->column->type().code;
        return;
      }
    } else if (is_enum) {
      column.type = Type_Code::string;
      return;
    }
    throw Data_Error("--reference " + column.field + "=" + place + ": there is no " +
                     (referenced == nullptr ? "table " + column.referenced : "field " + place) +
                     "; --enum " + column.field + "=TABLE makes a table of names");
  }

  std::vector<std::string> field_names() const {
    std::vector<std::string> names;
    for (const Import_Plan::Column& column : plan_.columns) names.push_back(column.field);
    return names;
  }

  // Throws Data_Error if the settings name a field or column that does not exist.
  void require_names() const {
    const std::vector<std::string> fields = field_names();
    const auto require = [&](const char* option, const std::string& name,
                             const std::vector<std::string>& known) {
      if (std::ranges::count(known, name) == 0)
        throw Data_Error(std::string(option) + " " + name + ": " + source_.input().name() +
                         " has no such column; it has " + absl::StrJoin(known, ", "));
    };
    for (const std::string& name : plan_.key) require("--key", name, fields);
    for (const auto& [name, type] : settings_.types) require("--type", name, fields);
    for (const auto& [name, place] : settings_.references) require("--reference", name, fields);
    for (const auto& [name, names] : settings_.enums) require("--enum", name, fields);
    const auto require_column = [&](const char* option, const std::string& word) {
      const std::optional<std::size_t> number = parse_number<std::size_t>(word);
      if (!number || *number < 1 || *number > plan_.source_columns)
        require(option, word, source_.columns());
    };
    for (const auto& [word, field] : settings_.renames) require_column("--rename", word);
    for (const std::string& word : settings_.skipped) require_column("--skip", word);
    for (const Import_Plan::Column& column : plan_.columns)
      if (column.referenced == plan_.table && table_ == nullptr)
        require("--reference", column.lookup, fields);
    if (plan_.columns.empty() && table_ == nullptr && !has_no_rows())
      throw Data_Error(source_.input().name() + " has no columns");
    if (plan_.id_source && !plan_.key.empty())
      throw Data_Error(
          "the column __id identifies records, so there can be no --key; --skip __id "
          "leaves it out");
    if (plan_.deletes_missing && plan_.key.empty() && !plan_.id_source)
      throw Data_Error("--delete-missing needs --key, or the column __id");
  }

  Row_Source& source_;
  const Database& database_;
  const Import_Settings& settings_;
  const std::function<void()>& after_row_;
  const Table* const table_;
  std::vector<Type_Guess> guesses_;
  std::vector<std::string> column_fields_;  // field of each column; empty if it has none
  std::set<std::string> fields_;            // all fields of the plan
  Import_Plan plan_;
};

}  // namespace

Import_Plan plan_import(Row_Source& source, const Database& database,
                        const Import_Settings& settings, const std::function<void()>& after_row) {
  return Planner(source, database, settings, after_row).plan();
}

// ---- text ---------------------------------------------------------------------------------------

std::string Import_Plan::Column::type_text() const {
  if (lookup.empty()) return declared_type_text(type, logical);
  return "references " + referenced + ", by its " + lookup + (makes_table ? " (a new table)" : "");
}

std::string Import_Plan::text() const {
  std::string result = (is_new_table ? "new table " : "table ") + table + '\n';
  Text_Columns layout{std::vector<Text_Columns::Column>(3)};
  const std::string id_name(id_column_name);
  if (id_source) layout.fit({id_name});
  for (const Column& column : columns) layout.fit({column.field, column.type_text()});
  if (id_source) result += "  " + layout.line({id_name, "identifies the record"}) + '\n';
  for (const Column& column : columns) {
    std::string line = absl::StrJoin(column.examples, ", ");
    if (column.empty_count > 0)
      line += (column.examples.empty() ? "" : "; ") + std::to_string(column.empty_count) + " empty";
    if (column.is_new && !is_new_table) line += " (a new field)";
    if (!column.renamed_from.empty())
      line += " (from the column " + plain(column.renamed_from) + ")";
    if (column.plain_type != Type_Code::none)
      line += " (with --plain-types: " + std::string(type_name(column.plain_type)) + ")";
    if (!column.other_time_text.empty())
      line += " (will be written like " + column.other_time_text + ")";
    if (column.has_times) line += " (times: --times makes int64 of them)";
    if (column.similar_type != Type_Code::none) {
      const std::string type(type_name(column.similar_type));
      line += " (would be written otherwise as " + type + "; --type " + column.field + "=" + type +
              " makes it of them)";
    }
    result += "  " + layout.line({column.field, column.type_text(), line}) + '\n';
  }
  return result;
}

}  // namespace joedb
