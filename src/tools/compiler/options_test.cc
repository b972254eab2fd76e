#include "tools/compiler/options.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "tools/compiler/names.h"
#include "tools/compiler/text.h"

namespace joedb::compiler {
namespace {

using joedb::testing::error_of;

std::string errors_of(std::string_view text) {
  try {
    parse_options(text, "geo.joedbc");
  } catch (const Schema_Errors& errors) {
    return errors.what();
  }
  return "";
}

TEST(Compiler_Options, KnowTheNamespaceBetweenCommentsAndEmptyLines) {
  const Options options = parse_options("# comment\n\n  namespace company::geo  \n", "geo.joedbc");
  EXPECT_EQ(options.name_space, (std::vector<std::string>{"company", "geo"}));
  EXPECT_TRUE(options.warnings.empty());
}

TEST(Compiler_Options, NeedNoEndOfTheLastLineAndTakeWindowsLines) {
  EXPECT_EQ(parse_options("namespace a", "f").name_space, std::vector<std::string>{"a"});
  EXPECT_EQ(parse_options("namespace a\r\n", "f").name_space, std::vector<std::string>{"a"});
}

TEST(Compiler_Options, WarnOfWhatIsDeprecated) {
  const Options options = parse_options("namespace a\nset_table_storage t freedom_keeper\n", "f");
  ASSERT_EQ(options.warnings.size(), 1u);
  EXPECT_EQ(options.warnings[0].line, 2);
  EXPECT_EQ(options.warnings[0].text, "set_table_storage is deprecated");
}

TEST(Compiler_Options, KnowIndexesAndSingleRows) {
  const Options options = parse_options(
      "namespace a\ncreate_unique_index i t f,g\ncreate_index j t g\n"
      "set_single_row s true\nset_single_row t false\n",
      "f");
  ASSERT_EQ(options.indexes.size(), 2u);
  EXPECT_EQ(options.indexes[0].name, "i");
  EXPECT_EQ(options.indexes[0].table, "t");
  EXPECT_EQ(options.indexes[0].fields, (std::vector<std::string>{"f", "g"}));
  EXPECT_TRUE(options.indexes[0].is_unique);
  EXPECT_FALSE(options.indexes[1].is_unique);
  ASSERT_EQ(options.single_rows.size(), 1u);
  EXPECT_EQ(options.single_rows[0].table, "s");
  EXPECT_EQ(options.single_rows[0].line, 4);
}

TEST(Compiler_Options, SayAtWhichCharacterALineIsWrong) {
  struct Case {
    const char* line;
    int column;
  };
  for (const auto& [line, column] :
       {Case{"nonsense", 1}, Case{"  nonsense", 3}, Case{"namespace", 1}, Case{"namespace a::", 11},
        Case{"namespace a b", 13}, Case{"create_index \u00e9\u00e9 t f", 14},
        Case{"create_index i t f, g", 21}, Case{"create_index i t", 1},
        Case{"set_single_row \u00e9 maybe", 18}, Case{"timestamp_transactions true", 24}}) {
    try {
      parse_options(line, "geo.joedbc");
      ADD_FAILURE() << line;
    } catch (const Schema_Errors& errors) {
      EXPECT_EQ(errors.diagnostics.front().column, column) << line;
    }
  }
}

TEST(Compiler_Options, HaveTheNamespaceOfTheirFile) {
  EXPECT_EQ(parse_options("", "folder/geo.joedbc").name_space, std::vector<std::string>{"geo"});
  EXPECT_EQ(errors_of("namespace\n"),
            "geo.joedbc:1: namespace: expected a C++ name, like geo or company::geo");
  for (const char* file : {"geo-1.joedbc", "class.joedbc", "1.joedbc"})
    EXPECT_NE(error_of([&] { parse_options("", file); }).find("is not a C++ name"),
              std::string::npos)
        << file;
}

TEST(Compiler_Options, AskForTimeStamps) {
  EXPECT_FALSE(parse_options("", "geo.joedbc").has_timestamps);
  EXPECT_TRUE(parse_options("timestamp_transactions\n", "geo.joedbc").has_timestamps);
  EXPECT_TRUE(parse_options("unmarked_transactions\n", "geo.joedbc").has_no_marks);
  EXPECT_EQ(errors_of("timestamp_transactions\nunmarked_transactions\n"),
            "geo.joedbc:2: timestamp_transactions and unmarked_transactions exclude each other");
  EXPECT_EQ(errors_of("timestamp_transactions true\n"),
            "geo.joedbc:1: timestamp_transactions: expected nothing else in this line");
}

TEST(Compiler_Options, ReportEveryErrorWithItsLine) {
  EXPECT_EQ(errors_of("nonsense a\nnamespace 1a\ncreate_index i t f,\n"),
            "geo.joedbc:1: unknown command: nonsense\n"
            "geo.joedbc:2: namespace: expected a C++ name, like geo or company::geo\n"
            "geo.joedbc:3: create_index: expected NAME TABLE FIELD[,FIELD…], without spaces around "
            "commas");
  for (const char* bad : {"namespace", "namespace a b", "namespace a::", "namespace ::a",
                          "namespace a::class", "namespace a:b", "namespace a::b__c"})
    EXPECT_NE(errors_of(bad).find("expected a C++ name"), std::string::npos) << bad;
}

TEST(Compiler_Options, KnowTheCommandsOfTheSchemaAndSimilarNames) {
  EXPECT_EQ(errors_of("create_table a\n"), "geo.joedbc:1: create_table belongs in geo.joedbi");
  EXPECT_EQ(errors_of("timestamp_transaction\n"),
            "geo.joedbc:1: unknown command: timestamp_transaction. Did you mean "
            "timestamp_transactions?");
}

TEST(Compiler_Options, HaveHintsForErrorsInTheSchema) {
  const auto hint = [](const std::string& text, std::string_view schema, int line = 1) {
    return with_hint(text, schema, line, "a/geo.joedbc");
  };
  const std::string unknown = "Unknown command. For a list of available commands, try \"help\"";
  EXPECT_EQ(hint(unknown + ".", "create_index i t f\n"), "create_index belongs in geo.joedbc");
  EXPECT_EQ(hint(unknown + ".", "// towns\n"), "unknown command: //. Comments begin with #");
  EXPECT_EQ(hint(unknown + ".", "create table town"),
            "unknown command: create. Did you mean create_table?");
  EXPECT_EQ(hint(unknown + ". Did you mean custom?", "\ncustum f", 2),
            "unknown command: custum. Did you mean custom?");
  EXPECT_EQ(hint(unknown + ".", "xyzzy"), "unknown command: xyzzy");
  EXPECT_EQ(
      hint("column 1: No such table: b. Did you mean a?", "add_field b x int8\ncreate_table b"),
      "column 1: No such table: b before this line; line 2 creates it");
  EXPECT_EQ(hint("No such table: b", "add_field b x int8\n"), "No such table: b");
  EXPECT_EQ(hint("update: invalid record_id", "update t 7 f 1\n"),
            "update: invalid record_id: insert_into t 7 is missing");
}

TEST(Compiler_Schema, MustNotLoseValuesUnnoticed) {
  const auto lines = [](std::string_view schema) {
    std::vector<int> result;
    for (const Diagnostic& warning : dropped_values(schema, "geo.joedbi"))
      result.push_back(warning.line);
    return result;
  };
  const std::string dropped = "create_table t\nadd_field t a int8\ndrop_field t a\n";
  EXPECT_EQ(lines(dropped + "add_field t b int16\n"), std::vector<int>());
  EXPECT_EQ(lines(dropped + "add_field t a int16\nretype_field t a int8\n"), std::vector{4});
  EXPECT_EQ(lines(dropped + "rename_table t u\nadd_field u b int16\nrename_field u b a\n"),
            std::vector{6});
  EXPECT_EQ(lines("add_field t a int8\n# not needed\ndrop_field t a\nadd_field t a int16\n"),
            std::vector<int>());
  const auto warnings = dropped_values(dropped + "add_field t a int16\n", "geo.joedbi");
  EXPECT_EQ(warnings.at(0).column, 13);
  EXPECT_EQ(warnings.at(0).text,
            "the values of the field a that was dropped are lost: retype_field t a TYPE keeps "
            "them, in the place of these lines. A comment above drop_field says that they are "
            "meant to go");
}

TEST(Compiler_Names, OfParametersHideNothing) {
  const auto parameter = [](std::string_view field) { return cpp_parameter(field, {}); };
  EXPECT_EQ(parameter("name"), "name");
  EXPECT_EQ(parameter("class"), "class_");
  EXPECT_EQ(parameter("store_"), "store__");
  EXPECT_EQ(parameter("id_of_city"), "the_id_of_city");
  EXPECT_EQ(cpp_parameter("default", {"default_"}), "default__");
}

TEST(Compiler_Text, FillsTemplates) {
  EXPECT_EQ(fill("a {{x}} b {{y}}{{x}}", {{"x", "1"}, {"y", "{{x}}"}}), "a 1 b {{x}}1");
  EXPECT_EQ(fill("plain", {}), "plain");
}

TEST(Compiler_Text, MakesLiteralsOfAnyBytes) {
  EXPECT_EQ(cpp_literal(std::string_view("a\"\\?\0"
                                         "7\xff\n",
                                         8)),
            "\"a\\\"\\\\\\?\\0007\\377\\012\"");
}

}  // namespace
}  // namespace joedb::compiler
