#include "fuzz/sql_grammar.h"

#include "text/sql.h"

namespace joedb::testing {

namespace {

// The marks after a table of the present, and of the past.
constexpr char present_mark = '\x01', past_mark = '\x02';

bool is_small(Type_Code code) {
  return code == Type_Code::int8 || code == Type_Code::int16 || code == Type_Code::boolean;
}

}  // namespace

const std::vector<std::string>& hard_texts() {
  using namespace std::string_literals;
  static const std::vector<std::string> result = {"",
                                                  "a",
                                                  "A",
                                                  "ab",
                                                  "abc",
                                                  "b",
                                                  "5",
                                                  "05",
                                                  "5.0",
                                                  "-1",
                                                  "1e3",
                                                  " 5",
                                                  "a\0b"s,
                                                  "\0"s,
                                                  "ab\0",
                                                  "ärger",
                                                  "Ärger",
                                                  "日本",
                                                  "%",
                                                  "a_c",
                                                  "abc*",
                                                  "]",
                                                  "\xff\xfe",
                                                  "0x10",
                                                  "it's",
                                                  "\"q\"",
                                                  "null",
                                                  "-",
                                                  ":",
                                                  "a longer text",
                                                  "a longer text that is not stored in place"};
  return result;
}

std::string Sql_Question::at(std::string_view present, std::string_view past) const {
  std::string result;
  for (const char c : text) {
    if (c == present_mark)
      result += present;
    else if (c == past_mark)
      result += past;
    else
      result += c;
  }
  return result;
}

// ---- parts --------------------------------------------------------------------------------------

std::string Sql_Grammar::from(const Source& source) {
  std::string result = sql_name(source.table->name);
  if (has_moments_) {
    const std::size_t what = choices_.below(8);
    if (what == 7) result += past_mark;
    if (what == 6) result += present_mark;
  }
  return result + " AS " + source.alias;
}

// Often returns the previous column, so that conditions, groups and orders have columns in common.
std::string Sql_Grammar::column_name(const Sql_Table& table) {
  if (recent_table_ == &table && choices_.one_in(3)) return recent_column_;
  const std::size_t what = choices_.below(table.fields.size() + 1);
  recent_table_ = &table;
  recent_column_ = what == 0 ? "__id" : sql_name(table.fields[what - 1].name);
  return recent_column_;
}

std::string Sql_Grammar::columns(const std::vector<Source>& sources, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i)
    result += (i > 0 ? ", " : "") + column(choices_.one_of(sources));
  return result;
}

// Returns a column whose sum does not overflow, and is not rounded.
std::string Sql_Grammar::small(const Source& source) {
  for (const Sql_Table::Field& field : source.table->fields)
    if (is_small(field.type.code)) return source.alias + "." + sql_name(field.name);
  return source.alias + ".__id";
}

std::string Sql_Grammar::literal() {
  switch (choices_.below(8)) {
    case 0:
      return std::to_string(static_cast<int>(choices_.below(12)) - 2);
    case 1:
    case 2:
      return sql_text(choices_.one_of(hard_texts()));
    case 3:
      return choices_.word({"NULL", "x'61'", "x''", "9e999", "-9e999", "TRUE"});
    case 4:
      return choices_.word({"0.0", "1.5", "5.0", "-0.5", "1e15", "-1e30", "9223372036854775807.0",
                            "-9223372036854775808.0"});
    case 5:
      return choices_.word({"9223372036854775807", "-9223372036854775808", "127", "-128", "1000000",
                            "9007199254740993", "4294967296"});
    case 6:
      return std::string("CAST(") + choices_.word({"5", "'5'", "1.5", "x'35'", "'a'", "NULL"}) +
             " AS " + choices_.word({"TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC"}) + ")";
    default:
      return "(" + literal() + choices_.word({" + ", " || ", " * ", " - "}) + "1)";
  }
}

std::string Sql_Grammar::pattern(bool is_glob) {
  std::string result =
      choices_.word({"a", "", "ab", "A", "ä", "5", "a longer", "%", "[a-c]", "it's"});
  return sql_text(result + choices_.word(is_glob
                                             ? std::vector<const char*>{"*", "", "?", "*c", "**"}
                                             : std::vector<const char*>{"%", "", "_", "%c"}));
}

