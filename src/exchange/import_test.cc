#include "exchange/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "exchange/csv_reader.h"
#include "exchange/export.h"
#include "exchange/jsonl_reader.h"
#include "exchange/type_guess.h"
#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "support/arbitrary_values.h"
#include "support/error_of.h"
#include "support/property.h"
#include "support/temporary_directory.h"
#include "text/dump.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::expect_property;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::Temporary_Directory;

enum class Format { csv, jsonl };

class Import_Test : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // Returns all rows of a file, with | between values. A null or missing value is -.
  std::vector<std::string> rows(std::string_view text, const Csv_Format& format = {}) {
    Input input(write("in.csv", text), 1 << 20);
    Csv_Reader reader(input, format);
    return rows_of(reader);
  }
  std::vector<std::string> json_rows(std::string_view text) {
    Input input(write("in.jsonl", text), 1 << 20);
    Jsonl_Reader reader(input);
    return rows_of(reader);
  }
  static std::vector<std::string> rows_of(Row_Source& source) {
    std::vector<std::string> result;
    std::string buffer;
    while (source.next()) {
      std::string& row = result.emplace_back();
      for (const Cell& cell : source.cells()) {
        if (!row.empty()) row += '|';
        row += cell.kind() <= Cell::Kind::null ? "-" : read_cell<std::string_view>(cell, buffer);
      }
    }
    return result;
  }

  // Returns the error of f(), without the directory of the file.
  template <class F>
  std::string error_in(F f) {
    std::string text = error_of([&] { f(); });
    const std::string prefix = folder_.path() + "/";
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
    return text;
  }

  Import_Counts import(Format format, const std::string& text, Writable_Database& db,
                       const Import_Settings& settings) {
    Input input(write(format == Format::csv ? "in.csv" : "in.jsonl", text), 1 << 24);
    std::unique_ptr<Row_Source> source;
    if (format == Format::csv)
      source = std::make_unique<Csv_Reader>(input, Csv_Format());
    else
      source = std::make_unique<Jsonl_Reader>(input);
    const Import_Plan plan = plan_import(*source, db.get_database(), settings);
    const Import_Counts counts = import_rows(*source, db, plan, [] {});
    db.soft_checkpoint();
    return counts;
  }

  Temporary_Directory folder_;
};

std::string exported(Format format, const Database& database, const Table& table,
                     const Abstract_File& file, const Export_Settings& settings = {}) {
  std::ostringstream out;
  (format == Format::csv ? write_csv : write_jsonl)(database, table, file, settings, out, [] {});
  return out.str();
}

// The same for plain types.
void make_plain_schema(Writable_Database& db, const std::vector<Type_Code>& types) {
  db.write(Create_Table{"t"});
  int number = 0;
  for (const Type_Code code : types) {
    const std::string name = "f" + std::to_string(++number);
    const Table_Id referenced(code == Type_Code::reference ? 1 : 0);
    db.write(Add_Field{Table_Id(1), name, {code, referenced}});
  }
}

// Creates a table with one field of each of these types.
void make_schema(Writable_Database& db, const std::vector<Declared_Type>& types) {
  db.write(Create_Table{"t"});
  int number = 0;
  for (const Declared_Type& type : types) {
    const std::string name = "f" + std::to_string(++number);
    const Table_Id referenced(type.stored == Type_Code::reference ? 1 : 0);
    add_field(db, Add_Field{Table_Id(1), name, {type.stored, referenced}}, type.logical);
  }
}

Declared_Type declared(std::string_view text) {
  std::string problem;
  return parse_declared_type(text, problem).value();
}

// ---- CSV ----------------------------------------------------------------------------------------

TEST_F(Import_Test, ReadsCsvAsInRfc4180) {
  EXPECT_THAT(rows("a,b\r\n1,2\r\n\"x,\"\"y\"\"\",\"two\r\nlines\"\r\n"),
              ElementsAre("1|2", "x,\"y\"|two\r\nlines"));
  EXPECT_THAT(rows("a,b\n,\"\"\n\n\n3, 4"), ElementsAre("-|", "3| 4"));
  EXPECT_THAT(rows("\xef\xbb\xbf\"a\"\nx\n"), ElementsAre("x"));
  EXPECT_THAT(rows("a;b\n1;2\n", {.separator = ';'}), ElementsAre("1|2"));
  EXPECT_THAT(rows("1,2\n", {.columns = {"a", "b"}}), ElementsAre("1|2"));
  EXPECT_THAT(rows("a,b\n 1 ,\" 2 \"\n", {.trims = true}), ElementsAre("1| 2 "));
  EXPECT_THAT(rows(std::string_view("a\n\"\0\xff\"\n", 7)), ElementsAre(std::string("\0\xff", 2)));
}

TEST_F(Import_Test, ReadsCsvAsItIsFound) {
  EXPECT_THAT(rows("a,b,c\n1\n2,3\n", {.fills = true}), ElementsAre("1|-|-", "2|3|-"));
  EXPECT_THAT(rows("# from x\na,b\n#1,2\n3,4 # 5\n", {.comment = "#"}), ElementsAre("3|4 # 5"));
  EXPECT_THAT(rows("a,b\nNA,n/a\nNAN,\"NA\"\n", {.missing = {"NA", "n/a"}}),
              ElementsAre("-|-", "NAN|-"));
  EXPECT_THAT(rows("sep=;\r\na;b\r\n1;2\r\n"), ElementsAre("1|2"));
  EXPECT_THAT(rows("sep=;\n1;2\n", {.columns = {"a", "b"}}), ElementsAre("1|2"));
  EXPECT_THAT(rows("sep=,b\n1,2\n"), ElementsAre("1|2"));
  EXPECT_THAT(rows("sep=;\n1\n", {.separator = ','}), ElementsAre("1"));
  EXPECT_THAT(rows("sep=;\na;b\n1;2\n", {.separator = ';'}), ElementsAre("1|2"));
}

TEST_F(Import_Test, SaysWhereACsvFileIsWrong) {
  const auto error = [&](std::string_view text) { return error_in([&] { rows(text); }); };
  EXPECT_THAT(error("a,b\n1,2\nx\"y,2\n"), StartsWith("in.csv:3:2: a quote in a value"));
  EXPECT_THAT(error("a,b\n\"é\"y,2\n"), StartsWith("in.csv:2:4: separator or end of line"));
  EXPECT_THAT(error("a,b\n1,\"2\n3\n"),
              StartsWith("in.csv:2:3: column b: the quote that opens here is not closed"));
  EXPECT_EQ(error("a,b\n\"1\n2\",3,4\n"), "in.csv:3:6: 2 values expected, got 3");
  EXPECT_EQ(error("a,b\n1\n"),
            "in.csv:2:1: 2 values expected, got 1; --fill takes the others as missing");
  EXPECT_THAT(error("a\n1\r2\n"), StartsWith("in.csv:2:1: a carriage return"));
  EXPECT_THAT(error(std::string(1 << 17, ',')), HasSubstr("there can be at most 65535 columns"));
  EXPECT_EQ(error(""), "in.csv: the file is empty; a header is expected");
  EXPECT_THAT(error("a\n\"" + std::string(1 << 20, 'x')),
              HasSubstr("has more than 1048576 bytes: is a quote not closed?"));
}

