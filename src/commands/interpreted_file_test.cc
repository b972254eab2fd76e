#include "joedb/commands/interpreted_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "commands/interpreter.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

// The fixture: opens a text file of commands as a database file.
class Interpreted : public ::testing::Test {
 protected:
  void write(std::string_view text) { directory_.write("db.joedbi", text); }

  std::string text() { return directory_.read("db.joedbi"); }

  void run(std::string_view commands) {
    Interpreted_File file(path_, Open_Mode::write_existing_or_create_new);
    Writable_Database database(file);
    run_text(commands, database);
    database.soft_checkpoint();
  }

  std::string error() {
    try {
      Interpreted_File file(path_, Open_Mode::write_existing);
    } catch (const Exception& e) {
      return e.what();
    }
    return "none";
  }

  testing::Temporary_Directory directory_;
  const std::string path_ = directory_.file("db.joedbi");
};

TEST_F(Interpreted, IsCreated) {
  run("create_table t\n");
  EXPECT_EQ(text(), "create_table t\n\n");
}

TEST_F(Interpreted, IsNotCreatedByOneWhoOnlyLooks) {
  run("");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Interpreted, GetsTheEntriesOfEachCheckpoint) {
  write("# my schema\ncreate_table t\nadd_field t x float64\n");
  run("insert_into t 0 0.1\nsoft_checkpoint\ncomment \"hard\"\nhard_checkpoint\n");
  run("");
  run("delete_from t 0\n");
  EXPECT_EQ(text(),
            "# my schema\ncreate_table t\nadd_field t x float64\n"
            "insert_into t 0\nupdate t 0 x 0.1\n\n"
            "comment \"hard\"\n\n"
            "delete_from t 0\n\n");
}

TEST_F(Interpreted, HoldsBlobsWhereTheyWere) {
  run("create_table t\nadd_field t b blob\nwrite_blob \"one\\000\"\ninsert_into t 0 51,4\n");
  Interpreted_File file(path_, Open_Mode::read_existing);
  EXPECT_EQ(file.read_blob(Blob(51, 4)), std::string("one\0", 4));
}

TEST_F(Interpreted, MakesTheSameJournalAgain) {
  run("create_table t\nadd_field t s string\nadd_field t r references t\n"
      "insert_vector t 0 3\nupdate_vector t 0 s 3 \"a\" \"\\377\" \"c\"\ninsert_into t 3 \"d\" 0\n"
      "timestamp 0\nvalid_data\ncustom up\ndelete_vector t 1 2\n");
  const auto bytes = [&] {
    Interpreted_File file(path_, Open_Mode::read_existing);
    std::string result(static_cast<std::size_t>(file.get_size()), 0);
    file.read_exactly(result.data(), result.size(), 0);
    return result;
  };
  const std::string once = bytes();
  EXPECT_EQ(bytes(), once);
  EXPECT_GT(once.size(), 41u + 50u);
}

TEST_F(Interpreted, ForgetsWhatIsNotCheckpointed) {
  run("create_table t\n");
  Interpreted_File file(path_, Open_Mode::write_existing);
  Writable_Database database(file);
  run_text("create_table u\nflush\n", database);
  EXPECT_EQ(text(), "create_table t\n\n");
  database.rollback();
  EXPECT_EQ(text(), "create_table t\n\n");
}

TEST_F(Interpreted, RefusesTextsThatDoNotEnd) {
  write("create_table t\ncreate_ta");
  EXPECT_EQ(error(), "Interpreted_File: last line of joedbi file must be empty");
  write("create_table t\nquit\n");
  EXPECT_EQ(error(), path_ + ": nothing written behind the command quit would be read again");
  write("create_table t\nabort\n");
  EXPECT_EQ(error(), "aborted");
  write("create_table t\ninsert_into u\n");
  EXPECT_EQ(error(), "column 13: No such table: u\nLine 2: insert_into u");
}

}  // namespace
}  // namespace joedb
