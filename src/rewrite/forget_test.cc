#include "rewrite/forget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "joedb/history/changes.h"
#include "joedb/table/load.h"
#include "support/city_test.h"
#include "support/error_of.h"
#include "support/exact_state.h"

namespace joedb::forget_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Random;
using testing::Stepping_Database;
using Records = Forget_Request::Records;

constexpr std::int64_t now = 1'800'000'000;

void forget(const Forgetter& forgetter, Memory_File& out) {
  Writable_Journal journal(out);
  try {
    forgetter.write(journal, "Ann", now);
  } catch (...) {
    journal.rollback();
    throw;
  }
  journal.soft_checkpoint();
}

std::string_view bytes_of(const Memory_File& file) {
  return {file.get_data().data(), file.get_data().size()};
}

// ---- stories ------------------------------------------------------------------------------------

class Forget_Test : public testing::City_Test {
 protected:
  // Forgets the values. Returns the places in which forgotten texts are still found.
  std::vector<std::string> forget(std::string table, std::vector<Records> records,
                                  std::vector<std::string> fields = {}) {
    checkpoint();
    const Forgetter forgetter(file, {std::move(table), std::move(records), std::move(fields)});
    forget_test::forget(forgetter, out);
    values = forgetter.value_count();
    std::vector<std::string> places;
    proof = forgetter.prove(out, static_cast<Offset>(out.get_data().size()));
    for (const auto& found : proof.found) places.push_back(found.place);
    return places;
  }
  bool has(std::string_view text) const {
    return bytes_of(out).find(text) != std::string_view::npos;
  }

  Memory_File out;
  index_t values = 0;
  Forgetter::Proof proof;
};

TEST_F(Forget_Test, AllValuesThatARecordEverHadAreGone) {
  set(0, "Christiania");
  set(0, "Kristiania");
  erase(0);
  insert(0, "Trondheim", 4);
  EXPECT_THAT(forget("city", {{Record_Id(0), 1}}), ElementsAre());
  EXPECT_EQ(values, 6);
  for (const char* old : {"Oslo", "Christiania", "Kristiania", "Trondheim"})
    EXPECT_FALSE(has(old)) << old;
  EXPECT_TRUE(has("Lima"));
  Readonly_Journal journal(out);
  Database database;
  load(database, journal);
  EXPECT_TRUE(database.table(city).is_used(Record_Id(0)));
}

TEST_F(Forget_Test, SaysWhatWasForgottenAndByWhom) {
  db.write(Timestamp{1000});
  set(0, "Bergen");
  forget("city", {{Record_Id(0), 1}, {Record_Id(4), 3}}, {"name"});
  std::vector<std::string> texts;
  for (const Transaction_Summary& transaction : Summaries(out)) {
    std::string text = transaction.author;
    for (const std::string& comment : transaction.comments) text += ": " + comment;
    texts.push_back(text + " at " + std::to_string(transaction.time.value_or(0)));
  }
  EXPECT_THAT(texts,
              ElementsAre(" at 1000", "Ann: forgotten: city 0,4-6 name at " + std::to_string(now)))
      << "of what has no end nothing is left";
}

TEST_F(Forget_Test, AFieldIsForgottenUnderAllItsNamesAndAfterItWasDropped) {
  db.write(Rename_Field{city, name, "title"});
  set(0, "Christiania");
  db.write(Drop_Field{city, name});
  db.write(Rename_Table{city, "town"});
  EXPECT_THAT(forget("town", {}, {"title"}), ElementsAre());
  EXPECT_FALSE(has("Oslo"));
  EXPECT_FALSE(has("Lima"));
  EXPECT_FALSE(has("Christiania"));
}

