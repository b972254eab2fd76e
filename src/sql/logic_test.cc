#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "commands/interpreter.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"
#include "text/dump.h"
#include "text/sql.h"
#include "tools/compiler/index_file.h"

// Runs the scripts in tests/sql/ (see tests/sql/README.md). Each runs on the tables of a joedb file
// and on SQLite's own tables, which have the same content, with and without indexes.

namespace joedb {
namespace {

using testing::Sql_Session;

// Returns true under ./dev golden --update. The results of SQLite's own tables are then written to
// the scripts.
bool is_update() {
  const char* const update = std::getenv("JOEDB_UPDATE_GOLDEN");
  return update != nullptr && std::string_view(update) == "1";
}

std::string md5(const std::string& text) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), bytes, &size, EVP_md5(), nullptr);
  std::string result;
  char digits[3];
  for (unsigned i = 0; i < size; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(bytes[i]));
    result += digits;
  }
  return result;
}

// ---- a file -------------------------------------------------------------------------------------

struct Record {
  enum class Kind { statement, query, reopen };
  Kind kind = Kind::statement;
  std::size_t line = 0;                 // the number of its first line, from 0
  std::vector<std::string> conditions;  // for example "skipif joedb"
  std::vector<std::string> words;
  std::string sql;
  // For a query: the lines [begin, end) of the script that have the expected result.
  std::size_t result_begin = 0, result_end = 0;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Script {
  std::vector<std::string> lines;
  std::string content, indexes;  // joedbi commands, and a .joedbc file
  std::vector<Record> records;

  Script(const std::string& folder, const std::string& name) {
    const std::string path = folder + name + ".test";
    std::ifstream in(path);
    EXPECT_TRUE(in.good()) << path;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].empty() || lines[i][0] == '#') continue;
      Record record{.line = i, .conditions = {}, .words = words_of(lines[i]), .sql = {}};
      const std::string& first = record.words[0];
      const auto block = [&] {
        std::string text;
        for (++i; i < lines.size() && !lines[i].empty() && lines[i] != "----"; ++i)
          text += lines[i] + "\n";
        return text;
      };
      if (first == "skipif" || first == "onlyif") {
        conditions.push_back(lines[i]);
        continue;
      }
      if (first == "content" && record.words.size() > 1) {
        content += read(folder + record.words[1] + ".joedbi");
        indexes += read(folder + record.words[1] + ".joedbc");
      } else if (first == "content") {
        content += block();
      } else if (first == "indexes") {
        indexes += block();
      } else {
        record.conditions = std::move(conditions);
        conditions.clear();
        if (first == "reopen") {
          record.kind = Record::Kind::reopen;
        } else if (first == "query") {
          record.kind = Record::Kind::query;
          record.sql = block();
          record.result_begin = i + 1;
          while (i < lines.size() && !lines[i].empty()) ++i;
          record.result_end = i;
        } else if (first == "statement") {
          record.sql = block();
        } else {
          ADD_FAILURE() << path << ":" << i + 1 << ": " << lines[i];
        }
        records.push_back(std::move(record));
      }
    }
  }
};

// ---- a database ---------------------------------------------------------------------------------

struct Backend {
  const char* name;
  bool is_joedb, has_indexes;
};

// The content of a script as a joedb file.
class Source {
 public:
  explicit Source(const Script& script) {
    directory_.write("a.joedbc", script.indexes);
    File file(path(), Open_Mode::create_new);
    Writable_Database db(file);
    run_text(script.content, db);
    db.soft_checkpoint();
  }

  // Opens (joedb) or creates (SQLite) the tables for a new connection.
  void open(Sql_Session& session, const Backend& backend) {
    if (backend.is_joedb) {
      session.rows("SELECT joedb_open('" + path() + "'" +
                   (backend.has_indexes ? ", '" + options() + "'" : "") + ")");
      return;
    }
    File file(path(), Open_Mode::read_existing);
    Readonly_Journal journal(file);
    Database database(Deleted_Values::reset);
    load(database, journal);
    std::ostringstream sql;
    write_sql(database, sql);
    session.rows(sql.str());
    for (const Table* table : live_tables(database)) write_blobs(session, *table, file);
    if (!backend.has_indexes) return;
    for (const Index_Definition& index : read_indexes(options(), file)) {
      const Table& table = database.table(index.table);
      std::string names;
      for (const Field_Id field : index.fields)
        names += (names.empty() ? "" : ", ") + sql_name(table.find_field(field)->name);
      session.rows(std::string("CREATE ") + (index.is_unique ? "UNIQUE " : "") + "INDEX " +
                   sql_name(index.name) + " ON " + sql_name(table.name()) + "(" + names + ")");
    }
  }

