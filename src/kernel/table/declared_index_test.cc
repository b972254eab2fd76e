// Indexes that the file declares.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/content_difference.h"
#include "kernel/table/declaration.h"
#include "kernel/table/undo_log.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"
#include "support/error_of.h"
#include "support/property.h"
#include "support/temporary_directory.h"

namespace joedb::declared_index_test {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::expect_property;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Random;
using testing::Random_Changes;

constexpr Table_Id person{1};
constexpr Field_Id name{1}, age{2}, town{3};
const Index_Definition by_name{"by_name", person, {name}, true};
const Index_Definition by_age{"by_age", person, {age, name}};
const Index_Definition by_age_town{"by_age_town", person, {age, town}, true};

Database read(Abstract_File& file, const std::vector<Index_Definition>& indexes = {}) {
  Database database;
  for (const Index_Definition& index : indexes) database.add_index(index);
  Readonly_Journal journal(file);
  load(database, journal);
  return database;
}

std::vector<std::int64_t> ids_of(const Database& database, std::string_view index_name) {
  std::vector<std::int64_t> ids;
  const Index* const index = database.find_index(index_name);
  for (auto cursor = index->begin(); cursor.record().is_not_null(); cursor.next())
    ids.push_back(cursor.record().value());
  return ids;
}

Record_Id find(const Database& database, std::string_view text) {
  return database.find_index("by_name")->find(std::array{key_part(text)});
}

class Declared_Index_Test : public ::testing::Test {
 protected:
  Declared_Index_Test() {
    db.write(Create_Table{"person"});
    db.write(Add_Field{person, "name", {Type_Code::string, {}}});
    db.write(Add_Field{person, "age", {Type_Code::int32, {}}});
    db.write(Add_Field{person, "town", {Type_Code::string, {}}});
  }

  Record_Id add() {
    const Record_Id id(db.get_database().table(person).records().next_free());
    db.write(Insert{person, id});
    return id;
  }
  Record_Id add(std::string_view text, std::int32_t years = 0, std::string_view where = "") {
    const Record_Id id = add();
    set_name(id, text);
    db.write(Update<std::int32_t>{person, id, age, years});
    db.write(Update<std::string_view>{person, id, town, where});
    return id;
  }
  void set_name(Record_Id id, std::string_view text) {
    db.write(Update<std::string_view>{person, id, name, text});
  }

  // Writes as a program that does not know declarations.
  template <class... Entry>
  void write_as_joedb_10(const Entry&... entries) {
    db.soft_checkpoint();
    {
      Writable_Journal journal(file);
      journal.replay(Ignore_Entries());
      (journal.append(entries), ...);
      journal.soft_checkpoint();
    }
  }
  void add_as_joedb_10(std::string_view text) {
    const Record_Id id(db.get_database().table(person).records().size());
    write_as_joedb_10(Insert{person, id}, Update<std::string_view>{person, id, name, text});
  }

  Database read_again() {
    db.soft_checkpoint();
    return read(file);
  }
  const Database& content() const { return db.get_database(); }

