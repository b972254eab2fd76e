#include "tools/exchange/sql_definition.h"

#include <optional>
#include <utility>

#include "exchange/sqlite.h"
#include "exchange/sqlite_schema.h"
#include "joedb/base/error.h"
#include "kernel/schema/logical_type.h"
#include "text/sql.h"

namespace joedb {

namespace {

constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

// Returns true if SQLite allows the character in a word without quotes.
constexpr bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`' || c == '['; }

// Splits SQL into tokens as SQLite does: words, quoted texts, and other single characters.
class Sql_Tokens {
 public:
  explicit Sql_Tokens(std::string_view sql) : sql_(sql) { advance(); }

  // The current token, as it is in the text; empty at the end.
  std::string_view current() const { return sql_.substr(begin_, end_ - begin_); }
  // Offsets of the current token in the text.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }

  void advance() {
    begin_ = after_blanks(end_);
    end_ = token_end(begin_);
  }
  // If this is the current token, skips it and returns true. Ignores the case of letters.
  bool take(std::string_view token) {
    if (!is_same_name(current(), token)) return false;
    advance();
    return true;
  }
  // If the current token is a name, takes it, without its quotes.
  bool take_name(std::string& name) {
    const std::string_view token = current();
    if (token.empty()) return false;
    if (is_quote(token[0])) {
      if (token.size() < 2 || token.back() != closing(token[0])) return false;
      name.clear();
      for (std::size_t i = 1; i + 1 < token.size(); ++i) {
        name += token[i];
        if (token[i] == token[0] && token[0] != '[') ++i;  // a quote in a name is written twice
      }
    } else if (is_of_word(token[0])) {
      name = token;
    } else {
      return false;
    }
    advance();
    return true;
  }

 private:
  static char closing(char quote) { return quote == '[' ? ']' : quote; }

  // Returns the offset behind the next occurrence of `text`, or the end of the SQL.
  std::size_t behind(std::string_view text, std::size_t from) const {
    const std::size_t found = sql_.find(text, from);
    return found == sql_.npos ? sql_.size() : found + text.size();
  }
  // Skips white space and comments.
  std::size_t after_blanks(std::size_t at) const {
    while (at < sql_.size()) {
      const std::string_view rest = sql_.substr(at);
      if (is_space(rest[0]))
        ++at;
      else if (rest.starts_with("--"))
        at = behind("\n", at);
      else if (rest.starts_with("/*"))
        at = behind("*/", at + 2);
      else
        break;
    }
    return at;
  }
  std::size_t token_end(std::size_t at) const {
    if (at == sql_.size()) return at;
    const char first = sql_[at];
    if (is_quote(first)) {
      const char last = closing(first);
      std::size_t end = behind({&last, 1}, at + 1);
      while (first != '[' && end < sql_.size() && sql_[end] == last)
        end = behind({&last, 1}, end + 1);
      return end;
    }
    if (!is_of_word(first)) return at + 1;
    while (at < sql_.size() && is_of_word(sql_[at])) ++at;
    return at;
  }

  const std::string_view sql_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Takes [ON DELETE action], and returns the rule; nullopt if there is another action.
std::optional<Logical_Type::On_Delete> take_on_delete(Sql_Tokens& tokens) {
  if (!tokens.take("ON")) return Logical_Type::On_Delete::keep;
  if (!tokens.take("DELETE")) return {};
  std::string action, word;
  if (!tokens.take_name(action)) return {};
  if ((is_same_name(action, "SET") || is_same_name(action, "NO")) && tokens.take_name(word))
    action += ' ' + word;
  return on_delete_of_sql(action);
}

// Returns the type for [INTEGER] [NULL] REFERENCES table [(__id)] [ON DELETE action] [NULL];
// nullopt if `type` is not of this form.
std::optional<std::string> reference_type(std::string_view type) {
  Sql_Tokens tokens(type);
  for (const char* integer : {"INTEGER", "INT", "BIGINT"})
    if (tokens.take(integer)) break;
  tokens.take("NULL");
  std::string table;
  if (!tokens.take("REFERENCES") || !tokens.take_name(table)) return {};
  if (tokens.take("(")) {
    std::string column;
    if (!tokens.take_name(column) || !is_same_name(column, sqlite_id_column) || !tokens.take(")"))
      return {};
  }
  const auto rule = take_on_delete(tokens);
  tokens.take("NULL");
  if (!rule || !tokens.current().empty()) return {};
  return declared_type_text(Type_Code::reference, {.on_delete = *rule}, table);
}

// Returns the text from the current token to the next comma, closing parenthesis or semicolon that
// is not in parentheses of the text, where it moves to.
std::string_view take_type(Sql_Tokens& tokens, std::string_view sql, bool is_in_list) {
  const std::size_t begin = tokens.begin();
  std::size_t end = begin;
  for (int depth = 0; !tokens.current().empty(); tokens.advance()) {
    const std::string_view token = tokens.current();
    if (depth == 0 && (token == ";" || (is_in_list && (token == "," || token == ")")))) break;
    if (token == "(") ++depth;
    if (token == ")") --depth;
    end = tokens.end();
  }
  return sql.substr(begin, end - begin);
}

[[noreturn]] void fail_table(std::string_view text) {
  throw Exception("a table of a joedb file cannot have " + std::string(text) +
                  ": only columns with a type, NOT NULL and REFERENCES are possible; CREATE INDEX "
                  "makes indexes");
}

bool take_table_name(Sql_Tokens& tokens, Sql_Definition& definition) {
  if (!tokens.take_name(definition.table)) return false;
  if (!tokens.take(".")) return true;
  definition.schema = std::move(definition.table);
  return tokens.take_name(definition.table);
}

// Reads what follows CREATE TABLE.
bool take_new_table(Sql_Tokens& tokens, std::string_view sql, Sql_Definition& definition) {
  definition.is_new = true;
  if (tokens.take("IF")) {
    if (!tokens.take("NOT") || !tokens.take("EXISTS")) return false;
    definition.may_exist = true;
  }
  if (!take_table_name(tokens, definition) || !tokens.take("(")) return false;
  while (!tokens.take(")")) {
    for (const char* word : {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"})
      if (is_same_name(tokens.current(), word)) fail_table(take_type(tokens, sql, true));
    std::string name;
    if (!tokens.take_name(name)) return false;
    const std::string_view type = take_type(tokens, sql, true);
    definition.columns.push_back({std::move(name), std::string(type)});
    if (!tokens.take(",") && tokens.current() != ")") return false;
  }
  if (!tokens.current().empty() && tokens.current() != ";")
    fail_table(take_type(tokens, sql, false));
  return true;
}

// Reads what follows ALTER TABLE.
bool take_new_column(Sql_Tokens& tokens, std::string_view sql, Sql_Definition& definition) {
  if (!take_table_name(tokens, definition) || !tokens.take("ADD")) return false;
  tokens.take("COLUMN");
  std::string name;
  if (!tokens.take_name(name)) return false;
  const std::string_view type = take_type(tokens, sql, false);
  definition.columns.push_back({std::move(name), std::string(type)});
  return true;
}

// Returns the type with single blanks between words, and none beside punctuation, except after ")".
std::string without_blanks(std::string_view type) {
  std::string text;
  for (Sql_Tokens tokens(type); !tokens.current().empty(); tokens.advance()) {
    const bool is_word = is_of_word(tokens.current()[0]);
    if (is_word && !text.empty() && (is_of_word(text.back()) || text.back() == ')')) text += ' ';
    text += tokens.current();
  }
  return text;
}

// Removes `end` from the end of the text, in any case.
bool take_end(std::string& text, std::string_view end) {
  if (text.size() < end.size() || !is_same_name(text.substr(text.size() - end.size()), end))
    return false;
  text.resize(text.size() - end.size());
  return true;
}

// True if a type of SQL is followed by a constraint.
bool has_constraint(std::string_view type) {
  for (Sql_Tokens tokens(type); !tokens.current().empty(); tokens.advance())
    for (const char* word : {"AS", "CHECK", "COLLATE", "CONSTRAINT", "DEFAULT", "GENERATED", "NOT",
                             "NULL", "PRIMARY", "REFERENCES", "UNIQUE"})
      if (is_same_name(tokens.current(), word)) return true;
  return false;
}

// The types of fields with a name in SQL of which field_type() makes them; "decimal(2)" is another.
constexpr std::pair<std::string_view, std::string_view> sql_types[] = {
    {"int64", "INTEGER"}, {"int16", "SMALLINT"},      {"int8", "TINYINT"}, {"string", "TEXT"},
    {"float64", "REAL"},  {"boolean", "BOOLEAN"},     {"blob", "BLOB"},    {"date", "DATE"},
    {"json", "JSON"},     {"timestamp", "TIMESTAMP"}, {"uuid", "UUID"}};

}  // namespace

std::optional<Sql_Definition> parse_sql_definition(std::string_view sql) {
  Sql_Tokens tokens(sql);
  Sql_Definition definition;
  while (tokens.take(";")) {
  }
  const bool is_new = tokens.take("CREATE");
  if ((!is_new && !tokens.take("ALTER")) || !tokens.take("TABLE")) return {};
  if (is_new ? !take_new_table(tokens, sql, definition) : !take_new_column(tokens, sql, definition))
    return {};
  definition.size = tokens.end();
  return definition;
}

std::optional<Index_Statement> parse_index_statement(std::string_view sql) {
  Sql_Tokens tokens(sql);
  Index_Statement index;
  while (tokens.take(";")) {
  }
  index.is_drop = tokens.take("DROP");
  if (!index.is_drop && !tokens.take("CREATE")) return {};
  index.is_unique = !index.is_drop && tokens.take("UNIQUE");
  if (!tokens.take("INDEX")) return {};
  if (tokens.take("IF")) {
    if ((!index.is_drop && !tokens.take("NOT")) || !tokens.take("EXISTS")) return {};
    (index.is_drop ? index.may_be_new : index.may_exist) = true;
  }
  if (!tokens.take_name(index.name)) return {};
  if (tokens.take(".")) {
    index.schema = std::move(index.name);
    if (!tokens.take_name(index.name)) return {};
  }
  if (!index.is_drop) {
    if (!tokens.take("ON") || !tokens.take_name(index.table) || !tokens.take("(")) return {};
    do {
      if (!tokens.take_name(index.columns.emplace_back())) return {};
    } while (tokens.take(","));
    if (!tokens.take(")")) return {};
  }
  if (!tokens.current().empty() && tokens.current() != ";") return {};
  index.size = tokens.end();
  return index;
}

bool is_record_id(const Sql_Definition::Column& column) {
  return is_same_name(column.name, sqlite_id_column) &&
         is_same_name(without_blanks(column.type), "INTEGER PRIMARY KEY");
}

std::string field_type(const std::string& type) {
  if (auto reference = reference_type(type)) return *std::move(reference);
  std::string name = without_blanks(type);
  const bool is_required = take_end(name, " NOT NULL");
  if (!is_required) take_end(name, " NULL");
  auto declared = parse_declared_type(name);
  if (!declared && !has_constraint(name)) declared = declared_type(name);
  // A blob may always be null, without "optional".
  if (declared && declared->stored == Type_Code::blob && !is_required) return "blob";
  if (declared && declared->stored != Type_Code::blob &&
      !(is_required && declared->logical.is_optional)) {
    std::string field = declared_type_text(declared->stored, declared->logical);
    if (!is_required && !declared->logical.is_optional) field += " optional";
    if (parse_declared_type(field)) return field;
  }
  throw Exception("a joedb file cannot have a column of the type " +
                  (type.empty() ? "that is not given" : "\"" + type + "\"") +
                  ": expected TEXT, INTEGER, REAL, BLOB, BOOLEAN, DATE, TIMESTAMP, DECIMAL(18,2), "
                  "UUID, JSON or a type of joedbi, without or with NOT NULL, or REFERENCES table "
                  "[ON DELETE SET NULL | CASCADE | RESTRICT]");
}

std::string column_type(const std::string& field_type, std::string (*quoted)(const std::string&)) {
  constexpr std::string_view decimal = "decimal(";
  if (const auto reference = parse_reference_text(field_type)) {
    if (reference->table.empty()) return "INTEGER /* references a table that is not shown */";
    return "INTEGER REFERENCES " + quoted(std::string(reference->table)) +
           std::string(sql_on_delete(reference->rule));
  }
  std::string type = field_type;
  const bool may_be_null = take_end(type, " optional") || type == "blob";
  if (type.starts_with(decimal)) type.replace(0, decimal.size(), "DECIMAL(18,");
  for (const auto& [field, column] : sql_types)
    if (type == field) {
      type = column;
      break;
    }
  return type + (may_be_null ? "" : " NOT NULL");
}

}  // namespace joedb
