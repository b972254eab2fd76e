#include "tools/exchange/add_column.h"

#include <cctype>
#include <optional>
#include <utility>

#include "exchange/sqlite.h"
#include "joedb/base/error.h"
#include "joedb/schema/type.h"
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

// Returns the table of [INTEGER] REFERENCES table [(__id)]; nothing if `type` is not of this form.
std::optional<std::string> referenced_table(std::string_view type) {
  Sql_Tokens tokens(type);
  for (const char* integer : {"INTEGER", "INT", "BIGINT"})
    if (tokens.take(integer)) break;
  std::string table;
  if (!tokens.take("REFERENCES") || !tokens.take_name(table)) return {};
  if (tokens.take("(")) {
    std::string column;
    if (!tokens.take_name(column) || !is_same_name(column, sqlite_id_column) || !tokens.take(")"))
      return {};
  }
  if (!tokens.current().empty()) return {};
  return table;
}

}  // namespace

std::optional<Added_Column> parse_add_column(std::string_view sql) {
  Sql_Tokens tokens(sql);
  Added_Column column;
  while (tokens.take(";")) {
  }
  if (!tokens.take("ALTER") || !tokens.take("TABLE") || !tokens.take_name(column.table)) return {};
  if (tokens.take(".")) {
    column.schema = std::move(column.table);
    if (!tokens.take_name(column.table)) return {};
  }
  if (!tokens.take("ADD")) return {};
  tokens.take("COLUMN");
  if (!tokens.take_name(column.name)) return {};
  const std::size_t type = tokens.begin();
  std::size_t type_end = type;
  for (; !tokens.current().empty() && tokens.current() != ";"; tokens.advance())
    type_end = tokens.end();
  column.type = sql.substr(type, type_end - type);
  column.size = tokens.end();
  return column;
}

// Returns the type with single blanks between words, and none beside punctuation, except after ")".
static std::string without_blanks(std::string_view type) {
  std::string text;
  for (Sql_Tokens tokens(type); !tokens.current().empty(); tokens.advance()) {
    const bool is_word = is_of_word(tokens.current()[0]);
    if (is_word && !text.empty() && (is_of_word(text.back()) || text.back() == ')')) text += ' ';
    text += tokens.current();
  }
  return text;
}

// Removes `end` from the end of the text, in any case.
static bool take_end(std::string& text, std::string_view end) {
  if (text.size() < end.size() || !is_same_name(text.substr(text.size() - end.size()), end))
    return false;
  text.resize(text.size() - end.size());
  return true;
}

// Converts "(18,2)" or "(2)" behind DECIMAL or NUMERIC: the digits, and those behind the point.
static std::string decimal_type(std::string_view arguments) {
  if (!arguments.starts_with('(') || !arguments.ends_with(')')) return "";
  const std::size_t comma = arguments.find(',');
  if (comma == arguments.npos) return "decimal(0)";
  return "decimal" + std::string(1, '(').append(arguments.substr(comma + 1));
}

// Converts a type without NULL. Returns an empty text if it is unknown.
static std::string known_type(const std::string& type) {
  constexpr std::pair<const char*, const char*> types[] = {
      {"INTEGER", "int64"},  {"INT", "int64"},          {"BIGINT", "int64"},
      {"SMALLINT", "int16"}, {"TINYINT", "int8"},       {"TEXT", "string"},
      {"REAL", "float64"},   {"DOUBLE", "float64"},     {"FLOAT", "float64"},
      {"BLOB", "blob"},      {"BOOL", "boolean"},       {"BOOLEAN", "boolean"},
      {"DATE", "date"},      {"DATETIME", "timestamp"}, {"TIMESTAMP", "timestamp"},
      {"UUID", "uuid"},      {"JSON", "json"}};
  for (const auto& [name, field] : types)
    if (is_same_name(type, name)) return field;
  for (const std::string_view name : {"DECIMAL", "NUMERIC"})
    if (type.size() > name.size() && is_same_name(type.substr(0, name.size()), name))
      if (type.find(',') != type.npos || !std::islower(static_cast<unsigned char>(type[0])))
        return decimal_type(std::string_view(type).substr(name.size()));
  return type;
}

std::string field_type(const std::string& type) {
  if (const auto table = referenced_table(type)) return "references " + *table;
  std::string name = without_blanks(type);
  const bool is_optional = take_end(name, " NULL");
  std::string field = known_type(name), problem;
  if (is_optional && field != "blob") field += " optional";
  if (const auto declared = parse_declared_type(field, problem))
    return declared_type_text(declared->stored, declared->logical);
  throw Exception("a joedb file cannot have a column of the type " +
                  (type.empty() ? "that is not given" : "\"" + type + "\"") +
                  ": expected int8 ... int64, float32, float64, boolean, string, blob, TEXT, "
                  "INTEGER, REAL, DATE, TIMESTAMP, DECIMAL(18,2), another type of joedbi, or "
                  "REFERENCES table; only NULL may follow");
}

}  // namespace joedb