TEST_F(Forget_Test, ATableThatWasDroppedIsForgottenWithTheOneThatHasItsName) {
  db.write(Drop_Table{city});
  db.write(Create_Table{"city"});
  db.write(Add_Field{Table_Id(2), "name", {Type_Code::string, {}}});
  db.write(Insert{Table_Id(2), Record_Id(0)});
  db.write(Update<std::string_view>{Table_Id(2), Record_Id(0), name, "Rome"});
  EXPECT_THAT(forget("city", {{Record_Id(0), 1}}), ElementsAre());
  EXPECT_FALSE(has("Oslo"));
  EXPECT_FALSE(has("Rome"));
  EXPECT_TRUE(has("Lima"));
}

TEST_F(Forget_Test, OfAVectorOnlyTheseElementsAreForgotten) {
  db.write(Insert_Vector{city, Record_Id(2), 3});
  const std::string_view names[] = {"first town", "second town", "third town"};
  db.write_vector<std::string_view>(city, Record_Id(2), name, names);
  EXPECT_THAT(forget("city", {{Record_Id(3), 1}}), ElementsAre());
  EXPECT_TRUE(has("first town"));
  EXPECT_FALSE(has("second town"));
  EXPECT_TRUE(has("third town"));
}

TEST_F(Forget_Test, AnOptionalFieldHasNoValueAfterwards) {
  const std::int32_t missing = std::numeric_limits<std::int32_t>::min();
  const Field_Id age{3};
  db.write(Add_Field{city, "age", {Type_Code::int32, Table_Id()}});
  db.write(Comment{"joedb: type city.age int32 optional"});
  for (index_t id = 0; id < 2; ++id) db.write(Update<std::int32_t>{city, Record_Id(id), age, 7});
  const std::vector<std::int32_t> more = {missing, 8, 9};
  for (index_t id = 2; id < 5; ++id) insert(id, "x", 0);
  db.write_vector<std::int32_t>(city, Record_Id(2), age, more);
  forget("city", {{Record_Id(0), 1}, {Record_Id(2), 2}}, {"age"});
  EXPECT_EQ(values, 2);
  Readonly_Journal journal(out);
  Database database;
  load(database, journal);
  const auto& column = database.table(city).column<std::int32_t>(age);
  EXPECT_EQ(column.get(0), missing);
  EXPECT_EQ(column.get(1), 7);
  EXPECT_EQ(column.get(2), missing);
  EXPECT_EQ(column.get(3), missing);
  EXPECT_EQ(column.get(4), 9);
}

TEST_F(Forget_Test, ABlobGoesWithItsLastValue) {
  const Field_Id picture(3);
  db.write(Add_Field{city, "picture", {Type_Code::blob, {}}});
  const auto set_picture = [&](index_t id, Blob blob) {
    db.write(Update<Blob>{city, Record_Id(id), picture, blob});
  };
  set_picture(0, db.write_blob("only of city 0"));
  const Blob shared = db.write_blob("of both cities");
  set_picture(0, shared);
  set_picture(1, shared);
  EXPECT_THAT(forget("city", {{Record_Id(0), 1}}), ElementsAre("a blob"));
  EXPECT_FALSE(has("only of city 0"));
  EXPECT_TRUE(has("of both cities"));
}

TEST_F(Forget_Test, SaysWhereAForgottenTextIsStill) {
  set(1, "near Oslo");
  db.write(Comment{"Oslo was first"});
  db.write(Insert_Vector{city, Record_Id(2), 2});
  const std::string_view names[] = {"Rome", "Oslo"};
  db.write_vector<std::string_view>(city, Record_Id(2), name, names);
  db.write(Rename_Table{city, "Oslo"});
  db.write(Custom{"Oslo"});
  db.write_blob("a blob with Oslo");
  EXPECT_THAT(forget("Oslo", {{Record_Id(0), 1}}),
              ElementsAre("city 1 name", "a comment", "city 3 name", "a name", "a mark", "a blob",
                          "a comment"));
  EXPECT_EQ(proof.searched, 1);
  EXPECT_EQ(proof.numbers, 1);
  EXPECT_EQ(bytes_of(out).substr(static_cast<std::size_t>(proof.found[1].position), 8), "Oslo was");
}