std::string Sql_Grammar::comparison() {
  return choices_.word({" = ", " < ", " <= ", " > ", " >= ", " <> ", " IS ", " IS NOT "});
}

std::string Sql_Grammar::simple_condition(const std::vector<Source>& sources) {
  const Source& source = choices_.one_of(sources);
  const char* const negation = choices_.one_in(5) ? " NOT" : "";
  switch (choices_.below(12)) {
    case 0:
    case 1:
      return column(source) + comparison() + literal();
    case 2:
      return column(source) + comparison() + column(choices_.one_of(sources));
    case 3:
      return column(source) + (choices_.one_in(2) ? " IS NOT NULL" : " IS NULL");
    case 4: {
      const std::string low = literal();
      return column(source) + negation + " BETWEEN " + low + " AND " + literal();
    }
    case 5: {
      std::string list = literal();
      for (std::size_t i = choices_.below(4); i > 0; --i) list += ", " + literal();
      return column(source) + negation + " IN (" + list + ")";
    }
    case 6:
      return column(source) + negation + " LIKE " + pattern(false) +
             (choices_.one_in(8) ? " ESCAPE 'a'" : "");
    case 7:
      return column(source) + negation + " GLOB " + pattern(true);
    case 8:
      return column(source) + " COLLATE " + choices_.word({"NOCASE", "RTRIM", "BINARY"}) +
             comparison() + literal();
    case 9:
      return source.alias + ".__id" + comparison() + literal();
    case 10: {
      const std::string left = column(source);
      const std::string right = literal();
      return "(" + left + ", " + column(source) + ")" + choices_.word({" = ", " < ", " >= "}) +
             "(" + right + ", " + literal() + ")";
    }
    default:
      return std::string(choices_.word({"+", "-", "typeof(", "length(", "abs(1) + ("})) == "+"
                 ? "+" + column(source) + comparison() + literal()
                 : "length(" + column(source) + ")" + comparison() + literal();
  }
}

std::string Sql_Grammar::condition(const std::vector<Source>& sources, int depth) {
  switch (depth > 0 ? choices_.below(8) : 0) {
    case 1:
      return "NOT (" + condition(sources, depth - 1) + ")";
    case 2:
    case 3: {
      const std::string left = condition(sources, depth - 1);
      return "(" + left + " AND " + condition(sources, depth - 1) + ")";
    }
    case 4: {
      const std::string left = condition(sources, depth - 1);
      return "(" + left + " OR " + condition(sources, depth - 1) + ")";
    }
    case 5: {
      const Source inner = any_source("s" + std::to_string(depth));
      const std::string left = column(choices_.one_of(sources));
      const std::string what = column(inner);
      const std::string table = from(inner);
      return left + (choices_.one_in(3) ? " NOT IN" : " IN") + " (SELECT " + what + " FROM " +
             table + " WHERE " + condition({inner}, depth - 1) + ")";
    }
    case 6: {
      const Source inner = any_source("e" + std::to_string(depth));
      const std::string table = from(inner);
      const std::string left = column(inner);
      const std::string right = column(choices_.one_of(sources));
      return "EXISTS (SELECT 1 FROM " + table + " WHERE " + left + " = " + right + " AND " +
             condition({inner}, depth - 1) + ")";
    }
    default:
      return simple_condition(sources);
  }
}

std::string Sql_Grammar::where(const std::vector<Source>& sources) {
  return choices_.one_in(6) ? "" : " WHERE " + condition(sources, 2);
}

// Joins tables along references, by equal values, or by any condition.
std::string Sql_Grammar::join(std::vector<Source>& sources) {
  const bool had_moments = has_moments_;
  const bool has_right = choices_.one_in(4);
  sources.push_back(any_source("j0"));
  std::string sql = from(sources[0]);
  for (std::size_t i = 1 + choices_.below(2); i > 0; --i) {
    const Source left = choices_.one_of(sources);
    Source right = any_source("j" + std::to_string(sources.size()));
    const std::string kind = has_right
                                 ? choices_.word({" RIGHT JOIN ", " FULL JOIN ", " LEFT JOIN "})
                                 : choices_.word({" JOIN ", " LEFT JOIN ", " CROSS JOIN "});
    std::string on;
    if (!left.table->fields.empty() && !choices_.one_in(3)) {
      const Sql_Table::Field& field = choices_.one_of(left.table->fields);
      const std::size_t referenced = field.type.referenced.value();
      const bool is_reference = field.type.code == Type_Code::reference;
      if (is_reference && referenced > 0 && referenced <= tables_.size())
        right.table = &tables_[referenced - 1];
      on = (is_reference ? right.alias + choices_.word({".__id", ".rowid"}) : column(right)) +
           " = " + left.alias + "." + sql_name(field.name);
      if (choices_.one_in(3)) on += " AND " + condition({left, right}, 1);
    } else {
      on = condition({left, right}, 1);
    }
    // SQLite 3.40 loses matches of a table-valued function in a RIGHT JOIN.
    has_moments_ = had_moments && kind != " RIGHT JOIN ";
    sql += kind + from(right) + " ON " + on;
    has_moments_ = had_moments;
    sources.push_back(right);
  }
  return sql;
}

