#include "commands/edit_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "commands/interpreter.h"
#include "joedb/io/memory_file.h"
#include "support/property.h"
#include "text/dump.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The fixture: commands of joedbi create a database, which is then edited as text.
class Edit_Test : public ::testing::Test {
 protected:
  void run(const std::string& commands) {
    run_text(commands, database);
    database.soft_checkpoint();
  }
  std::string text() const { return edit_text(database.get_database()); }

  // Returns the changes that the edited text makes, as commands.
  std::string changes(const std::string& edited) {
    std::ostringstream out;
    {
      Command_Writer printer(out);
      Change_Sink sink(copy(), printer);
      const Edited_Text parsed(edited, *copy_);
      if (!parsed.problems().empty()) return first_problem(parsed);
      try {
        parsed.apply(sink);
      } catch (const Edit_Error& error) {
        return std::to_string(error.line) + ": " + error.what() + '\n';
      }
    }
    return out.str();
  }
  // Returns the changes if `from` is replaced by `to` in the text.
  std::string changes(const std::string& from, const std::string& to) {
    std::string edited = text();
    const std::size_t place = edited.find(from);
    if (place == edited.npos) return "there is no " + from;
    return changes(edited.replace(place, from.size(), to));
  }

  // Returns the changes if `line` is removed, and `from` is replaced by `to`.
  std::string changes_without(const std::string& line, const std::string& from,
                              const std::string& to) {
    std::string edited = text();
    for (const auto& [old, replacement] : {std::pair(line, std::string()), std::pair(from, to)}) {
      const std::size_t place = edited.find(old);
      if (place == edited.npos) return "there is no " + old;
      edited.replace(place, old.size(), replacement);
    }
    return changes(edited);
  }

  static std::string first_problem(const Edited_Text& edited) {
    const Edit_Problem& problem = edited.problems().front();
    return std::to_string(problem.line) + ": " + problem.what + '\n';
  }

  Memory_File file;
  Writable_Database database{file};

 private:
  Database& copy() {
    Memory_File bytes(Open_Mode::write_existing);
    bytes.get_data() = file.get_data();
    copy_.emplace();
    Readonly_Journal(bytes).replay(*copy_);
    return *copy_;
  }
  std::optional<Database> copy_;
};

class Edit_People_Test : public Edit_Test {
 protected:
  Edit_People_Test() {
    run("create_table person\nadd_field person name string\nadd_field person age int32\n"
        "add_field person boss references person\n"
        "insert_into person 0 \"Ada\" 36 -1\ninsert_into person 1 \"Charles\" 44 0\n"
        "insert_into person 2 \"Grace \\\"H\\\"\\012\" 85 0\n");
  }
};

TEST_F(Edit_People_Test, ShowsARecordALine) {
  EXPECT_EQ(text(), R"(table person
field name string
field age int32
field boss references person
# id  name             age  boss
0     "Ada"            36   null
1     "Charles"        44   0
2     "Grace \"H\"\n"  85   0

end
)");
}

TEST_F(Edit_People_Test, WritesOnlyWhatIsDifferent) {
  EXPECT_EQ(changes(text()), "");
  EXPECT_EQ(changes("44 ", "45 # not a comment here"),
            "7: 3 values expected (name age boss), got 8\n");
  EXPECT_EQ(changes("44 ", "45 "), "update person 1 age 45\n");
  EXPECT_EQ(changes("\\n", "\\n\\t\\x41"), "update person 2 name \"Grace \\\"H\\\"\\012\\011A\"\n");
  EXPECT_EQ(changes("null", "2"), "update person 0 boss 2\n");
  EXPECT_EQ(changes("1     \"Charles\"        44   0\n", ""), "delete_from person 1\n");
  EXPECT_EQ(changes("\nend", "+ Alan 41 null\n9 \"\" 0 1\nend"),
            "insert_into person 9\nupdate person 9 name \"\"\nupdate person 9 age 0\n"
            "update person 9 boss 1\n"
            "insert_into person 10\nupdate person 10 name \"Alan\"\nupdate person 10 age 41\n"
            "update person 10 boss -1\n");
}

TEST_F(Edit_People_Test, ChangesTheSchema) {
  EXPECT_EQ(changes("field boss", "field town string = \"Rome\"\nfield boss"),
            "add_field person town string\nupdate person 0 town \"Rome\"\n"
            "update person 1 town \"Rome\"\nupdate person 2 town \"Rome\"\n");
  EXPECT_EQ(changes("table person", "table human was person"), "rename_table person human\n");
  EXPECT_EQ(changes("field age int32", "field years int32 was age"),
            "rename_field person age years\n");
  EXPECT_EQ(changes("end", "table town\nfield mayor references person\n0 2\nend"),
            "create_table town\nadd_field town mayor references person\n"
            "insert_into town 0\nupdate town 0 mayor 2\n");
  EXPECT_EQ(changes("end\n"), "drop_table person\n");
  run("drop_field person age\ndrop_field person boss\n");
  EXPECT_EQ(changes("table person\n# the field is gone\n0\n1\n2\nend\n"),
            "drop_field person name\n");
}