// ---- JSON lines ---------------------------------------------------------------------------------

TEST_F(Import_Test, ReadsJsonLines) {
  EXPECT_THAT(
      json_rows("{\"a\": 1, \"b\": true}\r\n\n {\"b\":null,\"a\":-2.5,\"c\":\"\\u00e9\\n\"}"),
      ElementsAre("1|true", "-2.5|-|é\n"));
  EXPECT_THAT(json_rows("{\"a\": {\"base64\": \"/wA=\"}}"), ElementsAre(std::string("\xff\0", 2)));
  EXPECT_THAT(json_rows("{\"a\": {\"b\": [1, 2.50, \"\\n\", {}, []], \"c\": null}, \"d\": []}"),
              ElementsAre(R"({"b":[1,2.50,"\n",{},[]],"c":null}|[])"));
  EXPECT_THAT(json_rows("{\"a\": {\"base64\": \"/wA=\", \"b\": 1}}"),
              ElementsAre(R"({"base64":"/wA=","b":1})"));
  EXPECT_THAT(json_rows("{\"a\": 9223372036854775807, \"b\": 18446744073709551615}"),
              ElementsAre("9223372036854775807|18446744073709551615"));
}

TEST_F(Import_Test, SaysWhereJsonLinesAreWrong) {
  const auto error = [&](std::string_view text) { return error_in([&] { json_rows(text); }); };
  EXPECT_THAT(error("[{\"a\": 1}]\n"), HasSubstr("jq -c '.[]' makes such lines"));
  EXPECT_THAT(error("[\n  {\"a\": 1}\n]\n"),
              StartsWith("in.jsonl:1: this is JSON over several lines"));
  EXPECT_THAT(error("{\"a\": {\"base64\": \"?\"}}"), HasSubstr("this is not base64"));
  EXPECT_THAT(error("{\"a\": 1, \"a\": 2}"), HasSubstr("the key comes twice"));
  EXPECT_THAT(error("[1]"), HasSubstr("an object in each line expected"));
  EXPECT_THAT(error("7"), HasSubstr("an object in each line expected"));
  EXPECT_THAT(error("{\"a\": 1} x"), StartsWith("in.jsonl:1:10: this is not JSON: "));
  EXPECT_THAT(error("{\"a\": \"\xff\"}"), HasSubstr("this is not JSON: "));
  EXPECT_THAT(error("{\"a\": 1e999}"), HasSubstr("In quotes, it is imported as a text"));
}

// ---- types --------------------------------------------------------------------------------------

TEST(Type_Guess_Test, FindsTheTypeThatFitsAllWords) {
  const auto guess = [](const std::vector<const char*>& words, bool reads_times = false) {
    Type_Guess result;
    for (const char* word : words) result.add(Cell::of(Cell::Kind::word, word));
    return type_name(result.type(reads_times));
  };
  EXPECT_EQ(guess({"1", "", "-7"}), "int32");
  EXPECT_EQ(guess({"1", "2147483648"}), "int64");
  EXPECT_EQ(guess({"1", "2.5", "nan", "1e+300"}), "float64");
  EXPECT_EQ(guess({"nan", "inf"}), "string");
  EXPECT_EQ(guess({"true", "false"}), "boolean");
  EXPECT_EQ(guess({"true", "1"}), "string");
  EXPECT_EQ(guess({"01", "2"}), "string");
  EXPECT_EQ(guess({"-0.5", "0"}), "float64");
  EXPECT_EQ(guess({"99999999999999999999"}), "string");
  EXPECT_EQ(guess({"1.5", "99999999999999999999"}), "string");
  EXPECT_EQ(guess({"9007199254740993", "0.5"}), "string");  // a float64 would lose a digit
  EXPECT_EQ(guess({"1234567.89", "0.0001", "1e-05", "1e+16", "-0.0", "5.0"}), "float64");
  EXPECT_EQ(guess({"2026-01-31", "2026-01-31T12:00:00Z"}), "string");
  EXPECT_EQ(guess({"2026-01-31", "2026-01-31T12:00:00Z"}, true), "int64");
  EXPECT_EQ(guess({"2026-01-31", "x"}, true), "string");
  EXPECT_EQ(guess({"", ""}), "string");
  EXPECT_EQ(guess({}), "string");
}

TEST(Type_Guess_Test, PlainTypesMayHaveNoMissingValues) {
  const auto guess = [](const std::vector<const char*>& words) {
    Type_Guess result;
    for (const char* word : words) result.add(Cell::of(Cell::Kind::word, word));
    return type_name(result.type(false, true));
  };
  EXPECT_EQ(guess({"1", "-7"}), "float64");
  EXPECT_EQ(guess({"1", "2.5", "nan"}), "float64");
  EXPECT_EQ(guess({"9007199254740993"}), "string");
  EXPECT_EQ(guess({"1", "2.0"}), "string");
  EXPECT_EQ(guess({"true"}), "string");
}

std::string declared_guess(const std::vector<Cell>& cells, std::int64_t missing) {
  Type_Guess guess;
  for (const Cell& cell : cells) guess.add(cell);
  const Declared_Type type = guess.declared_type(false, missing);
  return declared_type_text(type.stored, type.logical);
}

