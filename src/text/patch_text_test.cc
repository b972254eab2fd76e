#include "text/patch_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include "commands/interpreter.h"
#include "joedb/history/changes.h"
#include "joedb/io/memory_file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/record_runs.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"

namespace joedb {
namespace {

using testing::Random;
using testing::Random_Changes;

constexpr Offset any_blob = std::numeric_limits<Offset>::max();

std::string patch_of(const std::vector<Change>& changes, Names names = {},
                     Offset blobs_end = any_blob) {
  std::ostringstream out;
  write_patch(out, changes, blobs_end, std::move(names));
  return out.str();
}

// ---- content, by names --------------------------------------------------------------------------

struct Content {
  struct Table {
    std::map<std::string, std::string> fields;  // type by field name
    std::map<index_t, std::map<std::string, std::string>> records;
    friend bool operator==(const Table&, const Table&) = default;
  };
  std::map<std::string, Table> tables;
  friend bool operator==(const Content&, const Content&) = default;
};

// Returns the bits of a value as text.
std::string bits_of(const Value& value) {
  return std::visit(
      []<class T>(const T& typed) {
        if constexpr (std::is_same_v<T, std::string_view>)
          return std::string(typed);
        else
          return std::string(reinterpret_cast<const char*>(&typed), sizeof(T));
      },
      value);
}

Content content_of(const Database& database) {
  Content content;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    Content::Table& result = content.tables[table->name()];
    for (const Field& field : table->fields()) {
      if (!field.column) continue;
      const Type type = field.column->type();
      const Table* const referenced = database.find_table(type.referenced);
      result.fields[field.name] = referenced != nullptr
                                      ? "references " + referenced->name()
                                      : declared_type_text(type.code, field.column->logical());
      for_each_run(*table, [&](index_t first, index_t size) {
        Values values(type.code);
        values.append(*field.column, first, size);
        for (index_t i = 0; i < size; ++i)
          result.records[first + i][field.name] = bits_of(values[i]);
      });
    }
    for_each_run(*table, [&](index_t first, index_t size) {
      for (index_t i = 0; i < size; ++i) result.records[first + i];
    });
  }
  return content;
}

// A database with the entries of another one up to a position.
class Copy {
 public:
  Copy(const Abstract_File& source, Offset end) {
    Bare_Journal(file_).copy_from(source, end);
    db_.emplace(file_);
  }
  Writable_Database& db() { return *db_; }
  Content content() { return content_of(db_->get_database()); }
  Content patched(const std::string& patch) {
    try {
      run_text(patch, *db_);
    } catch (const Exception& error) {
      ADD_FAILURE() << error.what() << "\n" << patch;
    }
    return content();
  }

 private:
  Memory_File file_;
  std::optional<Writable_Database> db_;
};

// ---- stories ------------------------------------------------------------------------------------

class Patch_Text : public ::testing::Test {
 protected:
  Memory_File file;
  Writable_Database db{file};
  Offset start = 0;