TEST_F(Edit_People_Test, SaysWhatIsWrongInWhichLine) {
  const std::string cut = "the last line, end, is missing: the text may have been cut off\n";
  EXPECT_EQ(changes(""), "1: " + cut);
  EXPECT_EQ(changes("end\n", ""), "9: " + cut);
  EXPECT_EQ(changes("44", "x"), "7: age: int32 expected, got `x`\n");
  EXPECT_EQ(changes("44", "99999999999"),
            "7: age: int32 expected, and `99999999999` is out of range\n");
  EXPECT_EQ(changes("\"Ada\"", "\"Ada"), "6: 3 values expected (name age boss), got 1\n");
  EXPECT_EQ(changes("\n1 ", "\n0 "), "7: record 0 of table person is there twice\n");
  EXPECT_EQ(changes("\n1 ", "\nx "),
            "7: table, field, end, + or the id of a record expected, got `x`\n");
  EXPECT_EQ(changes("age int32", "age int64"),
            "3: the field age is of type int32, which cannot be changed here: use "
            "retype_field or set_type in joedbi\n");
  EXPECT_EQ(changes("field age int32", "field age"),
            "3: expected: field NAME TYPE, field NAME TYPE = VALUE, or field NAME TYPE was OLD\n");
  EXPECT_EQ(changes("field age", "field years"),
            "drop_field person age\nadd_field person years int32\nupdate person 0 years 36\n"
            "update person 1 years 44\nupdate person 2 years 85\n");
  EXPECT_EQ(changes("\n1 ", "\n99999999999 "),
            "7: insert_into: too big: record 99999999999 in table person, which has a size of 3\n");
}

TEST_F(Edit_Test, BlobsCannotBeEdited) {
  run("create_table t\nadd_field t b blob\nwrite_blob \"x\"\ninsert_into t 0 53,1\n");
  EXPECT_EQ(changes(text()), "");
  EXPECT_EQ(changes("53,1", "53,2"),
            "4: b: the place of a blob cannot be edited; 0,0 is an empty one\n");
  EXPECT_EQ(changes("53,1", "0,0"), "update t 0 b 0,0\n");
}

TEST_F(Edit_Test, ATableThatIsReferencedIsNotDroppedForANewName) {
  run("create_table person\ncreate_table pet\nadd_field pet owner references person\n");
  EXPECT_EQ(changes("table person", "table people"),
            "4: the field owner references the table person, which is not in this text. A new name "
            "is written: table NEW was person\n");
  EXPECT_EQ(changes("table person", "table people was person"), "rename_table person people\n");
}

TEST_F(Edit_Test, ChangesOneTableAlone) {
  run("create_table a\ncreate_table b\nadd_field a x int32\ninsert_into a 0 5\n");
  const Database& content = database.get_database();
  const Table* const only = content.find_table("a");
  const std::string edited = edit_text(content, only);
  EXPECT_EQ(edited, "table a\nfield x int32\n# id  x\n0     5\n\nend\n");
  EXPECT_TRUE(Edited_Text(edited, content, only).problems().empty());
  EXPECT_THAT(first_problem(Edited_Text("end\n", content, only)), HasSubstr("a is missing"));
  EXPECT_THAT(first_problem(Edited_Text("table b\nend\n", content, only)),
              HasSubstr("only the table a is edited"));
}

// ---- random content -----------------------------------------------------------------------------

constexpr Table_Id table{1};

template <class T>
T any_value() {
  if constexpr (std::is_same_v<T, Record_Id>)
    return Record_Id(*rc::gen::inRange(-1, 30));
  else if constexpr (std::is_floating_point_v<T>)
    return *rc::gen::elementOf(std::vector<T>{
        0, T(-0.0), T(0.1), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(),
        std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
        std::numeric_limits<T>::quiet_NaN(), T(1) / 3});
  else
    return *rc::gen::arbitrary<T>();
}

template <class... T>
void fill(Writable_Database& database) {
  database.write(Create_Table{"t"});
  (database.write(Add_Field{table,
                            "f" + std::to_string(static_cast<int>(code_of<T>)),
                            {code_of<T>, code_of<T> == Type_Code::reference ? table : Table_Id()}}),
   ...);
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    const Record_Id record(*rc::gen::inRange(0, 20));
    const bool is_used = database.get_database().table(table).is_used(record);
    if (is_used && *rc::gen::inRange(0, 3) == 0) {
      database.write(Delete{table, record});
      continue;
    }
    if (!is_used) database.write(Insert{table, record});
    std::uint16_t field = 0;
    const auto set = [&]<class V>(std::type_identity<V>) {
      const Field_Id id(++field);
      if (*rc::gen::arbitrary<bool>()) return;
      if constexpr (std::is_same_v<V, std::string_view>) {
        const auto text = *rc::gen::arbitrary<std::string>();
        database.write(Update<V>{table, record, id, text});
      } else {
        database.write(Update<V>{table, record, id, any_value<V>()});
      }
    };
    (set(std::type_identity<T>()), ...);
  }
}