TEST(Type_Guess_Test, FindsLogicalTypes) {
  const auto guess = [](const std::vector<const char*>& words, std::int64_t missing = 0) {
    std::vector<Cell> cells;
    for (const char* word : words) cells.push_back(Cell::of(Cell::Kind::word, word));
    return declared_guess(cells, missing);
  };
  EXPECT_EQ(guess({"2026-01-31", "1969-12-31"}), "date");
  EXPECT_EQ(guess({"2026-01-31", ""}, 1), "date optional");
  for (const char* no_date :
       {"2026-02-30", "2026-1-31", "20260131", " 026-01-31", "2026-01-31T00:00:00Z"})
    EXPECT_NE(guess({"2026-01-31", no_date}), "date") << no_date;
  EXPECT_EQ(guess({"2026-01-31T12:00:00Z"}), "timestamp(s)");
  EXPECT_EQ(guess({"2026-01-31 12:00:00", "2026-01-31 23:59:59"}), "timestamp(s)");
  EXPECT_EQ(guess({"2026-01-31T12:00:00.120Z", ""}, 1), "timestamp(ms) optional");
  EXPECT_EQ(guess({"2026-01-31T12:00:00.123456"}), "timestamp");
  EXPECT_EQ(guess({"2026-01-31T12:00:00.123456789Z"}), "timestamp(ns)");
  for (const char* other : {"2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00.5Z",
                            "2026-01-31T12:00:00.000Z", "2026-01-31T12:00Z", "2026-01-31T24:00:00Z",
                            "2026-01-31T12:00:00+01:00", "2026-01-31"})
    EXPECT_EQ(guess({"2026-01-31T12:00:00Z", other}), "string") << other;
  EXPECT_EQ(guess({"12.50", "3.99", "-0.01"}), "decimal(2)");
  EXPECT_EQ(guess({"1234567890123456.78"}), "decimal(2)");
  EXPECT_EQ(guess({"12.50", ""}, 1), "decimal(2) optional");
  EXPECT_EQ(guess({"12.25", "3.99"}), "float64");
  for (const char* other : {"12.5", "12", "012.50", "-0.00", "1e2.00", "12.5x", ".50", "12.",
                            "12345678901234567.89", "1.2.3"})
    EXPECT_EQ(guess({"12.50", other}), "string") << other;
  EXPECT_EQ(guess({"1", ""}, 1), "int32 optional");
  EXPECT_EQ(guess({"-2147483648", ""}, 1), "int64 optional");
  EXPECT_EQ(guess({"-2147483648"}), "int32");
  EXPECT_EQ(guess({"-9223372036854775808", ""}, 1), "string");
  EXPECT_EQ(guess({"true", ""}, 1), "boolean optional");
  EXPECT_EQ(guess({"0.5", ""}, 1), "float64");
  EXPECT_EQ(guess({"x", ""}, 1), "string");
  EXPECT_EQ(guess({"x", ""}, 2), "string optional");  // one is null
  EXPECT_EQ(guess({"x", "", "\xff"}, 2), "string");
  EXPECT_EQ(guess({}, 3), "string");
}

TEST(Type_Guess_Test, FindsLogicalTypesOfJsonValues) {
  const auto text = [](const char* value) { return Cell::of(Cell::Kind::text, value); };
  const auto nested = [](const char* value) { return Cell::of(Cell::Kind::json, value); };
  EXPECT_EQ(declared_guess({Cell::of(std::int64_t{1}), Cell::null()}, 1), "int32 optional");
  EXPECT_EQ(declared_guess({Cell::of(true), Cell::null()}, 1), "boolean optional");
  EXPECT_EQ(declared_guess({text("2026-01-31")}, 2), "date optional");
  EXPECT_EQ(declared_guess({text("2026-01-31"), text("")}, 0), "string");
  EXPECT_EQ(declared_guess({text("1.50")}, 0), "string");
  EXPECT_EQ(declared_guess({Cell::of(1.5).written_as("1.50")}, 0), "float64");
  EXPECT_EQ(declared_guess({nested("[1]"), nested("{}")}, 1), "json optional");
  EXPECT_EQ(declared_guess({nested("[1]"), text("x")}, 0), "string");
  EXPECT_EQ(declared_guess({text("x"), Cell::null()}, 1), "string");
  EXPECT_EQ(declared_guess({text("x"), text(""), Cell::null()}, 1), "string optional");
}

TEST(Type_Guess_Test, FindsNoTypeThatWouldChangeTheText) {
  const auto guess = [](const std::vector<const char*>& words) {
    Type_Guess result;
    for (const char* word : words) result.add(Cell::of(Cell::Kind::word, word));
    return std::string(type_name(result.type(false))) + ' ' +
           std::string(type_name(result.similar_type()));
  };
  const std::string none(type_name(Type_Code::none));
  for (const char* word : {"NO", "yes", "True", "FALSE"})
    EXPECT_EQ(guess({word}), "string boolean");
  for (const char* word : {"1.10", "1E5", "12E12", "1e5", ".5", "5.", "1e300", "1e-5", "0.10",
                           "0.1000000000000000055", "12345678901234567890.5", "1.5e3"})
    EXPECT_EQ(guess({word}), "string float64") << word;
  for (const char* word : {"007", "-0", "00"}) EXPECT_EQ(guess({word}), "string int64") << word;
  for (const char* word :
       {"nan(12)", "infinity", "NaN", "+5", "0x10", "1,5", "99999999999999999999"})
    EXPECT_EQ(guess({word}), "string " + none) << word;
  EXPECT_EQ(guess({"NaN", "1.5"}), "string float64");
  EXPECT_EQ(guess({"2", "2.0", "2.1"}), "string float64");
  EXPECT_EQ(guess({"2", "2.1"}), "float64 float64");
}

// For random words, whatever type is guessed, an export must return the same words. The exceptions
// are 2 among floats, which becomes 2.0, and nan among floats, which is a missing value.
TEST_F(Import_Test, GivesBackTheTextsOfNewTables) {
  expect_property(
      [&] {
        const auto word = rc::gen::oneOf(
            rc::gen::map(rc::gen::arbitrary<std::int32_t>(),
                         [](std::int32_t n) { return std::to_string(n); }),
            rc::gen::map(
                rc::gen::inRange(0, 2000),
                [](int n) { return std::to_string(n / 100) + '.' + std::to_string(n % 100); }),
            rc::gen::element<std::string>(
                "true", "false", "yes", "NO", "nan", "NaN", "inf", "1e5", "1e+20", "1e-7", "-0",
                "-0.0", "007", "5.0", "1.10", "x", "9007199254740993", "12345678901234567890.5",
                "1234567.89", "nan(12)", "TRUE", "0.1", "+1", "Infinity", "2026-01-31",
                "2026-01-31T12:00:00Z", "0.10", "12.50", "-0.00"));
        const auto words = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(word));
        std::string text = "a\n";
        for (const std::string& w : words) text += w + '\n';
        Memory_File file;
        Writable_Database db(file);
        import(Format::csv, text, db, {.table = "t"});
        const Table& table = db.get_database().table(Table_Id(1));
        std::istringstream out(exported(Format::csv, db.get_database(), table, file));
        std::string line;
        std::getline(out, line);
        const bool has_floats =
            table.find_field(Field_Id(1))->column->type().code == Type_Code::float64;
        for (const std::string& w : words) {
          std::getline(out, line);
          const bool is_integer = w.find_first_not_of("-0123456789") == w.npos;
          RC_ASSERT(line == (!has_floats ? w : w == "nan" ? "\"\"" : is_integer ? w + ".0" : w));
        }
      },
      500);
}

TEST(Type_Guess_Test, FindsTheTypeThatFitsAllJsonValues) {
  const auto guess = [](const std::vector<Cell>& cells) {
    Type_Guess result;
    for (const Cell& cell : cells) result.add(cell);
    return type_name(result.type(false));
  };
  const auto text = [](const char* value) { return Cell::of(Cell::Kind::text, value); };
  EXPECT_EQ(guess({Cell::of(std::int64_t{1}), Cell::null()}), "int32");
  EXPECT_EQ(guess({Cell::of(std::int64_t{1}), Cell::of(0.5), text("nan")}), "float64");
  EXPECT_EQ(guess({text("1"), text("2")}), "string");
  EXPECT_EQ(guess({Cell::of(true), Cell::of(false)}), "boolean");
  EXPECT_EQ(guess({Cell::of(true), Cell::of(std::int64_t{1})}), "string");
  EXPECT_EQ(guess({Cell::of(Cell::Kind::bytes, "x")}), "blob");
  EXPECT_EQ(guess({Cell::of(Cell::Kind::bytes, "x"), text("y")}), "string");
}