TEST_F(Forget_Test, ShortTextsAreForgottenButNotSearched) {
  set(0, "abc");
  set(1, "abcd");
  EXPECT_THAT(forget("city", {{Record_Id(0), 1}}), ElementsAre());
  EXPECT_EQ(proof.too_short, 1);
}

TEST_F(Forget_Test, RefusesWhatThereNeverWas) {
  EXPECT_THAT(testing::error_of([&] { forget("town", {}); }), HasSubstr("has no table town"));
  EXPECT_THAT(testing::error_of([&] { forget("city", {}, {"x"}); }), HasSubstr("has no field x"));
  db.write(Rename_Table{city, "town"});
  EXPECT_THAT(testing::error_of([&] { forget("city", {}); }), HasSubstr("has no table city"));
}

// ---- random histories ---------------------------------------------------------------------------

// Returns the end positions of entries that a copy never omits.
std::vector<Offset> lasting_entries(Abstract_File& file) {
  struct Handler : Ignore_Entries {
    void note() { positions.push_back(journal.get_replay_position()); }
    using Ignore_Entries::operator();
    void operator()(const Comment&) { note(); }
    void operator()(const Timestamp&) { note(); }
    void operator()(const Insert&) { note(); }
    void operator()(const Delete&) { note(); }
    void operator()(const Insert_Vector&) { note(); }
    void operator()(const Delete_Vector&) { note(); }
    void operator()(const Add_Field&) { note(); }
    void operator()(const Drop_Table&) { note(); }
    const Readonly_Journal& journal;
    std::vector<Offset> positions;
  };
  Readonly_Journal journal(file);
  Handler handler{{}, journal, {}};
  journal.replay(handler);
  return handler.positions;
}

struct Last_Names : Ignore_Entries {
  struct Table {
    std::string name;
    std::vector<std::string> fields;
  };
  std::vector<Table> tables;
  Table& at(Table_Id id) { return tables.at(id.value() - std::size_t{1}); }

  using Ignore_Entries::operator();
  void operator()(const Create_Table& e) { tables.push_back({std::string(e.name), {}}); }
  void operator()(const Rename_Table& e) { at(e.table).name = e.name; }
  void operator()(const Add_Field& e) { at(e.table).fields.emplace_back(e.name); }
  void operator()(const Rename_Field& e) {
    at(e.table).fields.at(e.field.value() - std::size_t{1}) = e.name;
  }
};

// A simple model of a request: decides which values are forgotten.
struct Model {
  Last_Names names;
  Forget_Request request;
  bool has(Table_Id table, Record_Id record, Field_Id field) const {
    const auto& t = names.tables[table.value() - std::size_t{1}];
    const auto& records = request.records;
    const auto& fields = request.fields;
    return t.name == request.table &&
           (records.empty() || std::any_of(records.begin(), records.end(),
                                           [&](const Records& r) {
                                             return record.value() >= r.first.value() &&
                                                    record.value() < r.first.value() + r.size;
                                           })) &&
           (fields.empty() || std::find(fields.begin(), fields.end(),
                                        t.fields[field.value() - std::size_t{1}]) != fields.end());
  }
};

Forget_Request random_request(Random& random, const Last_Names& names) {
  const auto& table = names.tables[random.below(names.tables.size())];
  Forget_Request request{table.name, {}, {}};
  const std::size_t what = random.below(3);
  if (what > 0)
    for (std::size_t n = 1 + random.below(3); n > 0; --n)
      request.records.push_back({Record_Id(static_cast<index_t>(random.below(12))),
                                 static_cast<index_t>(1 + random.below(4))});
  if (what < 2 && !table.fields.empty())
    for (std::size_t n = 1 + random.below(2); n > 0; --n)
      request.fields.push_back(table.fields[random.below(table.fields.size())]);
  return request;
}