std::string Sql_Grammar::order(const Source& source) {
  // The same direction for all columns, as in an index, or any directions.
  const std::string same = choices_.word({"", " DESC", "?"});
  const auto direction = [&](const std::vector<const char*>& others) {
    return same == "?" ? choices_.word(others) : same;
  };
  std::string result = " ORDER BY ";
  for (std::size_t i = choices_.below(3); i > 0; --i)
    result += column(source) + direction({"", " DESC", " NULLS LAST", " COLLATE NOCASE"}) + ", ";
  return result + source.alias + ".__id" + direction({"", " DESC"});
}

std::string Sql_Grammar::select(const Source& source, const std::string& what) {
  const std::string table = from(source);
  return "SELECT " + what + " FROM " + table + where({source});
}

std::string Sql_Grammar::grouped() {
  const Source a = any_source("a");
  const std::string by = columns({a}, 1 + choices_.below(2));
  const std::string least = column(a), most = column(a), distinct = column(a);
  std::string sql = select(a, "count(*), sum(" + small(a) + "), min(" + least + "), max(" + most +
                                  "), count(DISTINCT " + distinct + "), " + by) +
                    " GROUP BY " + by;
  if (choices_.one_in(2)) sql += " HAVING count(*) > " + std::to_string(choices_.below(4));
  return sql;
}

// Follows a column as if it were a reference, in at most four steps.
std::string Sql_Grammar::recursive() {
  const Source a = any_source("a"), b = any_source("b");
  const std::string start = select(a, "a.__id, 0");
  const std::string next = column(b);
  return "WITH RECURSIVE c(id, n) AS (" + start + " UNION SELECT " + next + ", n + 1 FROM " +
         from(b) + " JOIN c ON b.__id = c.id WHERE n < 4) SELECT id, n FROM c";
}

// ---- statements ---------------------------------------------------------------------------------

Sql_Question Sql_Grammar::question() {
  const std::size_t what = choices_.below(14);
  const Source a = any_source("a");
  switch (what) {
    case 0:
    case 1:
      return {select(a, columns({a}, 1 + choices_.below(4))), false};
    case 2:
    case 3: {
      std::string sql = select(a, columns({a}, 2)) + order(a);
      if (choices_.one_in(2)) sql += " LIMIT " + std::to_string(choices_.below(20));
      return {sql, true};
    }
    case 4:
    case 5: {
      std::vector<Source> sources;
      const std::string joined = join(sources);
      return {"SELECT " + columns(sources, 3) + " FROM " + joined + where(sources), false};
    }
    case 6:
      return {grouped(), false};
    case 7:
      return {select(a, "DISTINCT " + columns({a}, 1 + choices_.below(2))), false};
    case 8: {
      const Source b = any_source("b");
      const std::string first = select(a, columns({a}, 2));
      const std::string op = choices_.word({" UNION ALL ", " UNION ", " EXCEPT ", " INTERSECT "});
      return {first + op + select(b, columns({b}, 2)), false};
    }
    case 9: {
      const std::string by = column(a);
      const std::string window = " OVER (PARTITION BY " + by + order(a) + ")";
      return {select(a, "a.__id, row_number()" + window + ", sum(" + small(a) + ")" + window +
                            ", lag(" + column(a) + ")" + window + ", dense_rank()" + window),
              false};
    }
    case 10: {
      const Source b = any_source("b");
      const std::string left = column(b), right = column(a), most = column(b);
      const std::string counted = from(b), searched = from(b);
      return {select(a, "a.__id, (SELECT count(*) FROM " + counted + " WHERE " + left + " = " +
                            right + "), (SELECT max(" + most + ") FROM " + searched + " WHERE " +
                            condition({a, b}, 1) + ")"),
              false};
    }
    case 11:
      return {
          "SELECT count(*), min(c), max(c), count(c) FROM (" + select(a, column(a) + " AS c") + ")",
          false};
    case 12:
      return {recursive(), false};
    default:
      return {"WITH c AS " +
                  std::string(choices_.word({"", "MATERIALIZED ", "NOT MATERIALIZED "})) + "(" +
                  select(a, "a.__id AS i, " + column(a) + " AS v") +
                  ") SELECT x.i, y.v FROM c AS x JOIN c AS y ON x.v = y.v",
              false};
  }
}

