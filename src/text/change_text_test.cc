#include "text/change_text.h"

#include <gtest/gtest.h>

#include "joedb/history/changes.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"

namespace joedb {
namespace {

// Formats the changes of a journal as text.
class Change_Text : public ::testing::Test {
 protected:
  const Table_Id t{1};
  const Field_Id f{1};
  Memory_File file;
  Writable_Database db{file};
  Offset start = 0;

  Change_Text() {
    db.write(Create_Table{"t"});
    db.write(Add_Field{t, "f", {Type_Code::string, {}}});
    start = checkpoint();
  }
  Offset checkpoint() {
    db.soft_checkpoint();
    return db.get_journal().get_position();
  }
  std::string text(const Change_Style& style = {}) {
    std::string result;
    for (const Transaction& transaction : Changes(file, start, checkpoint()))
      for (const Change& change : transaction.changes) append_change(result, change, style);
    return result;
  }
  std::string summary(bool has_colours = false) {
    Summaries summaries(file, start, checkpoint());
    return summary_text(*summaries.next(), has_colours);
  }
};

TEST_F(Change_Text, HasALineForEachRecord) {
  db.write(Insert_Vector{t, Record_Id(0), 2});
  db.write(Update<std::string_view>{t, Record_Id(1), f, "x\n"});
  EXPECT_EQ(text(), "+ t 0 f \"\"\n+ t 1 f \"x\\012\"\n");
  EXPECT_EQ(summary(), "+2 t");
  start = checkpoint();
  db.write(Update<std::string_view>{t, Record_Id(1), f, "y"});
  db.write(Delete{t, Record_Id(0)});
  EXPECT_EQ(text({.indentation = "  "}), "  ~ t 1 f \"x\\012\" → \"y\"\n  - t 0 f \"\"\n");
  EXPECT_EQ(summary(), "~1 t, -1 t");
  EXPECT_EQ(summary(true), "\x1b[36m~1 t\x1b[0m, \x1b[31m-1 t\x1b[0m");
}

TEST_F(Change_Text, HasTheFirstOfManyRecords) {
  db.write(Insert_Vector{t, Record_Id(5), 21});
  EXPECT_EQ(text(), "+ t 5 f \"\"\n+ t 6 f \"\"\n+ t 7 f \"\"\n+ t … 18 more, to 25\n");
  EXPECT_EQ(text({.record = Record_Id(25)}), "+ t 25 f \"\"\n");
  const std::string all = text({.is_complete = true});
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 21);
}

TEST_F(Change_Text, HasTheBeginningOfALongText) {
  std::string long_text(99, 'a');
  long_text += "\xc3\xa4" + std::string(100, 'b');
  db.write(Insert{t, Record_Id(0)});
  db.write(Update<std::string_view>{t, Record_Id(0), f, long_text});
  EXPECT_EQ(text(), "+ t 0 f \"" + std::string(99, 'a') + "\"… (201 bytes)\n");
  EXPECT_EQ(text({.is_complete = true}), "+ t 0 f \"" + long_text + "\"\n");
}

TEST_F(Change_Text, CutsInvalidTextsWhereTheyDiffer) {
  const std::string before(60, '\x80'), behind(100, 'a');
  db.write(Insert{t, Record_Id(0)});
  db.write(Update<std::string_view>{t, Record_Id(0), f, before + 'X' + behind});
  start = checkpoint();
  db.write(Update<std::string_view>{t, Record_Id(0), f, before + 'Y' + behind});
  std::string shown;
  for (int i = 0; i < 20; ++i) shown += "\\200";
  const std::string end = std::string(79, 'a') + "\"… (161 bytes)";
  EXPECT_EQ(text(), "~ t 0 f …\"" + shown + 'X' + end + " → …\"" + shown + 'Y' + end + '\n');
}

TEST_F(Change_Text, CutsNoCharacterWhereTextsDiffer) {
  db.write(Insert{t, Record_Id(0)});
  db.write(Update<std::string_view>{t, Record_Id(0), f, "\xc3\xa4\x80\x80\x80z"});
  start = checkpoint();
  db.write(Update<std::string_view>{t, Record_Id(0), f, "\xc3\xb6\x80\x80\x80z"});
  EXPECT_EQ(text({.has_colours = true}),
            "\x1b[36m~ t 0 f \"\x1b[31mä\\200\\200\\200\x1b[0m\x1b[36mz\" → "
            "\"\x1b[32mö\\200\\200\\200\x1b[0m\x1b[36mz\"\x1b[0m\n");
}

TEST_F(Change_Text, HasTheSchemaAsCommands) {
  db.write(Insert{t, Record_Id(0)});
  db.write(Rename_Table{t, "u"});
  db.write(Create_Table{"v"});
  db.write(Add_Field{Table_Id(2), "r", {Type_Code::reference, t}});
  db.write(Rename_Field{Table_Id(2), f, "s"});
  db.write(Drop_Field{Table_Id(2), f});
  db.write(Drop_Table{t});
  db.write(Custom{"go"});
  EXPECT_EQ(text(),
            "+ t 0 f \"\"\nrename_table t u\ncreate_table v\nadd_field v r references u\n"
            "rename_field v r s\ndrop_field v s (0 records)\ndrop_table u (1 record)\ncustom go\n");
  EXPECT_EQ(summary(), "schema of u, +1 u, schema of v, a mark");
}

TEST(Shown_Text, HasNoControlCharactersOfSeveralBytes) {
  std::string text;
  append_shown(text, "x\xc2\x9b\xe2\x80\xa7\xe2\x80\xae\xe2\x81\xa5");
  EXPECT_EQ(text, "\"x\\302\\233\xe2\x80\xa7\\342\\200\\256\xe2\x81\xa5\"");
}

TEST_F(Change_Text, HasNoControlCharactersOfSeveralBytes) {
  db.write(Insert{t, Record_Id(0)});
  db.write(Update<std::string_view>{t, Record_Id(0), f, "x\xc2\x9b"});
  EXPECT_EQ(text(), "+ t 0 f \"x\\302\\233\"\n");
}

}  // namespace
}  // namespace joedb