TEST(Edit_Text, OfAnyDatabaseMakesAnyOtherEqualToIt) {
  testing::expect_property([] {
    Memory_File file_a, file_b;
    Writable_Database a(file_a), b(file_b);
    for (Writable_Database* database : {&a, &b})
      fill<std::string_view, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double,
           bool, Record_Id>(*database);
    const std::string text = edit_text(b.get_database());
    const Edited_Text edited(text, a.get_database());
    RC_ASSERT(edited.problems().empty());
    Change_Sink sink(a);
    edited.apply(sink);
    RC_ASSERT(edit_text(a.get_database()) == text);
    std::ostringstream dumps[2];
    dump_data(a.get_database(), Command_Writer(dumps[0]));
    dump_data(b.get_database(), Command_Writer(dumps[1]));
    RC_ASSERT(dumps[0].str() == dumps[1].str());

    // Applying the same text again must change nothing.
    Change_Sink nothing(a);
    Edited_Text(text, a.get_database()).apply(nothing);
    RC_ASSERT(nothing.count() == 0);
  });
}

TEST(Edit_Text, BearsAnyText) {
  testing::expect_property([] {
    Memory_File file;
    Writable_Database database(file);
    fill<std::string_view, std::int32_t, Record_Id>(database);
    std::string text = edit_text(database.get_database());
    const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto size = *rc::gen::inRange<std::size_t>(0, 10);
    text.replace(place, std::min(size, text.size() - place), *rc::gen::arbitrary<std::string>());
    const Edited_Text edited(text, database.get_database());
    if (!edited.problems().empty()) return;
    Change_Sink sink(database);
    try {
      edited.apply(sink);
    } catch (const Edit_Error&) {
    }
  });
}

// Two cities, and Ada and Bob, who live in the first one.
class Edit_Rules_Test : public Edit_Test {
 protected:
  void make(const std::string& rule) {
    run("create_table city\nadd_field city name string\ncreate_table person\n"
        "add_field person name string\nadd_field person home references city on_delete " +
        rule +
        "\ninsert_into city 0 \"Rome\"\ninsert_into city 1 \"Oslo\"\n"
        "insert_into person 0 \"Ada\" 0\ninsert_into person 1 \"Bob\" 0\n");
  }
  const std::string city = "0     \"Rome\"\n", ada = "0     \"Ada\"  0\n",
                    bob = "1     \"Bob\"  0\n";
};

TEST_F(Edit_Rules_Test, ChangesNoRule) {
  make("cascade");
  const std::string problem = "which cannot be changed here: use retype_field or set_type";
  EXPECT_THAT(changes("cascade", "clear"), HasSubstr(problem));
  EXPECT_THAT(changes("cascade", "nothing"), HasSubstr(problem));
  EXPECT_THAT(changes(" on_delete cascade", ""), HasSubstr(problem));
}

TEST_F(Edit_Rules_Test, DeletesWhatRefersToAMissingRecord) {
  make("cascade");
  EXPECT_EQ(changes(city, ""),
            "delete_from city 0 alone\ndelete_from person 1\ndelete_from person 0\n");
  EXPECT_EQ(changes_without(city, "Bob\"  0", "Bob\"  1"),
            "delete_from city 0 alone\nupdate person 1 home 1\ndelete_from person 0\n");
}

TEST_F(Edit_Rules_Test, ClearsWhatRefersToAMissingRecord) {
  make("clear");
  EXPECT_EQ(changes(city, ""),
            "delete_from city 0 alone\nupdate person 0 home -1\nupdate person 1 home -1\n");
  EXPECT_EQ(changes_without(city, "\"Bob\"", "\"Eve\""),
            "delete_from city 0 alone\nupdate person 0 home -1\nupdate person 1 home -1\n"
            "update person 1 name \"Eve\"\n");
}

TEST_F(Edit_Rules_Test, RefusesOnlyBecauseOfRecordsThatStay) {
  make("refuse");
  EXPECT_THAT(changes(city, ""), HasSubstr("city 0 cannot be deleted: person 0 refers to it"));
  EXPECT_EQ(changes_without(city, ada + bob, ""),
            "delete_from city 0 alone\ndelete_from person 0\ndelete_from person 1\n");
}

}  // namespace
}  // namespace joedb