TEST_F(Import_Test, KeepsHowJsonWritesANumberInAText) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::jsonl,
         "{\"a\": 1234567.89, \"b\": 12345678901234567890.5, \"c\": 1.50, \"d\": 0.1}\n"
         "{\"a\": \"x\", \"b\": 1, \"c\": \"y\", \"d\": 1E5}\n",
         db, {.table = "t"});
  EXPECT_EQ(exported(Format::csv, db.get_database(), db.get_database().table(Table_Id(1)), file),
            "a,b,c,d\n1234567.89,12345678901234567890.5,1.50,0.1\nx,1,y,100000.0\n");
}

TEST_F(Import_Test, AMissingValueAmongNumbersThatBecomeTextsStaysMissing) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::jsonl,
         "{\"a\": 18446744073709551615, \"b\": true, \"c\": -9223372036854775808}\n"
         "{\"a\": null, \"b\": null, \"c\": null}\n{}\n",
         db, {.table = "t"});
  const Table& table = db.get_database().table(Table_Id(1));
  EXPECT_EQ(exported(Format::jsonl, db.get_database(), table, file),
            "{\"a\": \"18446744073709551615\", \"b\": true, \"c\": \"-9223372036854775808\"}\n"
            "{\"a\": null, \"b\": null, \"c\": null}\n{\"a\": null, \"b\": null, \"c\": null}\n");
}

TEST_F(Import_Test, AValueThatItsTypeDoesNotHaveIsTheStoredNumber) {
  const std::vector<Declared_Type> types = {declared("enum(open,paid)"), declared("date"),
                                            declared("boolean optional"), declared("uuid")};
  const std::string csv = "f1,f2,f3,f4\n#7,#3000000,#2,#ab\n";
  Memory_File file;
  Writable_Database db(file);
  make_schema(db, types);
  import(Format::csv, csv, db, {.table = "t"});
  const Table& table = *db.get_database().find_table("t");
  EXPECT_EQ(exported(Format::csv, db.get_database(), table, file), csv);
  EXPECT_EQ(table.column<std::int8_t>(Field_Id(1)).get(0), 7);
  const auto error = [&](const char* text) {
    return error_in([&] { import(Format::csv, text, db, {.table = "t"}); });
  };
  // Values with a text.
  EXPECT_THAT(error("f1,f2\n#1,\n"), HasSubstr("open or paid expected, got `#1`"));
  EXPECT_THAT(error("f1,f2\n,#0\n"), HasSubstr("date like 2026-01-31 expected, got `#0`"));
  EXPECT_THAT(error("f1,f2\n#300,\n"), HasSubstr("open or paid expected, got `#300`"));
  db.rollback();
}

TEST_F(Import_Test, GivesEachColumnAFieldOfItsOwn) {
  const auto fields = [&](Format format, const char* text, const Import_Settings& settings) {
    Memory_File file;
    Writable_Database db(file);
    import(format, text, db, settings);
    std::string names;
    const Database& content = db.get_database();
    const Table& table = *content.find_table("t");
    for (const Field& field : table.fields()) names += field.name + ' ';
    const std::string error = error_in([&] { import(format, text, db, settings); });
    db.rollback();
    return names + error;
  };
  EXPECT_EQ(fields(Format::csv, "id,name,name\n1,a,b\n", {.table = "t"}),
            "id name name_2 no error");
  EXPECT_EQ(fields(Format::csv, "x,x\n1,2\n", {.table = "t", .skipped = {"x"}}), "x_2 no error");
  EXPECT_EQ(fields(Format::csv, "a,a b,a=b\n1,2,3\n",
                   {.table = "t", .renames = {{"3", "c"}}, .skipped = {"1"}}),
            "a_b c no error");
  EXPECT_EQ(fields(Format::csv, "2,1\n1,2\n", {.table = "t", .skipped = {"2"}}), "_1 no error");
  EXPECT_EQ(fields(Format::csv, "__id,x\n1,2\n", {.table = "t", .renames = {{"__id", "own"}}}),
            "own x no error");
  // The suffixes depend on the order of the keys, which may be different next time.
  EXPECT_EQ(fields(Format::jsonl, "{\"имя\": 1, \"возраст\": 2}\n", {.table = "t"}),
            "column column_2 the columns имя and another one are for the field column: give "
            "each a field, by its number from 1: --rename 1=FIELD");
}

TEST_F(Import_Test, TakesNoTrueForANumber) {
  for (const Type_Code code : {Type_Code::int8, Type_Code::int32, Type_Code::int64,
                               Type_Code::float32, Type_Code::reference}) {
    Memory_File file;
    Writable_Database db(file);
    make_plain_schema(db, {code});
    EXPECT_THAT(error_in([&] { import(Format::jsonl, "{\"f1\": true}\n", db, {.table = "t"}); }),
                HasSubstr("expected, got `true`"));
    db.rollback();
  }
}

TEST_F(Import_Test, CountsWhatIsMissing) {
  using Missing = std::map<std::string, std::int64_t>;
  {
    const Import_Settings settings{.table = "t", .types = {{"a", "int32"}, {"b", "boolean"}}};
    Memory_File file;
    Writable_Database db(file);
    const auto counts = import(Format::csv, "a,b,c,d\n1,true,x,0.5\n,,,\n,,y,\n", db, settings);
    EXPECT_EQ(counts.missing, (Missing{{"a", 2}, {"b", 2}, {"c", 1}}));
  }
  Memory_File file;
  Writable_Database db(file);
  const std::string text = "{\"t\": 5, \"u\": true}\n{\"t\": null}\n{\"u\": true}\n{}\n";
  const Import_Settings settings{.table = "t", .types = {{"t", "int8"}}};
  EXPECT_EQ(import(Format::jsonl, text, db, settings).missing, (Missing{{"t", 3}}));
}

TEST_F(Import_Test, CountsNothingAsMissingThatKeepsItsValue) {
  using Missing = std::map<std::string, std::int64_t>;
  Memory_File file;
  Writable_Database db(file);
  import(Format::jsonl, "{\"k\": 1, \"t\": 5}\n{\"k\": 2, \"t\": 6}\n", db, {.table = "t"});
  const std::string text = "{\"k\": 1}\n{\"k\": 2, \"t\": null}\n{\"k\": 3}\n";
  const auto counts = import(Format::jsonl, text, db, {.table = "t", .key = {"k"}});
  EXPECT_EQ(counts.missing, (Missing{{"t", 2}}));
}