 private:
  std::string path() const { return directory_.file("a.joedb"); }
  std::string options() const { return directory_.file("a.joedbc"); }
  // Writes the blobs, which write_sql omits.
  static void write_blobs(Sql_Session& session, const Table& table, const File& file) {
    std::uint16_t id = 0;
    for (const Field& field : table.fields()) {
      ++id;
      if (!field.column || field.column->type().code != Type_Code::blob) continue;
      const Column<Blob>& column = table.column<Blob>(Field_Id(id));
      for (index_t record = 0; record < table.records().size(); ++record) {
        if (!table.is_used(Record_Id(record)) || column.get(record).is_null()) continue;
        std::string sql =
            "UPDATE " + sql_name(table.name()) + " SET " + sql_name(field.name) + " = ";
        append_sql_bytes(sql, file.read_blob(column.get(record)));
        session.rows(sql + " WHERE __id = " + std::to_string(record));
      }
    }
  }

  testing::Temporary_Directory directory_;
};

// ---- results ------------------------------------------------------------------------------------

// Formats a value as a line. Type I is an integer. Type R is a number with three decimals. Type T
// is a text in which bytes other than printable ASCII are replaced by @.
std::string shown(sqlite3_stmt* statement, int column, char type) {
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return "NULL";
  if (type == 'I') return std::to_string(sqlite3_column_int64(statement, column));
  if (type == 'R') {
    char buffer[400];
    std::snprintf(buffer, sizeof buffer, "%.3f", sqlite3_column_double(statement, column));
    return buffer;
  }
  const void* const data = sqlite3_column_blob(statement, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  if (size == 0) return "(empty)";
  std::string text(static_cast<const char*>(data), size);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '@';
  return text;
}

struct Result {
  std::vector<std::vector<std::string>> rows;
  std::string error;
  bool has_types = true;  // the number of columns matches the types
};

Result run(Sql_Session& session, const std::string& sql, const std::string& types) {
  Result result;
  sqlite3* const connection = session.connection();
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr);
  const auto columns = static_cast<std::size_t>(sqlite3_column_count(statement));
  result.has_types = columns == types.size();
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code != SQLITE_ROW || !result.has_types) continue;
    std::vector<std::string> row;
    for (std::size_t i = 0; i < columns; ++i)
      row.push_back(shown(statement, static_cast<int>(i), types[i]));
    result.rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) result.error = sqlite3_errmsg(connection);
  sqlite3_finalize(statement);
  return result;
}

// Returns the lines for a result in a script: either its values, or their number and hash.
std::vector<std::string> lines_of(Result result, const std::string& order, bool is_hashed) {
  if (order == "rowsort") std::sort(result.rows.begin(), result.rows.end());
  std::vector<std::string> lines;
  for (const auto& row : result.rows) lines.insert(lines.end(), row.begin(), row.end());
  if (order == "valuesort") std::sort(lines.begin(), lines.end());
  if (!is_hashed) return lines;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return {std::to_string(lines.size()) + " values hashing to " + md5(text)};
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// ---- the test -----------------------------------------------------------------------------------

// A result with more values is written as a hash.
constexpr std::size_t max_values = 80;

constexpr const char* scripts[] = {"select",   "joins",       "aggregates", "subqueries", "windows",
                                   "compound", "comparisons", "values",     "views",      "writes"};
constexpr Backend backends[] = {{"sqlite", false, false},
                                {"sqlite_with_indexes", false, true},
                                {"joedb", true, false},
                                {"joedb_with_indexes", true, true}};

struct Case {
  std::string script;
  Backend backend;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.script; }
};

class Sql_Logic : public ::testing::TestWithParam<Case> {
 protected:
  Sql_Logic()
      : path_(JOEDB_SOURCE_DIR "/tests/sql/" + GetParam().script + ".test"),
        script_(JOEDB_SOURCE_DIR "/tests/sql/", GetParam().script),
        source_(script_),
        updates_(is_update() && !backend().is_joedb && backend().has_indexes) {
    reopen();
  }