void expect_default_values(const Database& database, const Model& model) {
  for (const Table* table : live_tables(database))
    for_each_run(*table, [&](index_t first, index_t size) {
      std::uint16_t number = 0;
      for (const Field& field : table->fields()) {
        const Field_Id id(++number);
        if (!field.column) continue;
        for (index_t i = first; i < first + size; ++i)
          if (model.has(table->id(), Record_Id(i), id))
            visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
              // A field that becomes optional later has no value before, either.
              const T value = static_cast<const Column<T>&>(*field.column).get(i);
              ASSERT_TRUE(value == T() || is_missing_value<T>(value, false) ||
                          is_missing_value<T>(value, true));
            });
      }
    });
}

void expect_same_but_forgotten(Memory_File& file, Memory_File& out, const Model& model,
                               Deleted_Values deleted) {
  const std::vector<Offset> before = lasting_entries(file), after = lasting_entries(out);
  ASSERT_LE(before.size(), after.size());
  Stepping_Database a(file, deleted), b(out, deleted);
  const auto skip = [&](Table_Id table, Record_Id record, Field_Id field) {
    return model.has(table, record, field);
  };
  for (std::size_t i = 0; i <= before.size(); ++i) {
    a.go_to(i < before.size() ? before[i] : std::numeric_limits<Offset>::max());
    b.go_to(i < before.size() ? after[i] : std::numeric_limits<Offset>::max());
    ASSERT_EQ(testing::exact_state(b.database(), out, skip),
              testing::exact_state(a.database(), file, skip));
    expect_default_values(b.database(), model);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Collects forgotten texts, and finds them in the other file by a naive search.
struct Naive_Proof : Ignore_Entries {
  using Ignore_Entries::operator();
  void operator()(const Update<std::string_view>& e) { add(e.table, e.record, e.field, e.value); }
  void operator()(const Update_Vector<std::string_view>& e) {
    for (Record_Id id = e.record; e.values.remaining() > 0; id = id + 1)
      add(e.table, id, e.field, e.values.next());
  }
  void add(Table_Id table, Record_Id record, Field_Id field, std::string_view text) {
    if (text.size() >= Byte_Search::shortest && model.has(table, record, field))
      texts.emplace(text);
  }
  std::set<Offset> places(std::string_view bytes) const {
    std::set<Offset> result;
    for (const std::string& text : texts)
      for (std::size_t at = bytes.find(text); at != std::string_view::npos;
           at = bytes.find(text, at + 1))
        result.insert(static_cast<Offset>(at));
    return result;
  }
  const Model& model;
  std::set<std::string> texts;
};

TEST(Forget, EveryStateIsTheSameWithoutTheForgottenValues) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 60; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file, out;
    testing::write_history(random, file);
    Model model;
    Readonly_Journal(file).replay(model.names);
    if (model.names.tables.empty()) continue;
    model.request = random_request(random, model.names);
    const Forgetter forgetter(file, model.request);
    forget(forgetter, out);
    for (const Deleted_Values deleted : {Deleted_Values::keep, Deleted_Values::reset})
      expect_same_but_forgotten(file, out, model, deleted);
    if (::testing::Test::HasFatalFailure()) return;
    // If values are forgotten twice, the second time finds nothing.
    EXPECT_EQ(Forgetter(out, model.request).value_count(), 0);
    index_t values = 0;
    forgetter.for_each_place([&](const Forgetter::Place& place) { values += place.values; });
    EXPECT_EQ(values, forgetter.value_count());
    // prove() also finds forgotten blobs, so its result may be larger than that of the model.
    Naive_Proof naive{{}, model, {}};
    Readonly_Journal(file).replay(naive);
    std::set<Offset> found, found_in_parts;
    const auto end = static_cast<Offset>(out.get_data().size());
    constexpr std::size_t all = 1'000'000;
    for (const auto& f : forgetter.prove(out, end, all, all).found) {
      found.insert(f.position);
      EXPECT_NE(f.place, "");
    }
    for (const auto& f : forgetter.prove(out, end, 1 + random.below(3), all).found)
      found_in_parts.insert(f.position);
    EXPECT_EQ(found_in_parts, found);
    const std::set<Offset> expected = naive.places(bytes_of(out));
    EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace joedb::forget_test