TEST_F(Import_Test, ShowsInAPreviewWhatIsMissing) {
  Input input(write("in.jsonl", "{\"t\":5,\"u\":1.10}\n{\"t\":null}\n{\"u\":\"x\"}\n{\"v\":1}\n"),
              1 << 20);
  Jsonl_Reader reader(input);
  const std::string text =
      plan_import(reader, Database(), {.table = "t", .has_preview = true}).text();
  EXPECT_THAT(text, HasSubstr("t  int32 optional   5; 3 empty (with --plain-types: float64)"));
  EXPECT_THAT(text, HasSubstr("u  string optional  1.10, x; 2 empty"));
  EXPECT_THAT(text, HasSubstr("v  int32 optional   1; 3 empty"));
}

TEST_F(Import_Test, CanBeInterruptedBetweenRows) {
  struct Stop {};
  const auto check = [count = 0]() mutable {
    if (++count == 3) throw Stop();
  };
  const std::string blank(1 << 20, '\n');
  Input csv(write("in.csv", "a,b\n" + blank), 1 << 20);
  csv.set_interrupt_check(check);
  EXPECT_THROW(Csv_Reader(csv, Csv_Format()).next(), Stop);
  Input jsonl(write("in.jsonl", blank), 1 << 20);
  jsonl.set_interrupt_check(check);
  EXPECT_THROW(Jsonl_Reader(jsonl).next(), Stop);
}

TEST_F(Import_Test, RefusesWhatIsNoText) {
  const auto utf_16 = [](std::string_view text, bool is_big) {
    std::string wide;
    for (const char c : text) (wide += is_big ? '\0' : c) += is_big ? c : '\0';
    return wide;
  };
  const auto error = [&](std::string_view bytes) {
    const std::string csv = error_in([&] { rows(bytes); });
    EXPECT_EQ(csv.substr(0, 6), "in.csv");
    EXPECT_EQ(error_in([&] { rows(bytes, {.columns = {"a"}}); }).empty(), false);
    EXPECT_EQ(error_in([&] { json_rows(bytes); }).empty(), false);
    return csv;
  };
  for (const bool is_big : {false, true}) {
    EXPECT_THAT(error(utf_16("uid,name\n1,Zoe\n", is_big)),
                HasSubstr(is_big ? "UTF-16BE" : "UTF-16LE"));
    EXPECT_THAT(error(utf_16("{\"a\": 1}\n", is_big)), HasSubstr(is_big ? "UTF-16BE" : "UTF-16LE"));
  }
  EXPECT_THAT(error("\x1f\x8b\x08"), HasSubstr("is compressed by gzip: import what `gunzip -c "));
  EXPECT_THAT(error("PK\x03\x04"), HasSubstr("is a zip archive, as spreadsheets"));
  EXPECT_THAT(error("\x28\xb5\x2f\xfd"), HasSubstr("zstd -dc"));
  EXPECT_THAT(error(std::string_view("SQLite format 3\0\n", 17)), HasSubstr("joedb import sqlite"));
  EXPECT_THAT(error_in([&] { rows("a\x01,b\n1,2\n"); }),
              StartsWith("in.csv:1:1: there are control characters in the header"));
  EXPECT_THAT(error_in([&] { rows(std::string_view("a,b\0\n1,2\n", 9)); }),
              StartsWith("in.csv:1:3: there are control characters in the header"));
  EXPECT_THAT(rows("BZh9,b\n1,2\n"), ElementsAre("1|2"));
  EXPECT_THAT(rows(std::string_view("a\n\"x\0\"\n", 7)), ElementsAre(std::string("x\0", 2)));
}

TEST_F(Import_Test, DeletesAllRecordsForAnExportOfAnEmptyTable) {
  Memory_File file;
  Writable_Database db(file);
  make_plain_schema(db, {Type_Code::int32});
  db.write(Insert{Table_Id(1), Record_Id(0)});
  db.soft_checkpoint();
  EXPECT_EQ(import(Format::jsonl, "", db, {.table = "t", .deletes_missing = true}).deleted, 1);
  EXPECT_EQ(import(Format::jsonl, "\n", db, {.table = "u"}).inserted, 0);
  EXPECT_NE(db.get_database().find_table("u"), nullptr);
  EXPECT_THAT(error_in([&] {
                import(Format::jsonl, "{\"f1\": 1}\n", db, {.table = "t", .deletes_missing = true});
              }),
              HasSubstr("--delete-missing needs --key"));
}

TEST(Identifier_Of, MakesNamesOfFields) {
  EXPECT_EQ(identifier_of("Population (2020)"), "Population_2020");
  EXPECT_EQ(identifier_of("2020"), "_2020");
  EXPECT_EQ(identifier_of("é"), "column");
}

// ---- round trips --------------------------------------------------------------------------------

using testing::arbitrary_logical_number;
using testing::arbitrary_logical_text;
using testing::Foreign_Values;

void add_record(Writable_Database& db, Record_Id record, const std::vector<Declared_Type>& types) {
  const Table_Id table(1);
  db.write(Insert{table, record});
  std::uint16_t field = 0;
  for (const auto& [code, logical] : types) {
    const Field_Id id(++field);
    if (code == Type_Code::string) {
      const std::string text = arbitrary_logical_text(logical, Foreign_Values::some);
      db.write(Update<std::string_view>{table, record, id, text});
    } else if (code == Type_Code::blob) {
      const bool is_null = *rc::gen::arbitrary<bool>();
      // Without the "x", some bytes would be refused because they look like an integrity entry.
      const std::string bytes = testing::arbitrary_text() + "x";
      db.write(Update<Blob>{table, record, id, is_null ? Blob() : db.write_blob(bytes)});
    } else if (code == Type_Code::reference) {
      const auto target = *rc::gen::inRange<index_t>(-1, 20);
      db.write(Update<Record_Id>{table, record, id, target < 0 ? Record_Id() : Record_Id(target)});
    } else {
      visit_type(code, [&, &type = logical]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>)
          db.write(Update<T>{table, record, id,
                             arbitrary_logical_number<T>(type, Foreign_Values::some)});
      });
    }
  }
}

// Formats records and values, including the bytes of blobs. All NaNs look the same.
std::string content_of(const Database& database, const Abstract_File& file) {
  std::ostringstream out;
  dump_data(database, [&]<class Entry>(const Entry& entry) {
    if constexpr (requires { entry.value; }) {
      out << entry.record.value() << '.' << entry.field.value() << '=';
      using T = std::remove_cvref_t<decltype(entry.value)>;
      if constexpr (std::is_same_v<T, Record_Id>)
        out << entry.value.value();
      else if constexpr (std::is_same_v<T, Blob>)
        out << (entry.value.is_null() ? "null" : file.read_blob(entry.value));
      else if constexpr (std::is_floating_point_v<T>)
        out << (std::isnan(entry.value) ? "nan" : std::to_string(std::signbit(entry.value)))
            << std::hexfloat << entry.value * T(!std::isnan(entry.value));
      else if constexpr (std::is_same_v<T, std::string_view>)
        out << entry.value;
      else
        out << std::int64_t{entry.value};
      out << '\n';
    } else if constexpr (requires { entry.size; }) {
      out << "records " << entry.record.value() << '+' << entry.size << '\n';
    }
  });
  return out.str();
}