  Memory_File file;
  Writable_Database db{file};
};

TEST(Index_Declaration_Text, IsACommandOfTheInterpreter) {
  const auto index = parse_index_declaration("joedb: create_unique_index by_name person name,age");
  ASSERT_TRUE(index);
  EXPECT_EQ(index->name, "by_name");
  EXPECT_EQ(index->table, "person");
  EXPECT_THAT(index->fields, ElementsAre("name", "age"));
  EXPECT_TRUE(index->is_unique);
  EXPECT_FALSE(parse_index_declaration("joedb: create_index a b c")->is_unique);
  EXPECT_TRUE(parse_index_declaration("joedb: drop_index by_name")->is_drop);
}

TEST(Index_Declaration_Text, IsNoOtherComment) {
  for (const char* comment :
       {"", "joedb:", "joedb: ", "joedb: hello", "joedb: create_index a b",
        "joedb: create_index a b c d", "joedb: create_index a b c,", "joedb: create_index a b ,c",
        "joedb: create_index  a b c", "joedb: create_index a-b t c", "joedb: drop_index",
        "joedb: drop_index a b", " joedb: drop_index a", "create_index a b c",
        "joedb: create_index a b c\n"})
    EXPECT_FALSE(parse_index_declaration(comment)) << comment;
}

TEST_F(Declared_Index_Test, HasEveryRecordWithItsCurrentValues) {
  add("Bob", 3), add("Ann", 5);
  declare_index(db, by_name);
  add("Abe", 4);
  declare_index(db, by_age);
  add();
  EXPECT_THAT(ids_of(content(), "by_name"), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(ids_of(content(), "by_age"), ElementsAre(3, 0, 2, 1));
  db.write(Insert_Vector{person, Record_Id(4), 2});
  EXPECT_THAT(ids_of(content(), "by_name"), ElementsAre(3, 4, 5, 2, 1, 0));
  db.write(Delete{person, Record_Id(2)});
  EXPECT_THAT(ids_of(content(), "by_name"), ElementsAre(3, 4, 5, 1, 0));
  EXPECT_EQ(content_difference(read_again(), content()), "");
}

TEST_F(Declared_Index_Test, IsInDeclarationsWithCurrentNames) {
  declare_index(db, by_name), declare_index(db, by_age);
  db.write(Rename_Table{person, "human"});
  db.write(Rename_Field{person, name, "title"});
  const auto expected = ElementsAre("joedb: create_index by_age human age,title",
                                    "joedb: create_unique_index by_name human title");
  EXPECT_THAT(content().declarations(), expected);
  EXPECT_THAT(read_again().declarations(), expected);
}

TEST_F(Declared_Index_Test, RefusesASecondRecordWithTheSameKey) {
  add("Bob", 3);
  declare_index(db, by_name);
  EXPECT_EQ(error_of([&] { add("Bob", 4); }),
            "by_name unique index failure: (\"Bob\") at id = 1 was already at id = 0");
  EXPECT_EQ(error_of([&] {
              const std::string_view names[] = {"Ann", "Ann"};
              db.write_vector<std::string_view>(person, Record_Id(0), name, names);
            }),
            "by_name unique index failure: (\"Ann\") at id = 1 was already at id = 0");
  EXPECT_THAT(ids_of(content(), "by_name"), ElementsAre(1, 0));
}

// `insert_into person 0`, and then the values: any number of records begin with the same key.
TEST_F(Declared_Index_Test, DoesNotCompareDefaultValues) {
  declare_index(db, by_name);
  const Record_Id a = add(), b = add();
  set_name(a, "Ann"), set_name(b, "Bob");
  EXPECT_THROW(set_name(b, "Ann"), Unique_Violation);
  set_name(a, ""), set_name(b, "");
  EXPECT_THAT(violated_indexes(content()), IsEmpty());
}

// The last field of the key is that with the highest id.
TEST_F(Declared_Index_Test, ComparesKeysOfSeveralFieldsWhenTheLastOneIsSet) {
  declare_index(db, by_age_town);
  add("Ann", 5), add("Bob", 5);
  add("Cid", 5, "Oslo");
  EXPECT_THROW(add("Dan", 5, "Oslo"), Unique_Violation);
  add("Eve", 0, "Oslo");
  EXPECT_THROW(add("Fay", 0, "Oslo"), Unique_Violation);
}

TEST_F(Declared_Index_Test, DoesNotCompareMissingValues) {
  db.write(Comment{"joedb: type person.age int32 optional"});
  declare_index(db, by_age_town);
  const std::int32_t none = std::numeric_limits<std::int32_t>::min();
  add("Ann", none, "Oslo"), add("Bob", none, "Oslo"), add("Cid", 5, "Oslo");
  EXPECT_THROW(add("Dan", 5, "Oslo"), Unique_Violation);
}

TEST_F(Declared_Index_Test, CannotBeUniqueIfKeysAreNot) {
  add("Bob", 3), add("Bob", 4);
  const Offset ahead = db.ahead_of_checkpoint();
  EXPECT_EQ(error_of([&] { declare_index(db, by_name); }),
            "by_name unique index failure: (\"Bob\") at id = 1 was already at id = 0");
  EXPECT_EQ(db.ahead_of_checkpoint(), ahead);
  EXPECT_THAT(content().indexes(), IsEmpty());
}

TEST_F(Declared_Index_Test, SaysWhyItCannotBe) {
  declare_index(db, by_name);
  const auto problem = [&](const Index_Definition& index) {
    return error_of([&] { declare_index(db, index); });
  };
  EXPECT_EQ(problem(by_name), "create_index: there is an index by_name already");
  EXPECT_EQ(problem({"a", Table_Id(2), {name}}), "create_index: there is no such table");
  EXPECT_EQ(problem({"a", person, {Field_Id(4)}}), "create_index: there is no such field");
  EXPECT_EQ(problem({"a", person, {name, name}}), "create_index: field name is there twice");
  EXPECT_EQ(problem({"1", person, {name}}), "create_index: invalid identifier: 1");
  EXPECT_EQ(error_of([&] { drop_index(db, "a"); }), "drop_index: the file declares no index a");
}

TEST_F(Declared_Index_Test, EndsWithDropIndexAndWithItsTableAndFields) {
  add("Bob", 3);
  declare_index(db, by_name), declare_index(db, by_age), declare_index(db, by_age_town);
  const Index* const index = content().find_index("by_name");
  const auto cursor = index->begin();
  drop_index(db, "by_name");
  EXPECT_EQ(content().find_index("by_name"), nullptr);
  EXPECT_EQ(index->size(), 0U);
  auto next = cursor;
  next.next();
  EXPECT_TRUE(next.record().is_null());
  add("Bob", 3);
  db.write(Drop_Field{person, name});
  EXPECT_THAT(content().declarations(),
              ElementsAre("joedb: create_unique_index by_age_town person age,town"));
  EXPECT_EQ(content_difference(read_again(), content()), "");
  db.write(Drop_Table{person});
  EXPECT_THAT(content().indexes(), IsEmpty());
  EXPECT_EQ(content_difference(read_again(), content()), "");
}

TEST_F(Declared_Index_Test, IsNoneIfItDoesNotSuit) {
  for (const char* comment :
       {"joedb: create_index a nobody name", "joedb: create_index a person size",
        "joedb: create_index a person name,name", "joedb: drop_index a"})
    db.write(Comment{comment});
  EXPECT_THAT(content().indexes(), IsEmpty());
  declare_index(db, by_name);
  db.write(Comment{"joedb: create_index by_name person age"});
  EXPECT_THAT(content().declarations(),
              ElementsAre("joedb: create_unique_index by_name person name"));
}

// ---- keys that a program has written twice ------------------------------------------------------

class Violated_Index_Test : public Declared_Index_Test {
 protected:
  Violated_Index_Test() {
    declare_index(db, by_name);
    add("Bob", 3);
    add("Ann", 3);
    add_as_joedb_10("Bob");
  }
};

TEST_F(Violated_Index_Test, CanBeReadAndSearched) {
  const Database database = read(file);
  EXPECT_THAT(ids_of(database, "by_name"), ElementsAre(1, 0, 2));
  EXPECT_EQ(find(database, "Bob"), Record_Id(0));
  EXPECT_THAT(violated_indexes(database),
              ElementsAre("index by_name: 1 record has the key of another one; the first: by_name "
                          "unique index failure: (\"Bob\") at id = 2 was already at id = 0"));
}

TEST_F(Violated_Index_Test, RefusesOnlyNewViolations) {
  Writable_Database other(file);
  const auto set = [&](index_t id, std::string_view text) {
    other.write(Update<std::string_view>{person, Record_Id(id), name, text});
  };
  set(0, "Bob"), set(2, "Bob");
  other.write(Update<std::int32_t>{person, Record_Id(2), age, 7});
  EXPECT_THROW(set(1, "Bob"), Unique_Violation);
  EXPECT_THROW(set(0, "Ann"), Unique_Violation);
  other.write(Add_Field{person, "size", {Type_Code::int8, {}}});
  Undo_Log undo(other);
  const auto savepoint = undo.savepoint();
  undo.erase(other.get_database().table(person), Record_Id(0));
  undo.update<std::string_view>(other.get_database().table(person), name, Record_Id(2), "Cid");
  undo.rollback_to(savepoint);
  EXPECT_THAT(ids_of(other.get_database(), "by_name"), ElementsAre(1, 0, 2));
  set(2, "Cid");
  EXPECT_THAT(violated_indexes(other.get_database()), IsEmpty());
  EXPECT_THROW(set(2, "Bob"), Unique_Violation);
  other.soft_checkpoint();
  EXPECT_EQ(content_difference(read(file), other.get_database()), "");
}

// ---- programs -----------------------------------------------------------------------------------

TEST_F(Declared_Index_Test, IsTheOneOfAProgramThatHasTheSame) {
  add();
  add("Bob", 3);
  declare_index(db, by_name);
  db.soft_checkpoint();
  const Database database = read(file, {by_name});
  EXPECT_EQ(database.indexes().size(), 1U);
  EXPECT_THAT(ids_of(database, "by_name"), ElementsAre(0, 1));
  Writable_Database program(file, {}, Deleted_Values::reset, {by_name});
  EXPECT_EQ(program.get_database().indexes().size(), 1U);
  EXPECT_THROW(program.write(Drop_Field{person, name}), Data_Error);
}

TEST_F(Declared_Index_Test, IsNotTheOneOfAProgramWithTheSameName) {
  add("Bob", 3);
  declare_index(db, by_name);
  db.write(Create_Table{"city"});
  db.write(Add_Field{Table_Id(2), "name", {Type_Code::string, {}}});
  db.soft_checkpoint();
  const Index_Definition of_city{"by_name", Table_Id(2), {Field_Id(1)}};
  const Database database = read(file, {of_city});
  EXPECT_EQ(database.find_index("by_name")->definition().table, Table_Id(2));
  EXPECT_EQ(database.find_declared_index("by_name")->definition().table, person);
  EXPECT_EQ(database.find_index(by_name), database.find_declared_index("by_name"));
}

TEST_F(Declared_Index_Test, StaysInAProgramThatHasTheSameWhenItIsDropped) {
  declare_index(db, by_name);
  db.soft_checkpoint();
  Writable_Database program(file, {}, Deleted_Values::reset, {by_name});
  drop_index(program, "by_name");
  EXPECT_THAT(program.get_database().declarations(), IsEmpty());
  EXPECT_NE(program.get_database().find_index("by_name"), nullptr);
  EXPECT_EQ(program.get_database().find_declared_index("by_name"), nullptr);
}

// ---- limits -------------------------------------------------------------------------------------

TEST_F(Declared_Index_Test, HasALimitForRecordsWithoutEntries) {
  constexpr index_t size = index_t{1} << 20;
  db.write(Insert_Vector{person, Record_Id(0), size});
  db.write(Delete_Vector{person, Record_Id(0), size});
  for (int i = 0; i < 17; ++i)
    db.write(Comment{"joedb: create_index by_" + std::to_string(i) + " person age"});
  EXPECT_THAT(error_of([&] { db.soft_checkpoint(); }), HasSubstr("too many for a journal of"));
  drop_index(db, "by_16");
  db.soft_checkpoint();
  EXPECT_EQ(read(file).indexes().size(), 16U);
  write_as_joedb_10(Comment{"joedb: create_index by_16 person age"});
  EXPECT_THAT(error_of([&] { read(file); }), HasSubstr("too many for a journal of"));
}

TEST_F(Declared_Index_Test, HasALimitForIndexesOfATable) {
  for (int i = 0; i < 70; ++i)
    db.write(Comment{"joedb: create_index by_" + std::to_string(i) + " person age"});
  EXPECT_EQ(content().indexes().size(), 64U);
  EXPECT_EQ(read_again().indexes().size(), 64U);
}

// ---- random histories ---------------------------------------------------------------------------

// The records in the order of the index, from the values alone.
std::vector<std::int64_t> expected_ids(const Database& database, const Index& index) {
  const Table& table = database.table(index.definition().table);
  std::vector<std::pair<std::vector<std::pair<std::uint64_t, std::string>>, index_t>> keys;
  for (index_t id = 0; id < table.records().size(); ++id) {
    if (!table.is_used(Record_Id(id))) continue;
    auto& key = keys.emplace_back().first;
    keys.back().second = id;
    for (const Field_Id field : index.definition().fields) {
      const Column_Base& column = *table.find_field(field)->column;
      visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
        const Key_Part part = key_part<T>(static_cast<const Column<T>&>(column).get(id));
        if (column.type().code == Type_Code::string)
          key.push_back({0, std::string(part.text)});
        else
          key.push_back({part.number, ""});
      });
    }
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::int64_t> ids;
  for (const auto& [key, id] : keys) ids.push_back(id);
  return ids;
}

// Keys may be there twice, because the comments are written without declare_index().
std::string wrong_index(const Database& database) {
  for (const Index* const index : database.indexes()) {
    if (!database.is_declared(*index)) continue;
    const auto expected = expected_ids(database, *index);
    std::vector<std::int64_t> ids;
    for (auto cursor = index->begin(); cursor.record().is_not_null(); cursor.next())
      ids.push_back(cursor.record().value());
    if (ids != expected) return index->definition().name + " has wrong records";
    for (std::size_t i = 0; i < ids.size(); i += 7)
      if (index->at(Record_Id(ids[i])).record() != Record_Id(ids[i]))
        return index->definition().name + " does not find a record";
  }
  return "";
}

// Changes by several processes, of which some do not know declarations, snapshots, and rollbacks.
TEST(Declared_Index, FollowsFromTheValuesAloneAfterEveryHistory) {
  expect_property(
      [](std::uint64_t seed) {
        const testing::Temporary_Directory directory;
        const std::string file_name = directory.path() + "/test.joedb";
        Random random(seed);
        Random_Changes changes(random, Random_Changes::Indexes::declared);
        for (int lives = 0; lives < 4; ++lives) {
          File file(file_name, Open_Mode::write_existing_or_create_new);
          const auto mode = random.flip() ? Deleted_Values::keep : Deleted_Values::reset;
          std::vector<Index_Definition> indexes = Random_Changes::indexes(random);
          if (random.flip()) indexes.clear();
          for (Index_Definition& index : indexes) index.is_unique = false;
          Writable_Database db(file, {}, Deleted_Values::reset, indexes);
          RC_ASSERT(wrong_index(db.get_database()) == "");
          for (std::size_t n = random.below(150); n > 0; --n) {
            changes.change(db);
            if (random.below(40) == 0) db.soft_checkpoint();
            if (random.below(60) == 0) db.write_snapshot();
            if (random.below(60) == 0) db.limit_memory(0);
            if (random.below(60) == 0) db.rollback();
            if (random.below(20) == 0) RC_ASSERT(wrong_index(db.get_database()) == "");
          }
          db.soft_checkpoint();
          RC_ASSERT(wrong_index(db.get_database()) == "");
          Database other(mode);
          Readonly_Journal journal(file);
          load(other, journal);
          if (mode == Deleted_Values::reset) RC_ASSERT(wrong_index(other) == "");
        }
      },
      60);
}

}  // namespace
}  // namespace joedb::declared_index_test