  Patch_Text() {
    run_text(
        "create_table t\nadd_field t s string\nadd_field t i int32\n"
        "insert_into t 0 \"a\" 1\ninsert_into t 1 \"b\" 2\n",
        db);
    start = checkpoint();
  }
  Offset checkpoint() {
    db.soft_checkpoint();
    return db.get_journal().get_position();
  }
  // Runs commands, and returns their patch. Verifies the patches in both directions, and the
  // patches of differences().
  std::string run(const std::string& commands) {
    run_text(commands, db);
    const Offset end = checkpoint();
    Copy before(file, start);
    Copy after(file, end);
    const Content old_content = before.content();
    const Content new_content = after.content();
    const Database& a = before.db().get_database();
    const Database& b = after.db().get_database();
    const std::string patch = patch_of(net_changes(file, start, end), names_of(a));
    const std::string net_backwards = patch_of(net_changes(file, end, start), names_of(b));
    const std::string forwards = patch_of(differences(a, b), names_of(a));
    const std::string backwards = patch_of(differences(b, a), names_of(b));
    EXPECT_EQ(before.patched(patch), new_content) << patch;
    EXPECT_EQ(after.patched(net_backwards), old_content) << net_backwards;
    EXPECT_EQ(Copy(file, start).patched(forwards), new_content) << forwards;
    EXPECT_EQ(Copy(file, end).patched(backwards), old_content) << backwards;
    return patch;
  }
};

TEST_F(Patch_Text, IsEmptyWithoutADifference) {
  EXPECT_EQ(run("update t 0 i 5\nupdate t 0 i 1\n"), "");
}

TEST_F(Patch_Text, HasLinesForFewRecords) {
  EXPECT_EQ(run("delete_from t 0\ninsert_into t 2 \"c \\000\\377\" 3\nupdate t 1 i 7\n"),
            "delete_from t 0\nupdate t 1 i 7\ninsert_into t 2 \"c \\000\\377\" 3\n");
}

TEST_F(Patch_Text, HasVectorsForManyRecords) {
  const std::string patch = run("insert_vector t 5 2500\nupdate t 2000 s \"x\"\n");
  EXPECT_TRUE(patch.starts_with("insert_vector t 5 1000\nupdate_vector t 5 s 1000 \"\" "));
  EXPECT_EQ(std::count(patch.begin(), patch.end(), '\n'), 9);
  start = checkpoint();
  EXPECT_EQ(run("delete_vector t 6 2000\n"), "delete_vector t 6 2000\n");
}

TEST_F(Patch_Text, HasSpecialNumbers) {
  run("add_field t f float32\nadd_field t d float64\nupdate t 0 f nan\nupdate t 1 f -inf\n"
      "update t 0 d -nan\nupdate t 1 d -0\n");
}

TEST_F(Patch_Text, GivesNamesAgain) {
  EXPECT_EQ(run("rename_field t s x\nrename_field t i s\nrename_field t x i\n"),
            "rename_field t s patch_1\nrename_field t i s\nrename_field t patch_1 i\n");
  start = checkpoint();
  run("create_table u\nrename_table t x\nrename_table u t\nrename_table x u\n");
  start = checkpoint();
  run("drop_table t\nrename_table u t\ndrop_field t s\nadd_field t s int64\nupdate t 1 s 5\n");
}

TEST_F(Patch_Text, GivesNoNameForAMomentThatIsInUse) {
  run_text("create_table u\ncreate_table patch_1\nadd_field t patch_2 int8\n", db);
  start = checkpoint();
  EXPECT_EQ(run("rename_table t x\nrename_table u t\nrename_table x u\n"),
            "rename_table t patch_3\nrename_table u t\nrename_table patch_3 u\n");
  start = checkpoint();
  run("rename_field u s x\nrename_field u i s\nrename_field u x i\n");
  start = checkpoint();
  run("create_table w\nadd_field t r references w\ndrop_table w\n");
}

TEST_F(Patch_Text, RenamesChainsAndRings) {
  run("add_field t x int8\nadd_field t y int8\nrename_field t x z\nrename_field t y x\n"
      "rename_field t i y\n");
  start = checkpoint();
  EXPECT_EQ(run("rename_field t s w\nrename_field t x s\nrename_field t y x\nrename_field t w y\n"
                "rename_field t z w\n"),
            "rename_field t z w\nrename_field t s patch_1\nrename_field t x s\n"
            "rename_field t y x\nrename_field t patch_1 y\n");
}

// If renames were handled one by one, each would be compared with all others.
TEST(Long_Patch, TakesTimeInProportionToItsRenames) {
  constexpr int fields = 20'000;
  const auto name = [](int i) { return 'f' + std::to_string(i); };
  auto table = std::make_shared<Table_Description>();
  table->id = Table_Id(1);
  table->name = "t";
  std::vector<Change> changes(fields);
  for (int i = 0; i < fields; ++i) {
    auto schema = std::make_shared<Schema_Change>();
    schema->field.id = Field_Id(static_cast<std::uint16_t>(i + 1));
    schema->field.name = name(i + 1);
    schema->old_name = name(i);
    Change& change = changes[static_cast<std::size_t>(i)];
    change.kind = Change::Kind::field_renamed;
    change.table = table;
    change.schema = std::move(schema);
  }
  std::string expected;
  for (int i = fields - 1; i >= 0; --i)
    expected += "rename_field t " + name(i) + ' ' + name(i + 1) + '\n';
  EXPECT_EQ(patch_of(changes), expected);
}

TEST_F(Patch_Text, DropsAndRestoresTables) {
  run("create_table u\nadd_field u r references u\ninsert_into u 3 1\n");
  start = checkpoint();
  run("drop_table t\n");
  start = checkpoint();
  run("create_table t\nadd_field t r references u\nadd_field u q references t\n"
      "insert_into t 0 3\nrename_table u w\n");
}

// Otherwise the rule of the first deletion would refuse it, or make others impossible.
TEST_F(Patch_Text, ClearsReferencesWithRulesToWhatItDeletes) {
  run("create_table c\ncreate_table p\nadd_field p home references c on_delete cascade\n"
      "add_field p boss references p on_delete refuse\ninsert_into c 1\n"
      "insert_into p 0 1 -1\ninsert_into p 1 1 0\ninsert_into p 2 1 0\n");
  start = checkpoint();
  run("update p 2 home -1\nupdate p 2 boss -1\ndelete_from p 1\ndelete_from p 0\n"
      "delete_from c 1\n");
}

TEST_F(Patch_Text, AnIdThatIsUsedAgainHasNothingOfTheOldRecord) {
  run("delete_from t 0\ninsert_into t 0 \"\" 0\nadd_field t n int8\n");
}

TEST_F(Patch_Text, HasNoBlobsThatTheFileDoesNotHave) {
  db.write_blob("old");
  run_text("add_field t b blob\nupdate t 0 b 1000,0\n", db);
  const Offset end = checkpoint();
  const auto net = net_changes(file, start, end);
  EXPECT_THROW(patch_of(net, {}, end), Exception);
  EXPECT_EQ(patch_of(net, {}, 1000), "add_field t b blob\nupdate t 0 b 1000,0\n");
  EXPECT_EQ(patch_of(net_changes(file, end, start), {}, 0), "drop_field t b\n");
}

// ---- random changes -----------------------------------------------------------------------------

TEST(Any_Patch, MakesOneStateOfAnother) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 60; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file;
    std::vector<Offset> positions{journal_start};
    {
      Writable_Database db(file);
      Random_Changes changes(random);
      const std::size_t steps = 1 + random.below(150);
      for (std::size_t i = 0; i < steps; ++i) {
        changes.change(db);
        if (random.below(10) > 0) continue;
        db.soft_checkpoint();
        positions.push_back(db.get_journal().get_position());
      }
      db.soft_checkpoint();
      positions.push_back(db.get_journal().get_position());
    }
    // A second history, which diverges from the first one.
    Copy other(file, positions[random.below(positions.size())]);
    Random_Changes changes(random);
    for (std::size_t i = random.below(50); i > 0; --i) changes.change(other.db());

    for (int i = 0; i < 4; ++i) {
      const Offset from = positions[random.below(positions.size())];
      const Offset to = positions[random.below(positions.size())];
      Copy a(file, from);
      Copy b(file, to);
      const std::vector<Change> found = differences(a.db().get_database(), b.db().get_database());
      EXPECT_EQ(found.empty(), a.content() == b.content());
      EXPECT_EQ(a.patched(patch_of(net_changes(file, from, to))), b.content())
          << from << " to " << to;
      EXPECT_EQ(Copy(file, from).patched(patch_of(found)), b.content()) << from << " to " << to;
      EXPECT_TRUE(differences(a.db().get_database(), b.db().get_database()).empty());
      EXPECT_EQ(Copy(file, from)
                    .patched(patch_of(differences(Copy(file, from).db().get_database(),
                                                  other.db().get_database()))),
                other.content());
    }
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace joedb