class Round_Trip : public Import_Test, public ::testing::WithParamInterface<Format> {
 protected:
  // With a second column, so that CSV can distinguish a missing text from an empty one.
  static std::vector<Declared_Type> some_types() {
    const auto plain = rc::gen::map(rc::gen::inRange(1, type_count + 1), [](int code) {
      return Declared_Type{static_cast<Type_Code>(code), {}};
    });
    const auto logical = rc::gen::exec(testing::arbitrary_logical_type);
    auto types = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<Declared_Type>>(rc::gen::oneOf(plain, logical)));
    if (types.size() == 1) types.push_back({Type_Code::int8, {}});
    return types;
  }
};

TEST_P(Round_Trip, AnImportOfAnExportMakesTheSameValues) {
  expect_property(
      [&] {
        const std::vector<Declared_Type> types = some_types();
        Memory_File file;
        Writable_Database db(file);
        make_schema(db, types);
        const auto size = *rc::gen::inRange<index_t>(0, 20);
        const bool has_holes = *rc::gen::arbitrary<bool>();
        for (index_t id = 0; id < size; ++id)
          if (!has_holes || *rc::gen::arbitrary<bool>()) add_record(db, Record_Id(id), types);
        db.soft_checkpoint();

        const Export_Settings settings{.has_ids = has_holes || *rc::gen::arbitrary<bool>()};
        const Table& table = db.get_database().table(Table_Id(1));
        const std::string text = exported(GetParam(), db.get_database(), table, file, settings);
        Memory_File other_file;
        Writable_Database other(other_file);
        make_schema(other, types);
        other.soft_checkpoint();
        import(GetParam(), text, other, {.table = "t"});
        RC_ASSERT(content_of(other.get_database(), other_file) ==
                  content_of(db.get_database(), file));

        // A second import must change nothing.
        if (!settings.has_ids || table.records().used_count() == 0) return;
        const Offset end = other_file.get_size();
        import(GetParam(), text, other, {.table = "t", .deletes_missing = true});
        RC_ASSERT(other_file.get_size() == end);
      },
      200);
}

INSTANTIATE_TEST_SUITE_P(Formats, Round_Trip, ::testing::Values(Format::csv, Format::jsonl),
                         [](const auto& parameter) {
                           return parameter.param == Format::csv ? "Csv" : "JsonLines";
                         });

// ---- logical types ------------------------------------------------------------------------------

TEST_F(Import_Test, WritesAndReadsLogicalTypes) {
  const std::vector<Declared_Type> types = {
      declared("date"),           declared("decimal(2)"),     declared("enum(open,paid)"),
      declared("bytes"),          declared("uuid"),           declared("json"),
      declared("int32 optional"), declared("string optional")};
  const std::string csv =
      "f1,f2,f3,f4,f5,f6,f7,f8\n"
      "2026-01-31,12.50,paid,AP8=,2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77,\"{\"\"a\"\": 1}\",7,x\n"
      "1970-01-01,0.00,open,\"\",,,,\"\"\n"
      "-0044-03-15,-0.05,open,\"\",,,,\n";
  const std::string json =
      "{\"f1\": \"2026-01-31\", \"f2\": 12.50, \"f3\": \"paid\", \"f4\": {\"base64\": \"AP8=\"}, "
      "\"f5\": \"2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77\", \"f6\": {\"a\": 1}, \"f7\": 7, "
      "\"f8\": \"x\"}\n"
      "{\"f1\": \"1970-01-01\", \"f2\": 0.00, \"f3\": \"open\", \"f4\": {\"base64\": \"\"}, "
      "\"f5\": \"\", \"f6\": null, \"f7\": null, \"f8\": \"\"}\n"
      "{\"f1\": \"-0044-03-15\", \"f2\": -0.05, \"f3\": \"open\", \"f4\": {\"base64\": \"\"}, "
      "\"f5\": \"\", \"f6\": null, \"f7\": null, \"f8\": null}\n";
  Memory_File file;
  Writable_Database db(file);
  make_schema(db, types);
  import(Format::csv, csv, db, {.table = "t"});
  const Table& table = *db.get_database().find_table("t");
  EXPECT_EQ(exported(Format::csv, db.get_database(), table, file), csv);
  EXPECT_EQ(exported(Format::jsonl, db.get_database(), table, file), json);
}

TEST_F(Import_Test, SaysWhatALogicalTypeExpects) {
  const auto error = [&](const char* type, const char* word) {
    Memory_File file;
    Writable_Database db(file);
    make_schema(db, {declared(type), declared("string")});
    const std::string text = "f1,f2\n" + std::string(word) + ",x\n";
    const std::string result = error_in([&] { import(Format::csv, text, db, {.table = "t"}); });
    db.rollback();
    return result;
  };
  EXPECT_EQ(error("date", "31.1.2026"),
            "in.csv:2:1: column f1: date like 2026-01-31 expected, got `31.1.2026`");
  EXPECT_THAT(error("date", "20260131"), HasSubstr("date like 2026-01-31 expected"));
  EXPECT_THAT(error("enum(open,paid)", "late"), HasSubstr("open or paid expected, got `late`"));
  EXPECT_THAT(error("decimal(2)", "1.234"), HasSubstr("2 digits behind the point expected"));
  EXPECT_THAT(error("uuid", "1234"), HasSubstr("UUID like"));
  EXPECT_THAT(error("bytes", "?"), HasSubstr("base64 of bytes expected"));
  EXPECT_THAT(error("boolean optional", "maybe"), HasSubstr("true or false expected"));
  EXPECT_THAT(error("int8 optional", "-128"), HasSubstr("is the value that means"));
  EXPECT_THAT(error("string optional", "\xff"), HasSubstr("is the value that means"));
  EXPECT_THAT(error("int8 optional", "many"), HasSubstr("int8 expected, got `many`"));
}

TEST_F(Import_Test, ANumberIsNoDateOrName) {
  const auto error = [&](Format format, const char* type, const std::string& text) {
    Memory_File file;
    Writable_Database db(file);
    make_schema(db, {declared(type)});
    const std::string result = error_in([&] { import(format, text, db, {.table = "t"}); });
    db.rollback();
    return result;
  };
  for (const char* type : {"date", "timestamp", "duration(s)", "enum(open,paid)"}) {
    EXPECT_THAT(error(Format::jsonl, type, "{\"f1\": 1}\n"), HasSubstr(" expected, got `1`"));
    EXPECT_THAT(error(Format::jsonl, type, "{\"f1\": 1.0}\n"), HasSubstr(" expected, got `1"));
    EXPECT_THAT(error(Format::csv, type, "f1\n1\n"), HasSubstr(" expected, got `1`"));
  }
  EXPECT_THAT(error(Format::jsonl, "date", "{\"f1\": 2026}\n"),
              HasSubstr("date like 2026-01-31 expected, got `2026`"));
}