std::string Sql_Grammar::new_values(const Sql_Table& table) {
  std::string names, values;
  const std::size_t count = 1 + choices_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    names += (i > 0 ? ", " : "") + column_name(table);
    values += (i > 0 ? ", " : "") + literal();
  }
  return "(" + names + ") VALUES (" + values + ")";
}

std::string Sql_Grammar::change() {
  const std::size_t what = choices_.below(16);
  const Source a = any_source("a");
  const std::string name = sql_name(a.table->name);
  const std::string returning = choices_.one_in(6) ? " RETURNING *" : "";
  has_moments_ = false;
  switch (what) {
    case 0:
    case 1:
      return "INSERT INTO " + name + new_values(*a.table) + returning;
    case 2:
      return "INSERT INTO " + name + " DEFAULT VALUES" + returning;
    case 3: {
      const Source b = any_source("b");
      const std::string to = column_name(*a.table);
      return "INSERT INTO " + name + "(" + to + ") " + select(b, column(b)) + " LIMIT 20";
    }
    case 4:
    case 5:
    case 6: {
      const std::string to = column_name(*a.table);
      const std::string value = choices_.one_in(3) ? column_name(*a.table) : literal();
      return "UPDATE " + name + " AS a SET " + to + " = " + value + where({a}) + returning;
    }
    case 7:
    case 8:
      return "DELETE FROM " + name + " AS a" + where({a}) + returning;
    case 9:
      return std::string(choices_.word({"REPLACE INTO ", "INSERT OR IGNORE INTO ",
                                        "INSERT OR ROLLBACK INTO ", "INSERT OR FAIL INTO "})) +
             name + new_values(*a.table);
    case 10: {
      const Source b = any_source("b");
      const std::string to = column_name(*a.table), value = column(b);
      return "UPDATE " + name + " AS a SET " + to + " = " + value + " FROM " + from(b) +
             where({a, b});
    }
    case 11:
      return choices_.word({"BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"});
    case 12:
      return choices_.word({"COMMIT", "ROLLBACK"});
    case 13:
      return std::string(choices_.word({"SAVEPOINT ", "RELEASE ", "ROLLBACK TO "})) +
             choices_.word({"p", "q"});
    case 14:
      return "UPDATE OR REPLACE " + name + " SET __id = " + literal();
    default:
      return "DELETE FROM " + name;
  }
}

std::string Sql_Grammar::creation(const std::string& name, const std::vector<std::string>& files) {
  std::string result =
      std::string("CREATE VIRTUAL TABLE ") +
      choices_.word({"temp.", "", "main.", "IF NOT EXISTS ", "IF NOT EXISTS temp."}) + name +
      choices_.word({" USING joedb", " USING JOEDB", " USING \"joedb\""});
  const std::size_t count = choices_.below(5);
  if (count == 4 && choices_.one_in(2)) return result;
  result += '(';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) result += choices_.word({", ", ",", " , ", ",,"});
    std::string word;
    switch (choices_.below(4)) {
      case 0:
      case 1:
        word = i == 0 ? choices_.one_of(files) : choices_.one_of(tables_).name;
        break;
      case 2:
        word = choices_.one_of(hard_texts());
        break;
      default:
        word = choices_.one_of(files);
    }
    const std::string opening = choices_.word({"'", "\"", "`", "[", ""});
    result += opening + word + (choices_.one_in(8) ? "" : opening == "[" ? "]" : opening);
  }
  return result + choices_.word({")", "", "))", " -- )"});
}

}  // namespace joedb::testing