  const Backend& backend() const { return GetParam().backend; }

  void reopen() {
    if (session_ && !backend().is_joedb) return;
    session_ = std::make_unique<Sql_Session>();
    source_.open(*session_, backend());
  }

  bool is_meant(const Record& record) const {
    return std::all_of(record.conditions.begin(), record.conditions.end(), [&](const auto& line) {
      const auto words = words_of(line);
      const bool is_one = words[1] == (backend().is_joedb ? "joedb" : "sqlite") ||
                          (words[1] == "indexes" && backend().has_indexes);
      return is_one == (words[0] == "onlyif");
    });
  }

  void run_statement(const Record& record) {
    const Result result = run(*session_, record.sql, "");
    const bool fails = record.words.at(1) == "error";
    EXPECT_EQ(!result.error.empty(), fails) << result.error;
    const std::string& line = script_.lines[record.line];
    const std::size_t place = line.find("error ");
    if (place != line.npos && fails) {
      EXPECT_NE(result.error.find(line.substr(place + 6)), std::string::npos) << result.error;
    }
  }

  void run_query(const Record& record) {
    const Result result = run(*session_, record.sql, record.words.at(1));
    ASSERT_EQ(result.error, "");
    EXPECT_TRUE(result.has_types) << "another number of columns";
    const auto begin = script_.lines.begin();
    const std::vector<std::string> expected(
        begin + static_cast<std::ptrdiff_t>(record.result_begin),
        begin + static_cast<std::ptrdiff_t>(record.result_end));
    const std::string order = record.words.size() > 2 ? record.words[2] : "nosort";
    const bool is_hashed =
        expected.size() == 1 && expected[0].find(" values hashing to ") != std::string::npos;
    const std::size_t values = result.rows.size() * record.words.at(1).size();
    const auto found = lines_of(result, order, updates_ ? values > max_values : is_hashed);
    if (updates_) {
      updated_[record.result_begin] = found;
      return;
    }
    EXPECT_EQ(text_of(found), text_of(expected));
    if (record.words.size() > 3) {
      const auto [place, is_first] = labels_.try_emplace(record.words[3], found);
      EXPECT_EQ(text_of(place->second), text_of(found)) << "another result with this label";
    }
  }

  void run_all() {
    for (const Record& record : script_.records) {
      if (!is_meant(record)) continue;
      SCOPED_TRACE(path_ + ":" + std::to_string(record.line + 1) + "\n" + record.sql);
      switch (record.kind) {
        case Record::Kind::reopen:
          reopen();
          break;
        case Record::Kind::statement:
          run_statement(record);
          break;
        case Record::Kind::query:
          run_query(record);
          break;
      }
    }
    if (updates_) write();
  }

  // Writes the script with the new results.
  void write() {
    std::vector<std::string> lines;
    std::size_t next = 0;
    const auto copy_to = [&](std::size_t end) {
      for (; next < end; ++next) lines.push_back(script_.lines[next]);
    };
    for (const Record& record : script_.records) {
      const auto found = updated_.find(record.result_begin);
      if (record.kind != Record::Kind::query || found == updated_.end()) continue;
      copy_to(record.result_begin);
      lines.insert(lines.end(), found->second.begin(), found->second.end());
      next = record.result_end;
    }
    copy_to(script_.lines.size());
    std::ofstream(path_) << text_of(lines);
  }

 private:
  const std::string path_;
  const Script script_;
  Source source_;
  const bool updates_;
  std::unique_ptr<Sql_Session> session_;
  std::map<std::string, std::vector<std::string>> labels_;
  std::map<std::size_t, std::vector<std::string>> updated_;
};

TEST_P(Sql_Logic, GivesTheResultsOfTheFile) { run_all(); }

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const char* const script : scripts)
    for (const Backend& backend : backends) result.push_back({script, backend});
  return result;
}

INSTANTIATE_TEST_SUITE_P(Files, Sql_Logic, ::testing::ValuesIn(cases()), [](const auto& parameter) {
  return parameter.param.script + "_in_" + parameter.param.backend.name;
});

}  // namespace
}  // namespace joedb