TEST_F(Import_Test, RecordsThatAreThereHaveNoValueInGuessedFields) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::csv, "k\n1\n2\n", db, {.table = "t"});
  import(Format::csv, "k,d,p\n2,2026-01-31,1.50\n", db,
         {.table = "t", .key = {"k"}, .adds_fields = true});
  EXPECT_EQ(exported(Format::csv, db.get_database(), *db.get_database().find_table("t"), file),
            "k,d,p\n1,,\n2,2026-01-31,1.50\n");
}

TEST_F(Import_Test, JsonThatWouldBeReadAsSomethingElseIsWrittenAsBytes) {
  const auto line = [&](std::string_view json) {
    Memory_File file;
    Writable_Database db(file);
    make_schema(db, {declared("json")});
    db.write(Insert{Table_Id(1), Record_Id(0)});
    db.write(Update<std::string_view>{Table_Id(1), Record_Id(0), Field_Id(1), json});
    std::string result =
        exported(Format::jsonl, db.get_database(), *db.get_database().find_table("t"), file);
    db.rollback();
    return result;
  };
  const std::string_view nul("[]\0", 3);
  for (const std::string_view json :
       {std::string_view("{\"\\u0062ase64\":\"eHg=\"}"), nul, std::string_view("\xef\xbb\xbf[]")})
    EXPECT_THAT(line(json), HasSubstr("{\"f1\": {\"base64\": ")) << json;
  EXPECT_EQ(line("{\"a\":\"\\n\"}"), "{\"f1\": {\"a\":\"\\n\"}}\n");
}

TEST_F(Import_Test, FieldsWithoutAColumnAreMissing) {
  Memory_File file;
  Writable_Database db(file);
  make_schema(db, {declared("int32"), declared("date optional"), declared("string optional")});
  import(Format::csv, "f1\n7\n", db, {.table = "t"});
  import(Format::jsonl, "{\"f1\": 8}\n", db, {.table = "t"});
  EXPECT_EQ(exported(Format::csv, db.get_database(), *db.get_database().find_table("t"), file),
            "f1,f2,f3\n7,,\n8,,\n");
  // So are those of records that are there when a field is added.
  import(Format::csv, "f1,f4\n9,1\n10,\n", db, {.table = "t", .key = {"f1"}, .adds_fields = true});
  EXPECT_EQ(exported(Format::csv, db.get_database(), *db.get_database().find_table("t"), file),
            "f1,f2,f3,f4\n7,,,\n8,,,\n9,,,1\n10,,,\n");
}

TEST_F(Import_Test, TheTypesOfJsonLinesMayBeLogical) {
  const std::string text =
      "{\"__types\": {\"a\": \"decimal(2)\", \"b\": \"enum(open,paid) optional\"}}\n"
      "{\"a\": 12.50, \"b\": \"paid\"}\n"
      "{\"a\": 3.00, \"b\": null}\n";
  Memory_File file;
  Writable_Database db(file);
  import(Format::jsonl, text, db, {.table = "t"});
  EXPECT_EQ(exported(Format::jsonl, db.get_database(), *db.get_database().find_table("t"), file,
                     {.has_types = true}),
            text);
}

TEST_F(Import_Test, PlainTypesAreAsBefore) {
  Memory_File file;
  Writable_Database db(file);
  const Import_Settings settings{
      .table = "t", .types = {{"d", "date optional"}}, .only_plain_types = true};
  import(Format::csv, "a,b,c,d\n2026-01-31,12.50,1,2026-01-31\n2026-02-01,3.99,,\n", db, settings);
  std::string types;
  for (const Field& field : db.get_database().find_table("t")->fields())
    types += declared_type_text(field.column->type().code, field.column->logical()) + ' ';
  EXPECT_EQ(types, "string string float64 date optional ");
}

// ---- plans --------------------------------------------------------------------------------------

TEST_F(Import_Test, ANewTableHasAFieldForEachColumn) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::csv, "name,size in km,country\nLyon,4.5,FR\nBern,,CH\n", db,
         {.table = "city", .enums = {
            { "country",
              "" }
          }});
  const Table& city = *db.get_database().find_table("city");
  EXPECT_EQ(exported(Format::csv, db.get_database(), city, file,
                     {.references = {{"country", "country.name"}}}),
            "name,size_in_km,country\nLyon,4.5,FR\nBern,,CH\n");
  EXPECT_EQ(exported(Format::jsonl, db.get_database(), city, file),
            "{\"name\": \"Lyon\", \"size_in_km\": 4.5, \"country\": 0}\n"
            "{\"name\": \"Bern\", \"size_in_km\": null, \"country\": 1}\n");
}

TEST_F(Import_Test, MissingValuesStayMissing) {
  for (const auto& [format, text, out] : std::vector<std::tuple<Format, std::string, std::string>>{
           {Format::csv, "a,b\n1,x\n,y\n", "a,b\n1,x\n,y\n"},
           {Format::csv, "a,b\n,x\ntrue,\nfalse,\"\"\n", "a,b\n,x\ntrue,\nfalse,\"\"\n"},
           {Format::csv, "a\n2026-01-31\n\"\"\n", "a\n2026-01-31\n\"\"\n"},
           {Format::jsonl, "{\"b\": \"x\"}\n{\"b\": \"y\", \"a\": 1}\n",
            "{\"b\": \"x\", \"a\": null}\n{\"b\": \"y\", \"a\": 1}\n"},
           {Format::jsonl, "{\"a\": null, \"b\": \"\"}\n{\"a\": true, \"b\": null}\n",
            "{\"a\": null, \"b\": \"\"}\n{\"a\": true, \"b\": null}\n"}}) {
    Memory_File file;
    Writable_Database db(file);
    import(format, text, db, {.table = "t"});
    EXPECT_EQ(exported(format, db.get_database(), *db.get_database().find_table("t"), file), out);
  }
}

TEST_F(Import_Test, JsonLinesMayBeginWithTypes) {
  const std::string types = "{\"__types\": {\"a\": \"int8\", \"b\": null, \"c\": \"float32\"}}\n";
  for (const std::string& rows :
       {std::string(), std::string("{\"a\": 1, \"b\": \"x\", \"c\": 0.5}\n")}) {
    Memory_File file;
    Writable_Database db(file);
    import(Format::jsonl, types + rows, db, {.table = "t"});
    const Table& table = *db.get_database().find_table("t");
    EXPECT_EQ(exported(Format::jsonl, db.get_database(), table, file, {.has_types = true}),
              "{\"__types\": {\"a\": \"int8\", \"b\": \"string\", \"c\": \"float32\"}}\n" + rows);
  }
  Memory_File file;
  Writable_Database db(file);
  EXPECT_EQ(error_in([&] {
              import(Format::jsonl, "{\"__types\": {\"a\": \"number\"}}\n", db, {.table = "t"});
            }),
            "in.jsonl:1:1: __types: a: \"number\": unknown type: number; expected null, or a type "
            "like string, int32 optional or decimal(2)");
}

