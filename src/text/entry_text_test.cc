#include "text/entry_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "support/golden.h"
#include "support/journal_of.h"
#include "support/property.h"

namespace joedb {
namespace {

using testing::Any_Entry;
using testing::Blob_Bytes;
using ::testing::HasSubstr;
using testing::Journal_Of;
using ::testing::StartsWith;
using testing::Vector_Update;

constexpr Table_Id person{1};
constexpr Record_Id zero{0};

Type simple(Type_Code code) { return {code, {}}; }

// Returns every kind of entry, in a valid order.
std::vector<Any_Entry> story() {
  const double third = 1.0 / 3;
  return {
      Create_Table{"person"},
      Add_Field{person, "name", simple(Type_Code::string)},
      Add_Field{person, "age", simple(Type_Code::int8)},
      Add_Field{person, "year", simple(Type_Code::int16)},
      Add_Field{person, "salary", simple(Type_Code::int32)},
      Add_Field{person, "distance", simple(Type_Code::int64)},
      Add_Field{person, "friend", {Type_Code::reference, person}},
      Add_Field{person, "is_happy", simple(Type_Code::boolean)},
      Add_Field{person, "height", simple(Type_Code::float32)},
      Add_Field{person, "weight", simple(Type_Code::float64)},
      Add_Field{person, "face", simple(Type_Code::blob)},
      Timestamp{1'700'000'000},
      Insert_Vector{person, zero, 3},
      Insert{person, Record_Id(3)},
      Blob_Bytes{"a\n\xff"},
      Update<std::string_view>{person, zero, Field_Id(1), "say \"hi\"\n"},
      Update<std::int8_t>{person, zero, Field_Id(2), -42},
      Update<std::int16_t>{person, zero, Field_Id(3), -1999},
      Update<std::int32_t>{person, zero, Field_Id(4), -100'000},
      Update<std::int64_t>{person, zero, Field_Id(5), std::numeric_limits<std::int64_t>::min()},
      Update<Record_Id>{person, zero, Field_Id(6), Record_Id(2)},
      Update<Record_Id>{person, Record_Id(1), Field_Id(6), Record_Id()},
      Update<bool>{person, zero, Field_Id(7), true},
      Update<float>{person, zero, Field_Id(8), 1.7f},
      Update<double>{person, zero, Field_Id(9), third},
      Update<Blob>{person, zero, Field_Id(10), Blob(163, 3)},
      Update<Blob>{person, Record_Id(1), Field_Id(10), Blob()},
      Vector_Update<std::string_view>{person, zero, Field_Id(1), {"", "b", "\xc3\xa9"}},
      Vector_Update<std::int8_t>{person, zero, Field_Id(2), {1, -2, 3}},
      Vector_Update<std::int16_t>{person, zero, Field_Id(3), {}},
      Vector_Update<Record_Id>{person, Record_Id(1), Field_Id(6), {Record_Id(), zero}},
      Vector_Update<bool>{person, Record_Id(1), Field_Id(7), {false, true}},
      Vector_Update<double>{
          person, zero, Field_Id(9), {std::nan(""), -std::numeric_limits<double>::infinity(), -0.}},
      Vector_Update<Blob>{person, Record_Id(1), Field_Id(10), {Blob(163, 2), Blob()}},
      Delete{person, Record_Id(3)},
      Delete_Vector{person, Record_Id(1), 2},
      Comment{"two\nlines"},
      Valid_Data{},
      Custom{"upgrade"},
      Rename_Table{person, "human"},
      Rename_Field{person, Field_Id(2), "years"},
      Drop_Field{person, Field_Id(3)},
      Create_Table{"city"},
      Drop_Table{Table_Id(2)},
  };
}

template <class Writer>
std::string printed(Journal_Of& journal, Writer&& writer, std::ostringstream& out) {
  journal.journal().rewind();
  writer.begin(journal_start);
  journal.journal().replay(writer);
  writer.end(journal.journal().get_checkpoint());
  writer.flush();
  return out.str();
}

std::string as_commands(const std::vector<Any_Entry>& entries, bool with_blobs = false) {
  Journal_Of journal(entries);
  std::ostringstream out;
  return printed(journal, Command_Writer(out, with_blobs ? &journal.file() : nullptr), out);
}

std::string as_raw(const std::vector<Any_Entry>& entries) {
  Journal_Of journal(entries);
  std::ostringstream out;
  return printed(journal, Command_Writer(out, &journal.file(), Command_Writer::Form::raw), out);
}

std::string as_sql(const std::vector<Any_Entry>& entries, bool with_blobs = false) {
  Journal_Of journal(entries);
  std::ostringstream out;
  return printed(journal, Sql_Writer(out, with_blobs ? &journal.file() : nullptr), out);
}

// Returns the text that is printed for a journal before the error.
template <class Writer>
std::string printed_before_error(const std::vector<Any_Entry>& entries) {
  Journal_Of journal(entries);
  std::ostringstream out;
  Writer writer(out);
  EXPECT_THROW(journal.journal().replay(writer), Corruption_Error);
  writer.flush();
  return out.str();
}

// SQLite would report an error because of the duplicate name, but continue, and commit.
TEST(Entry_Text, WritesNoSqlWhereNamesDifferOnlyByCase) {
  const auto error = [](const std::vector<Any_Entry>& entries) {
    std::string text;
    try {
      as_sql(entries);
    } catch (const Exception& e) {
      text = e.what();
    }
    return text.substr(0, text.find(','));
  };
  const Table_Id t(1);
  const Type type{Type_Code::int32, {}};
  EXPECT_EQ(error({Create_Table{"Name"}, Create_Table{"name"}}),
            "Name and name are one name in SQL");
  EXPECT_EQ(error({Create_Table{"t"}, Add_Field{t, "Name", type}, Add_Field{t, "name", type}}),
            "t.Name and t.name are one name in SQL");
  EXPECT_EQ(error({Create_Table{"t"}, Add_Field{t, "a", type}, Add_Field{t, "b", type},
                   Rename_Field{t, Field_Id(2), "A"}}),
            "t.a and t.A are one name in SQL");
  EXPECT_EQ(error({Create_Table{"a"}, Create_Table{"b"}, Rename_Table{Table_Id(2), "A"}}),
            "a and A are one name in SQL");
  EXPECT_EQ(error({Create_Table{"Sqlite_x"}}),
            "Sqlite_x is a name that SQL does not allow: rename it");
  EXPECT_EQ(
      error({Create_Table{"t"}, Add_Field{t, "Name", type}, Rename_Field{t, Field_Id(1), "name"},
             Create_Table{"u"}, Drop_Table{Table_Id(2)}, Create_Table{"U"}}),
      "");
}

TEST(Entry_Text, RenamesATableInTwoStepsWhereSqlWouldSeeTheSameName) {
  EXPECT_THAT(as_sql({Create_Table{"t"}, Rename_Table{Table_Id(1), "T"}}),
              ::testing::HasSubstr("ALTER TABLE \"t\" RENAME TO \"__renamed\";\n"
                                   "ALTER TABLE \"__renamed\" RENAME TO \"T\";\n"));
}

TEST(Entry_Text, HasAFormForEachEntry) {
  const auto entries = story();
  testing::expect_golden("interpreter/entries.commands.txt", as_commands(entries));
  testing::expect_golden("interpreter/entries.commands_with_blobs.txt", as_commands(entries, true));
  testing::expect_golden("interpreter/entries.raw.txt", as_raw(entries));
  testing::expect_golden("interpreter/entries.sql", as_sql(entries));
  testing::expect_golden("interpreter/entries_with_blobs.sql", as_sql(entries, true));
}

TEST(Entry_Text, GivesUnknownTablesAndFieldsAName) {
  const std::vector<Any_Entry> entries{
      Insert{person, zero}, Create_Table{"person"},
      Update<std::int32_t>{person, zero, Field_Id(7), 5},
      Add_Field{person, "city", {Type_Code::reference, Table_Id(9)}}};
  EXPECT_EQ(as_commands(entries),
            "insert_into __unknown_table__ 0\n"
            "create_table person\n"
            "update person 0 __unknown_field__ 5\n"
            "add_field person city references __unknown_table__\n\n");
}

TEST(Entry_Text, DoesNotCheckRawEntries) {
  EXPECT_EQ(as_raw({Create_Table{"no name"}, Drop_Table{Table_Id(7)},
                    Add_Field{person, "f", {Type_Code::reference, Table_Id(9)}}}),
            "create_table \"no name\"\ndrop_table 7\nadd_field 1 \"f\" references 9\n");
}

TEST(Entry_Text, ShowsABadNameBeforeItFails) {
  EXPECT_EQ(printed_before_error<Command_Writer>({Create_Table{"a b"}}), "create_table a b\n");
}

// ---- injection by names and texts ---------------------------------------------------------------

TEST(Entry_Text, KeepsNamesInTheirLine) {
  EXPECT_EQ(printed_before_error<Command_Writer>({Create_Table{"x\ndrop_table y"}}),
            "create_table \"x\\012drop_table y\"\n");
  EXPECT_EQ(printed_before_error<Sql_Writer>({Create_Table{"x\"(y); DROP TABLE z;\n--"}}),
            "CREATE TABLE \"x\"\"(y); DROP TABLE z;\\012--\"(\"__id\" INTEGER PRIMARY KEY);\n");
}

TEST(Entry_Text, KeepsCustomNamesInTheirLine) {
  EXPECT_EQ(as_commands({Custom{""}, Custom{"up"}, Custom{"1\"#;"}}),
            "custom \ncustom up\ncustom 1\"#;\n\n");
  EXPECT_EQ(as_commands({Custom{"up\nquit"}, Custom{"two words"}, Custom{"tab\t"}}),
            "# custom \"up\\012quit\"\n# custom \"two words\"\n# custom \"tab\\011\"\n\n");
  EXPECT_EQ(as_sql({Custom{"up\nDROP TABLE x;"}}),
            "BEGIN TRANSACTION; -- checkpoint = 41\n"
            "-- custom: up\n-- DROP TABLE x;\n"
            "COMMIT; --checkpoint = 59\n\n");
}

TEST(Entry_Text, MakesEachLineOfACommentASqlComment) {
  const struct {
    std::string_view text, expected;
  } cases[] = {
      {"", "-- \n"},
      {"one\ttwo", "-- one\ttwo\n"},
      {"a\nDROP TABLE x;", "-- a\n-- DROP TABLE x;\n"},
      {"a\r\nDROP TABLE x;", "-- a\n-- DROP TABLE x;\n"},
      {"a\rDROP TABLE x;", "-- a\n-- DROP TABLE x;\n"},
      {"a\n\n\n", "-- a\n-- \n-- \n-- \n"},
      {"a\v\f\x1b[2K", "-- a\\013\\014\\033[2K\n"},
      {std::string_view("zero\0DROP TABLE x;", 18), "-- zero\\000DROP TABLE x;\n"},
      {"*/ ' \" \\ --", "-- */ ' \" \\ --\n"},
  };
  for (const auto& [text, expected] : cases) {
    std::ostringstream out;
    Sql_Writer writer(out);
    writer(Comment{text});
    writer.flush();
    EXPECT_EQ(out.str(), expected);
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Entry_Text, HasNoTextThatBecomesSql) {
  testing::expect_property([](const std::string& text) {
    std::ostringstream out;
    Sql_Writer writer(out);
    writer(Comment{text});
    writer(Custom{text});
    writer.flush();
    for (const std::string& line : lines_of(out.str())) {
      RC_ASSERT(line.starts_with("-- "));
      RC_ASSERT(line.find('\r') == line.npos && line.find('\0') == line.npos);
    }
  });
}

TEST(Entry_Text, HasOneCommandForEachEntryWhateverItsText) {
  testing::expect_property([](const std::string& text) {
    const std::string commands = as_commands({Comment{text}, Custom{text}});
    const auto lines = lines_of(commands);
    RC_ASSERT(lines.size() == 3u);
    RC_ASSERT(lines[0].starts_with("comment \""));
    RC_ASSERT(lines[1].starts_with("custom ") || lines[1].starts_with("# custom "));
    RC_ASSERT(lines[2].empty());
  });
}

TEST(Entry_Text, WritesNoMoreSqlLinesThanAJournalMayHaveRecords) {
  const std::vector<Any_Entry> entries{Create_Table{"t"},
                                       Insert_Vector{Table_Id(1), zero, std::int64_t{1} << 60}};
  EXPECT_THAT(as_commands(entries), HasSubstr("insert_vector t 0 1152921504606846976\n"));
  Journal_Of journal(entries);
  std::ostringstream out;
  Sql_Writer writer(out);
  writer.limit_to_journal_of(journal.journal().get_checkpoint());
  EXPECT_THROW(journal.journal().replay(writer), Corruption_Error);
  writer.flush();
  EXPECT_THAT(out.str(), StartsWith("CREATE TABLE \"t\""));
  EXPECT_LT(out.str().size(), 100u);
}

// ---- the stream ---------------------------------------------------------------------------------

TEST(Entry_Text, WritesWhatIsLeftInTheEnd) {
  std::ostringstream out;
  {
    Command_Writer writer(out);
    writer(Valid_Data{});
  }
  EXPECT_EQ(out.str(), "valid_data\n");
}

TEST(Entry_Text, KnowsTheNamesOfEntriesThatWereSkipped) {
  std::ostringstream out;
  Command_Writer writer(out);
  writer.skip(Create_Table{"person"});
  writer(Insert{person, zero});
  writer.flush();
  EXPECT_EQ(out.str(), "insert_into person 0\n");
}

TEST(Entry_Text, SaysThatNothingMoreFollowsFromADeletion) {
  std::ostringstream out;
  {
    Command_Writer writer(out);
    writer(Create_Table{"city"});
    writer(Add_Field{person, "twin", {Type_Code::reference, person}});
    writer(Delete{person, zero});
    writer(Comment{"joedb: type city.twin references on_delete clear"});
    writer(Delete{person, zero});
    writer(Delete_Vector{person, zero, 2});
  }
  EXPECT_THAT(out.str(), ::testing::EndsWith("delete_from city 0 alone\n"
                                             "delete_vector city 0 2 alone\n"));
  EXPECT_THAT(out.str(), HasSubstr("delete_from city 0\n"));
}

}  // namespace
}  // namespace joedb