TEST_F(Import_Test, WideTextsAreConverted) {
  const std::string text = "a\n\u00e9\u20ac\U0001f600\n";
  const std::u16string wide = u"\ufeffa\n\u00e9\u20ac\U0001f600\n";
  const std::u32string wider = U"\ufeffa\n\u00e9\u20ac\U0001f600\n";
  const auto imported = [&](const std::string& bytes) {
    Memory_File file;
    Writable_Database db(file);
    import(Format::csv, bytes, db, {.table = "t"});
    return exported(Format::csv, db.get_database(), *db.get_database().find_table("t"), file);
  };
  const auto bytes_of = [](const auto& units, bool is_big) {
    std::string bytes;
    for (const auto unit : units)
      for (std::size_t i = 0; i < sizeof unit; ++i)
        bytes += static_cast<char>(unit >> (8 * (is_big ? sizeof unit - 1 - i : i)));
    return bytes;
  };
  for (const bool is_big : {false, true}) {
    EXPECT_EQ(imported(bytes_of(wide, is_big)), text);
    EXPECT_EQ(imported(bytes_of(wider, is_big)), text);
  }
  const std::string good = bytes_of(wide, false);
  EXPECT_EQ(error_in([&] { imported(good.substr(0, good.size() - 1)); }),
            "in.csv: this text, which begins like UTF-16 or UTF-32, cannot be read: it ends in the "
            "middle, at "
            "byte 15");
  EXPECT_EQ(error_in([&] { imported(good.substr(0, 4) + std::string("\0\xdc", 2)); }),
            "in.csv: this text, which begins like UTF-16 or UTF-32, cannot be read: half of a "
            "character is "
            "missing, at byte 0");
}

TEST_F(Import_Test, CarriageReturnsMayEndLines) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::csv, "a,b\r1,x\r2,\"y\"\r", db, {.table = "t"});
  EXPECT_EQ(exported(Format::csv, db.get_database(), *db.get_database().find_table("t"), file),
            "a,b\n1,x\n2,y\n");
}

TEST_F(Import_Test, ATypeThatWasGuessedFromTheFirstRowsMayBeWrong) {
  Memory_File file;
  Writable_Database db(file);
  EXPECT_EQ(error_in([&] { import(Format::csv, "a\n1\n2\nx\n", db, {.table = "t", .sample = 2}); }),
            "in.csv:4:1: column a: int32 expected, got `x`. The type was guessed from the first 2 "
            "rows: --type a=string gives another");
  db.rollback();
  EXPECT_EQ(
      error_in([&] { import(Format::csv, "a,b\n1,x\n,\n", db, {.table = "t", .sample = 1}); }),
      "in.csv:3:1: column a: a value expected, got nothing. The type was guessed from the first "
      "1 rows: --type 'a=int32 optional' gives another");
  db.rollback();
  EXPECT_THAT(error_in([&] {
                import(Format::jsonl, "{\"a\": 1}\n{\"b\": 1}\n", db, {.table = "t", .sample = 1});
              }),
              StartsWith("in.jsonl:2:7: column b: this is not in the first 1 rows"));
  db.rollback();
}

TEST_F(Import_Test, ObjectsMayHaveAnyFieldsOfATableThatExists) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::csv, "a,b\n1,x\n", db, {.table = "t"});
  const Import_Settings settings{.table = "t", .key = {"a"}, .sample = 1};
  EXPECT_EQ(import(Format::jsonl, "{\"a\": 1}\n{\"a\": 2, \"b\": \"y\"}\n", db, settings),
            (Import_Counts{.inserted = 1, .unchanged = 1}));
  EXPECT_EQ(
      error_in([&] { import(Format::jsonl, "{\"a\": 1}\n{\"a\": 2, \"c\": 3}\n", db, settings); }),
      "in.jsonl:2:15: column c: table t has no such field: --add-fields adds it, --skip "
      "leaves the column out");
  db.rollback();
  EXPECT_EQ(error_in([&] { import(Format::jsonl, "{\"b\": \"z\"}\n", db, settings); }),
            "in.jsonl:1:1: the row has no value of the key");
  db.rollback();
}

TEST_F(Import_Test, RefusesSettingsThatDoNotFit) {
  Memory_File file;
  Writable_Database db(file);
  import(Format::csv, "a\n1\n", db, {.table = "t"});
  const auto error = [&](const Import_Settings& settings, const char* text = "a\n1\n") {
    const std::string result = error_in([&] { import(Format::csv, text, db, settings); });
    db.rollback();
    return result;
  };
  EXPECT_THAT(error({.table = "t", .key = {"b"}}), HasSubstr("--key b: "));
  EXPECT_THAT(error({.table = "t"}, "a,b\n1,2\n"), HasSubstr("--add-fields adds it"));
  EXPECT_THAT(error({.table = "t", .deletes_missing = true}), HasSubstr("--delete-missing needs"));
  EXPECT_THAT(error({.table = "u", .types = {{"a", "int"}}}),
              HasSubstr("--type a=int: unknown type: int"));
  EXPECT_THAT(error({.table = "u", .references = {{"a", "v.w"}}}), HasSubstr("no table v"));
  EXPECT_THAT(error({.table = "t", .references = {{"a", "t.a"}}}), HasSubstr("is not a reference"));
  EXPECT_THAT(error({.table = "u", .renames = {{"x", "y"}}}, "x,y\n1,2\n"),
              HasSubstr("two columns are for the field"));
  EXPECT_THAT(error({.table = "t"}, "__id,a\n1000000000000,2\n"), StartsWith("in.csv:2:1: "));
}

TEST_F(Import_Test, AKeyThatTwoRowsHaveIsFoundInAnIndexThatWasEmpty) {
  Memory_File file;
  {
    Writable_Database db(file);
    make_plain_schema(db, {Type_Code::int32});
    db.soft_checkpoint();
  }
  Writable_Database db(file, {}, Deleted_Values::reset,
                       {{"by_f1", Table_Id(1), {Field_Id(1)}, true}});
  EXPECT_THAT(error_in([&] { import(Format::csv, "f1\n1\n2\n1\n", db, {.table = "t"}); }),
              ::testing::MatchesRegex(".*in.csv:4: by_f1 unique index failure.*"));
  db.rollback();
  EXPECT_EQ(import(Format::csv, "f1\n3\n4\n", db, {.table = "t"}).inserted, 2);
  EXPECT_THAT(error_in([&] { import(Format::csv, "f1\n5\n3\n", db, {.table = "t"}); }),
              StartsWith("in.csv:3:1: by_f1 unique index failure"));
  db.rollback();
}

}  // namespace
}  // namespace joedb
