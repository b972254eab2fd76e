#include "joedb/history/changes.h"

#include <gtest/gtest.h>

#include <map>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/record_runs.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"
#include "support/city_test.h"
#include "support/temporary_directory.h"

namespace joedb::changes_test {
namespace {

using testing::Random;
using testing::Random_Changes;
using testing::Temporary_Directory;
using Kind = Change::Kind;

// ---- a state, as a value ------------------------------------------------------------------------

// Formats a value. Values with different bits have different texts.
std::string text_of(const Value& value) {
  return std::visit(
      []<class T>(const T& typed) {
        if constexpr (std::is_same_v<T, std::string_view>) {
          return "\"" + std::string(typed) + "\"";
        } else if constexpr (std::is_same_v<T, Blob>) {
          return std::to_string(typed.get_position()) + ',' + std::to_string(typed.get_size());
        } else if constexpr (std::is_same_v<T, Record_Id>) {
          return '#' + std::to_string(typed.value());
        } else if constexpr (std::is_floating_point_v<T>) {
          return std::to_string(typed) + '/' +
                 std::to_string(load<std::uint32_t>(reinterpret_cast<const char*>(&typed) +
                                                    sizeof(T) - sizeof(std::uint32_t)));
        } else {
          return std::to_string(typed);
        }
      },
      value);
}

std::string default_text(Type_Code type) { return text_of(Values(type, 1)[0]); }

struct State {
  struct Field {
    std::string name;
    Type type;
    Logical_Type logical;
    friend bool operator==(const Field&, const Field&) = default;
  };
  using Record = std::map<Field_Id, std::string>;
  struct Table {
    std::string name;
    std::map<Field_Id, Field> fields;
    std::map<index_t, Record> records;
    friend bool operator==(const Table&, const Table&) = default;
  };
  std::map<Table_Id, Table> tables;
  friend bool operator==(const State&, const State&) = default;

  // Verifies that each change fits the state, and applies it.
  void apply(const Change& change);
  void apply(const std::vector<Change>& changes) {
    for (const Change& change : changes) apply(change);
  }

 private:
  void apply_to_records(const Change& change);
};

State state_of(const Database& database) {
  State state;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    State::Table& result = state.tables[table->id()];
    result.name = table->name();
    for_each_run(*table, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) result.records[id];
    });
    for (std::size_t i = 0; i < table->fields().size(); ++i) {
      const Field& field = table->fields()[i];
      if (!field.column) continue;
      const Field_Id field_id(static_cast<std::uint16_t>(i + 1));
      result.fields[field_id] = {field.name, field.column->type(), field.column->logical()};
      for (auto& [id, record] : result.records) {
        Values value(field.column->type().code);
        value.append(*field.column, id, 1);
        record[field_id] = text_of(value[0]);
      }
    }
  }
  return state;
}

void State::apply_to_records(const Change& change) {
  Table& table = tables.at(change.table->id);
  EXPECT_GT(change.size, 0);
  for (const Field_Change& field : change.fields) {
    EXPECT_EQ(field.old_values.size(), change.kind == Kind::inserted ? 0 : change.size);
    EXPECT_EQ(field.new_values.size(), change.kind == Kind::deleted ? 0 : change.size);
  }
  for (index_t i = 0; i < change.size; ++i) {
    const index_t id = change.record.value() + i;
    EXPECT_EQ(table.records.contains(id), change.kind != Kind::inserted) << id;
    Record& record = table.records[id];
    if (change.kind == Kind::inserted)
      for (const auto& [field, described] : table.fields)
        record[field] = default_text(described.type.code);
    for (const Field_Change& field : change.fields) {
      const State::Field& described = table.fields.at(field.field);
      if (change.kind != Kind::inserted) {
        EXPECT_EQ(record.at(field.field), text_of(field.old_values[i])) << id;
      }
      if (change.kind != Kind::deleted) {
        EXPECT_EQ(field.new_values.type(), described.type.code);
        record[field.field] = text_of(field.new_values[i]);
      }
      EXPECT_EQ(change.field_name(field), described.name);
    }
    if (change.kind == Kind::deleted) table.records.erase(id);
  }
  EXPECT_EQ(change.table_name(), table.name);
}

void State::apply(const Change& change) {
  if (change.is_of_records()) return apply_to_records(change);
  if (change.kind == Kind::custom) return;
  const Schema_Change& schema = *change.schema;
  const Table_Id id = change.table->id;
  if (change.kind == Kind::table_created) {
    EXPECT_FALSE(tables.contains(id));
    tables[id].name = change.table_name();
    return;
  }
  Table& table = tables.at(id);
  const Field_Id field = schema.field.id;
  switch (change.kind) {
    case Kind::table_renamed:
      EXPECT_EQ(table.name, schema.old_name);
      table.name = change.table_name();
      break;
    case Kind::table_dropped:
      EXPECT_EQ(table.name, change.table_name());
      if (schema.has_lost)
        for (const Change& lost : schema.lost) apply_to_records(lost);
      EXPECT_TRUE(table.records.empty());
      tables.erase(id);
      break;
    case Kind::field_added:
      EXPECT_FALSE(table.fields.contains(field));
      table.fields[field] = {schema.field.name, schema.field.type, get(schema.field.logical)};
      for (auto& [record_id, record] : table.records)
        record[field] = default_text(schema.field.type.code);
      break;
    case Kind::field_renamed:
      EXPECT_EQ(table.fields.at(field).name, schema.old_name);
      table.fields[field].name = schema.field.name;
      break;
    case Kind::field_typed:
      EXPECT_EQ(table.fields.at(field).name, schema.field.name);
      EXPECT_EQ(table.fields.at(field).logical, get(schema.old_type));
      EXPECT_NE(table.fields.at(field).logical, get(schema.field.logical));
      table.fields[field].logical = get(schema.field.logical);
      break;
    case Kind::field_dropped:
      EXPECT_EQ(table.fields.at(field),
                (State::Field{schema.field.name, schema.field.type, get(schema.field.logical)}));
      for (const Change& lost : schema.lost)
        for (index_t i = 0; i < lost.size; ++i)
          EXPECT_EQ(table.records.at(lost.record.value() + i).at(field),
                    text_of(lost.fields.at(0).old_values[i]));
      table.fields.erase(field);
      for (auto& [record_id, record] : table.records) record.erase(field);
      break;
    default:
      FAIL();
  }
}

// ---- databases ----------------------------------------------------------------------------------

// The fixture: a database with two cities.
class Changes_Test : public testing::City_Test {
 protected:
  Changes_Test() { start_ = checkpoint(); }

  // Return the changes since the constructor, one line for each.
  static std::string line(const Change& change);
  std::vector<std::string> lines() {
    std::vector<std::string> result;
    for (const Transaction& transaction : Changes(file, start_, checkpoint()))
      for (const Change& change : transaction.changes) result.push_back(line(change));
    return result;
  }
  static std::string comments(const Transaction_Info& info) {
    std::string text = info.author.empty() ? "" : info.author + ": ";
    for (const std::string& comment : info.comments) text += comment + ';';
    if (info.has_own_time) text += " at " + std::to_string(*info.time);
    if (!info.has_own_time && info.time) text += " after " + std::to_string(*info.time);
    return text + (info.is_complete ? "." : "");
  }
  std::vector<std::string> transactions(Offset from = 0) {
    std::vector<std::string> result;
    for (const auto& transaction : Summaries(file, from > 0 ? from : start_, checkpoint()))
      result.push_back(comments(transaction));
    return result;
  }
  Offset start_ = 0;
};

std::string Changes_Test::line(const Change& change) {
  static const char* const signs[] = {"+",      "~",      "-",      "+table", "~table", "-table",
                                      "+field", "~field", "-field", "%field", "mark"};
  std::string text = signs[static_cast<int>(change.kind)];
  if (change.kind == Kind::custom) return text + ' ' + change.schema->mark;
  text += ' ' + change.table_name();
  if (!change.is_of_records()) {
    if (!change.schema->field.name.empty()) text += '.' + change.schema->field.name;
    if (!change.schema->old_name.empty()) text += " was " + change.schema->old_name;
    for (const Change& lost : change.schema->lost) text += ", " + line(lost);
    return text;
  }
  for (index_t i = 0; i < change.size; ++i) {
    text += ' ' + std::to_string(change.record.value() + i) + '(';
    for (const Field_Change& field : change.fields) {
      if (&field != &change.fields.front()) text += ' ';
      text += change.field_name(field) + '=';
      if (i < field.old_values.size()) text += text_of(field.old_values[i]);
      if (change.kind == Kind::updated && !field.new_values.is_empty()) text += "->";
      if (i < field.new_values.size()) text += text_of(field.new_values[i]);
    }
    text += ')';
  }
  return text;
}

using Lines = std::vector<std::string>;

TEST_F(Changes_Test, AnInsertionHasItsLastValues) {
  insert(2, "Rome", 3);
  set(2, 4);
  EXPECT_EQ(lines(), Lines{"+ city 2(name=\"Rome\" size=4)"});
}

TEST_F(Changes_Test, UpdatesOfAFieldAreOneFromTheFirstOldToTheLastNewValue) {
  set(1, 7);
  set(1, "Cusco");
  set(1, 8);
  EXPECT_EQ(lines(), Lines{"~ city 1(name=\"Lima\"->\"Cusco\" size=2->8)"});
}

TEST_F(Changes_Test, ADeletionHasTheValuesOfTheBeginning) {
  set(0, 9);
  erase(0);
  EXPECT_EQ(lines(), Lines{"- city 0(name=\"Oslo\" size=1)"});
}

TEST_F(Changes_Test, WhatIsInsertedAndDeletedDoesNotAppear) {
  insert(2, "Rome", 3);
  erase(2);
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(Changes_Test, AnIdThatIsUsedAgainIsTwoChanges) {
  erase(0);
  insert(0, "Rome", 3);
  EXPECT_EQ(lines(), (Lines{"- city 0(name=\"Oslo\" size=1)", "+ city 0(name=\"Rome\" size=3)"}));
}

TEST_F(Changes_Test, NeighboursAreOneChangeInTheOrderOfFirstAppearance) {
  set(1, 5);
  insert(2, "Rome", 3);
  insert(3, "Pisa", 4);
  set(0, 6);
  EXPECT_EQ(lines(), (Lines{"~ city 0(size=1->6) 1(size=2->5)",
                            "+ city 2(name=\"Rome\" size=3) 3(name=\"Pisa\" size=4)"}));
}

TEST_F(Changes_Test, AVectorIsOneChange) {
  const std::int32_t values[] = {10, 20};
  db.write_vector<std::int32_t>(city, Record_Id(0), size, values);
  db.write(Insert_Vector{city, Record_Id(2), 2});
  db.write_vector<std::int32_t>(city, Record_Id(2), size, values);
  EXPECT_EQ(lines(), (Lines{"~ city 0(size=1->10) 1(size=2->20)",
                            "+ city 2(name=\"\" size=10) 3(name=\"\" size=20)"}));
}

TEST_F(Changes_Test, TheSchemaChangesBetweenOtherChanges) {
  set(0, 5);
  db.write(Rename_Field{city, size, "people"});
  set(0, 6);
  db.write(Drop_Field{city, size});
  db.write(Custom{"f"});
  db.write(Rename_Table{city, "town"});
  db.write(Add_Field{city, "x", {Type_Code::int8, {}}});
  db.write(Drop_Table{city});
  db.write(Create_Table{"city"});
  EXPECT_EQ(
      lines(),
      (Lines{"~ city 0(size=1->5)", "~field city.people was size", "~ city 0(people=5->6)",
             "-field city.people, ~ city 0(people=6) 1(people=2)", "mark f", "~table town was city",
             "+field town.x", "-table town, - town 0(name=\"Oslo\" x=0) 1(name=\"Lima\" x=0)",
             "+table city"}));
}

TEST_F(Changes_Test, DropsOfLargeTablesKeepNoValues) {
  db.write(Drop_Field{city, size});
  Change_Options options;
  options.kept_values = 0;
  Changes changes(file, start_, checkpoint(), options);
  const Schema_Change& schema = *changes.next()->changes.at(0).schema;
  EXPECT_FALSE(schema.has_lost);
  EXPECT_TRUE(schema.lost.empty());
  EXPECT_EQ(schema.rows, 2);
}

TEST_F(Changes_Test, AnIdThatIsUsedAgainBeginsWithDefaultValues) {
  erase(0);
  db.write(Insert{city, Record_Id(0)});
  EXPECT_EQ(lines().at(1), "+ city 0(name=\"\" size=0)");
}

// ---- transactions -------------------------------------------------------------------------------

TEST_F(Changes_Test, AValidDataAndATimeStampAreOneEnd) {
  set(0, 5);
  db.write(Valid_Data{});
  db.write(Timestamp{100});
  set(0, 6);
  db.write(Timestamp{200});
  set(0, 7);
  db.write(Valid_Data{});
  set(0, 8);
  EXPECT_EQ(transactions(), (Lines{" at 100.", " at 200.", " after 200.", " after 200"}));
}

TEST_F(Changes_Test, AnEndAloneIsATransaction) {
  db.write(Timestamp{100});
  db.write(Timestamp{200});
  db.write(Valid_Data{});
  EXPECT_EQ(transactions(), (Lines{" at 100.", " at 200.", " after 200."}));
}

TEST_F(Changes_Test, WithoutEndsACommentBeginsATransaction) {
  set(0, 5);
  db.write(Comment{"one"});
  db.write(Comment{"and"});
  set(0, 6);
  db.write(Comment{""});
  set(0, 6);
  db.write(Comment{"two"});
  EXPECT_EQ(transactions(), (Lines{"", "one;and;", "two;"}));
}

TEST_F(Changes_Test, AfterTheFirstEndCommentsDoNotDivide) {
  db.write(Valid_Data{});
  const Offset middle = checkpoint();
  set(0, 5);
  db.write(Comment{"one"});
  set(0, 6);
  db.write(Comment{"two"});
  db.write(Timestamp{5});
  EXPECT_EQ(transactions(), (Lines{".", "one;two; at 5."}));
  EXPECT_EQ(transactions(middle), (Lines{"one;two; at 5."}));
}

TEST_F(Changes_Test, TheAuthorFollowsTheFirstComment) {
  db.write(Valid_Data{});
  const auto write = [&](std::initializer_list<const char*> texts) {
    for (const char* const text : texts) db.write(Comment{text});
    set(0, 5);
    db.write(Valid_Data{});
  };
  write({"why", "author: Ann"});
  write({"author: Ben"});
  write({"a", "b", "author: Cy"});
  set(0, 6);
  db.write(Comment{"late"});
  db.write(Comment{"author: Di"});
  db.write(Comment{"author: Ed"});
  db.write(Valid_Data{});
  db.write(Comment{"x"});
  set(0, 7);
  db.write(Comment{"author: Fay"});
  EXPECT_EQ(transactions(), (Lines{".", "Ann: why;.", "Ben: .", "a;b;author: Cy;.",
                                   "Di: late;author: Ed;.", "x;author: Fay;"}));
}

TEST_F(Changes_Test, BlobsAreCounted) {
  db.write_blob("hello");
  db.write_blob("world!");
  Summaries summaries(file, start_, checkpoint());
  const Transaction_Summary* const summary = summaries.next();
  ASSERT_NE(summary, nullptr);
  EXPECT_EQ(summary->blobs, 2);
  EXPECT_EQ(summary->blob_bytes, 11);
  EXPECT_FALSE(summary->has_changes());
}

TEST_F(Changes_Test, ATransactionIsFoundByItsPositions) {
  db.write(Valid_Data{});
  const Offset first = checkpoint();
  set(0, 5);
  db.write(Comment{"x"});
  const Offset end = checkpoint();
  EXPECT_FALSE(find_transaction(file, journal_start));
  EXPECT_EQ(find_transaction(file, journal_start + 1)->end, first);
  EXPECT_EQ(find_transaction(file, first)->end, first);
  EXPECT_EQ(find_transaction(file, first + 1)->begin, first);
  EXPECT_EQ(find_transaction(file, end)->end, end);
  EXPECT_FALSE(find_transaction(file, end + 1));
}

TEST_F(Changes_Test, PullGoesOnWithWhatIsNew) {
  Changes changes(file, start_, checkpoint());
  EXPECT_EQ(changes.next(), nullptr);
  EXPECT_FALSE(changes.pull());
  set(0, 5);
  checkpoint();
  EXPECT_TRUE(changes.pull());
  EXPECT_EQ(line(changes.next()->changes.at(0)), "~ city 0(size=1->5)");
  EXPECT_EQ(changes.next(), nullptr);
  set(0, 6);
  const Offset end = checkpoint();
  EXPECT_TRUE(changes.pull());
  EXPECT_EQ(changes.range_end(), end);
  EXPECT_EQ(line(changes.next()->changes.at(0)), "~ city 0(size=5->6)");
  EXPECT_EQ(changes.next(), nullptr);
}

TEST_F(Changes_Test, ThePositionsMustBeInTheJournal) {
  const Offset end = checkpoint();
  EXPECT_THROW(Changes(file, 40, end), Exception);
  EXPECT_THROW(Changes(file, start_, end + 1), Exception);
  EXPECT_THROW(Summaries(file, end, journal_start), Exception);
  EXPECT_THROW(Summaries(file, end - 1, end), Exception);
  EXPECT_THROW(net_changes(file, end - 1, end), Exception);
  EXPECT_THROW(net_changes(file, journal_start, end - 1), Exception);
  Summaries inside(file, journal_start, end - 1);
  EXPECT_THROW(while (inside.next() != nullptr){}, Exception);
}

TEST_F(Changes_Test, WhatDoesNotFitTheTablesIsCorruption) {
  Memory_File bad;
  {
    Writable_Journal journal(bad);
    journal.append(Create_Table{"t"});
    journal.append(Delete{Table_Id(1), Record_Id(5)});
    journal.soft_checkpoint();
  }
  Changes changes(bad);
  EXPECT_THROW(changes.next(), Corruption_Error);
  EXPECT_THROW(net_changes(bad, journal_start, bad.get_size()), Corruption_Error);
}

TEST_F(Changes_Test, WhatIsBeforeDamageIsGivenFirst) {
  constexpr int count = 10'000;
  Memory_File bad;
  {
    Writable_Journal journal(bad);
    journal.append(Create_Table{"t"});
    for (int i = 0; i < count; ++i) {
      journal.append(Insert{Table_Id(1), Record_Id(i)});
      journal.append(Timestamp{i});
    }
    journal.append(Drop_Table{Table_Id(7)});
    journal.append(Timestamp{count});
    journal.soft_checkpoint();
  }
  Summaries summaries(bad);
  for (int i = 0; i < count; ++i) {
    const Transaction_Summary* const summary = summaries.next();
    ASSERT_NE(summary, nullptr);
    ASSERT_EQ(summary->time, i);
  }
  EXPECT_THROW(summaries.next(), Corruption_Error);
  EXPECT_THROW(summaries.next(), Corruption_Error);
}

// The journal is long enough for Summaries and Reversed to read it in several pieces.
TEST_F(Changes_Test, LongHistoriesAreReadInPieces) {
  constexpr std::int32_t count = 5000;
  const std::string text(300, 'x');
  for (std::int32_t i = 0; i < count; ++i) {
    db.write(Comment{std::to_string(i)});
    set(i % 2, i);
    set(i % 2, text + std::to_string(i));
    db.write(Timestamp{i});
  }
  const Offset end = checkpoint();
  ASSERT_GT(end, 4 << 18);
  std::int32_t next = 0;
  std::vector<Transaction_Place> places;
  const auto expect = [&](const Transaction& transaction, std::int32_t i) {
    ASSERT_EQ(transaction.comments, std::vector{std::to_string(i)});
    ASSERT_EQ(transaction.time, i);
    ASSERT_EQ(transaction.changes.size(), 1);
    const Change& change = transaction.changes[0];
    ASSERT_EQ(change.record, Record_Id(i % 2));
    ASSERT_EQ(change.find_field(name)->new_values.get<std::string_view>(0),
              text + std::to_string(i));
    if (i < 2) return;
    ASSERT_EQ(change.find_field(size)->old_values.get<std::int32_t>(0), i - 2);
  };
  for (const Transaction& transaction : Changes(file, start_, end)) {
    expect(transaction, next++);
    if (next % 1000 == 3) places.push_back({transaction.begin, transaction.end});
  }
  EXPECT_EQ(next, count);
  for (const Transaction& transaction : Reversed<Changes>(file, start_, end))
    expect(transaction, --next);
  EXPECT_EQ(next, 0);
  next = count;
  for (const Transaction_Summary& summary : Reversed<Summaries>(file, start_, end))
    EXPECT_EQ(summary.comments, std::vector{std::to_string(--next)});
  EXPECT_EQ(next, 0);

  Reversed<Changes> some(file, places);
  for (std::int32_t i = count - 998; i > 0; i -= 1000) expect(*some.next(), i);
  EXPECT_EQ(some.next(), nullptr);
}

// ---- changes of selected tables -----------------------------------------------------------------

TEST_F(Changes_Test, OnlyThoseOfATableOrARecordAreGiven) {
  db.write(Valid_Data{});
  db.write(Create_Table{"town"});
  db.write(Insert{Table_Id(2), Record_Id(0)});
  db.write(Valid_Data{});
  set(0, 5);
  db.write(Insert{Table_Id(2), Record_Id(1)});
  db.write(Valid_Data{});
  set(1, 6);
  db.write(Rename_Table{city, "place"});
  db.write(Rename_Table{Table_Id(2), "city"});
  const Offset end = checkpoint();

  Change_Options options;
  const auto shown = [&] {
    Lines result;
    for (const Transaction& transaction : Changes(file, start_, end, options))
      for (const Change& change : transaction.changes) result.push_back(line(change));
    Lines backwards;
    for (const Transaction& transaction : Reversed<Changes>(file, start_, end, options))
      for (auto change = transaction.changes.rbegin(); change != transaction.changes.rend();
           ++change)
        backwards.push_back(line(*change));
    EXPECT_EQ(result, Lines(backwards.rbegin(), backwards.rend()));
    return result;
  };
  EXPECT_EQ(tables_named(file, "city"), (std::vector{city, Table_Id(2)}));
  EXPECT_EQ(tables_named(file, "village"), std::vector<Table_Id>());
  options.tables = {city};
  EXPECT_EQ(shown(),
            (Lines{"~ city 0(size=1->5)", "~ city 1(size=2->6)", "~table place was city"}));
  options.record = Record_Id(0);
  EXPECT_EQ(shown(), Lines{"~ city 0(size=1->5)"});
  options.tables = {Table_Id(2)};
  options.record = Record_Id();
  EXPECT_EQ(shown(), (Lines{"+table town", "+ town 0()", "+ town 1()", "~table city was town"}));
  Summaries summaries(file, start_, end, options);
  const Transaction_Summary* const first = summaries.next();
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->tables.size(), 1);
  EXPECT_EQ(first->tables[0].name, "town");
  EXPECT_EQ(first->tables[0].inserted, 1);
  EXPECT_EQ(first->tables[0].schema_changes, 1);
}

// ---- from state to state ------------------------------------------------------------------------

TEST_F(Changes_Test, NetChangesAreWhatDiffersSortedByRecord) {
  set(1, 7);
  insert(2, "Rome", 3);
  erase(0);
  insert(0, "Bergen", 1);
  set(1, 2);
  set(2, 4);
  const Offset end = checkpoint();
  Lines result;
  for (const Change& change : net_changes(file, start_, end)) result.push_back(line(change));
  EXPECT_EQ(result,
            (Lines{"~ city 0(name=\"Oslo\"->\"Bergen\")", "+ city 2(name=\"Rome\" size=4)"}));
  result.clear();
  for (const Change& change : net_changes(file, end, start_)) result.push_back(line(change));
  EXPECT_EQ(result,
            (Lines{"~ city 0(name=\"Bergen\"->\"Oslo\")", "- city 2(name=\"Rome\" size=4)"}));
}

TEST_F(Changes_Test, HoweverManyUpdatesThereAreTheFirstOldValueCounts) {
  const std::int32_t updates = 600'000;  // more than fit in one batch of noted updates
  for (std::int32_t i = 2; i < updates; ++i) set(i < updates / 2 ? 1 : i % 2, i);
  const Offset end = checkpoint();
  EXPECT_EQ(lines(), Lines{"~ city 0(size=1->599998) 1(size=2->599999)"});
  Lines result;
  for (const Change& change : net_changes(file, start_, end)) result.push_back(line(change));
  EXPECT_EQ(result, Lines{"~ city 0(size=1->599998) 1(size=2->599999)"});
}

// ---- random changes -----------------------------------------------------------------------------

// Numbers of inserted, updated and deleted records, as in a summary.
using Counts = std::array<std::uint64_t, 3>;
std::map<Table_Id, Counts> counts_of(const Transaction& transaction) {
  std::map<Table_Id, Counts> counts;
  for (const Change& change : transaction.changes)
    if (change.is_of_records())
      counts[change.table->id].at(static_cast<std::size_t>(change.kind)) +=
          static_cast<std::uint64_t>(change.size);
  return counts;
}

void expect_summary(const Transaction_Summary& summary, const Transaction& transaction) {
  EXPECT_EQ(summary.begin, transaction.begin);
  EXPECT_EQ(summary.end, transaction.end);
  const bool has_schema_changes =
      std::any_of(transaction.changes.begin(), transaction.changes.end(),
                  [](const Change& change) { return !change.is_of_records(); });
  bool counts_schema_changes = summary.marks > 0;
  for (const Table_Summary& table : summary.tables)
    counts_schema_changes = counts_schema_changes || table.schema_changes > 0;
  EXPECT_EQ(counts_schema_changes, has_schema_changes);
  if (has_schema_changes) return;
  std::map<Table_Id, Counts> counts = counts_of(transaction);
  for (const Table_Summary& table : summary.tables) {
    const Counts& expected = counts[table.table];
    EXPECT_EQ(table.inserted, expected[0]);
    EXPECT_GE(table.updated, expected[1]);  // a summary also counts updates of unused ids
    EXPECT_EQ(table.deleted, expected[2]);
    counts.erase(table.table);
  }
  EXPECT_TRUE(counts.empty());
}

// The expected result of record_versions(), computed from the state after each transaction.
struct Versions {
  struct Version {
    std::map<Field_Id, Values> values;
    Offset from = 0, until = 0;
  };
  Table_Id table;
  Record_Id record;
  std::vector<Version> versions = {};

  void add(const Database& database, Offset end) {
    const bool is_open = !versions.empty() && versions.back().until == 0;
    const Table* const found = database.find_table(table);
    const bool is_used = found != nullptr && found->is_used(record);
    std::map<Field_Id, Values> now;
    if (is_used)
      for (std::size_t i = 0; i < found->fields().size(); ++i)
        if (const auto& column = found->fields()[i].column) {
          Values value(column->type().code);
          value.append(*column, record.value(), 1);
          now.emplace(Field_Id(static_cast<std::uint16_t>(i + 1)), std::move(value));
        }
    if (is_open && is_used && now == versions.back().values) return;
    if (is_open) versions.back().until = end;
    if (is_used) versions.push_back({std::move(now), end, 0});
  }

  void expect(const std::vector<Record_Version>& result) const {
    ASSERT_EQ(result.size(), versions.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ((std::map<Field_Id, Values>(result[i].fields.begin(), result[i].fields.end())),
                versions[i].values);
      EXPECT_EQ(result[i].from.end, versions[i].from);
      EXPECT_EQ(result[i].until ? result[i].until->end : 0, versions[i].until);
    }
  }
};

TEST(Any_Changes, LeadFromEachStateToEachOther) {
  const Change_Options options;
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 100; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    const Temporary_Directory directory;
    File file(directory.file("t.joedb"), Open_Mode::create_new);
    // Some journals have no ends of transactions, some have many, and some have snapshots.
    std::map<Offset, State> states;
    Offset end = 0;
    {
      Writable_Database db(file);
      Random_Changes changes(random);
      const std::size_t steps = 1 + random.below(150);
      const std::size_t pause = 1 + random.below(20);
      const bool has_snapshots = random.flip();
      states[journal_start];
      for (std::size_t i = 0; i < steps; ++i) {
        changes.change(db);
        if (random.below(pause) > 0) continue;
        db.hard_checkpoint();
        const Offset position = db.get_journal().get_position();
        states[position] = state_of(db.get_database());
        if (has_snapshots && random.below(10) == 0) {
          Readonly_Journal journal(file);
          Database content;
          load(content, journal);
          write_snapshot(content, file, journal.get_replay_place(), random.flip());
        }
      }
      db.hard_checkpoint();
      end = db.get_journal().get_position();
      states[end] = state_of(db.get_database());
    }
    const auto any_position = [&] {
      return std::next(states.begin(), static_cast<std::ptrdiff_t>(random.below(states.size())));
    };

    // Read the changes forwards and backwards.
    for (int i = 0; i < 3; ++i) {
      const auto [a, b] = std::minmax(any_position()->first, any_position()->first);
      const Offset from = i == 0 ? journal_start : a;
      const Offset to = i == 0 ? end : b;
      std::vector<Transaction> all;
      State state = states.at(from);
      Versions versions{Table_Id(static_cast<std::uint16_t>(1 + random.below(4))),
                        Record_Id(static_cast<index_t>(random.below(8)))};
      Changes forwards(file, from, to, options);
      Offset last = from;
      while (const Transaction* const transaction = forwards.next()) {
        EXPECT_EQ(transaction->begin, last);
        last = transaction->end;
        state.apply(transaction->changes);
        EXPECT_EQ(state, state_of(forwards.database()));
        if (states.contains(last)) {
          EXPECT_EQ(state, states.at(last));
        }
        expect_summary(forwards.summary(), *transaction);
        all.push_back(*transaction);
        versions.add(forwards.database(), last);
      }
      EXPECT_EQ(state, states.at(to));
      if (i == 0) versions.expect(record_versions(file, versions.table, versions.record, options));

      std::size_t left = all.size();
      Reversed<Summaries> summaries(file, from, to, options);
      for (const Transaction& transaction : Reversed<Changes>(file, from, to, options)) {
        ASSERT_GT(left, 0);
        const Transaction& same = all[--left];
        EXPECT_EQ(transaction.begin, same.begin);
        EXPECT_EQ(transaction.end, same.end);
        EXPECT_EQ(transaction.comments, same.comments);
        EXPECT_EQ(transaction.time, same.time);
        EXPECT_EQ(transaction.is_complete, same.is_complete);
        state.apply(reversed(transaction.changes));
        const Transaction_Summary* const summary = summaries.next();
        ASSERT_NE(summary, nullptr);
        expect_summary(*summary, transaction);
      }
      EXPECT_EQ(left, 0);
      EXPECT_EQ(summaries.next(), nullptr);
      EXPECT_EQ(state, states.at(from));
      if (i > 0 || HasFailure()) continue;

      // A transaction that is read alone must equal the one in the whole history.
      for (const Transaction& transaction : all) {
        if (random.below(10) > 0) continue;
        Changes alone(file, transaction.begin, transaction.end, options);
        const Transaction* const same = alone.next();
        ASSERT_NE(same, nullptr);
        EXPECT_EQ(same->end, transaction.end);
        EXPECT_EQ(same->time, transaction.time);
        EXPECT_EQ(same->author, transaction.author);
        EXPECT_EQ(alone.next(), nullptr);
      }
    }

    // Compare net changes from any state to any other state.
    for (int i = 0; i < 6; ++i) {
      const auto a = any_position();
      const auto b = any_position();
      const std::vector<Change> net = net_changes(file, a->first, b->first, options);
      State state = a->second;
      state.apply(net);
      EXPECT_EQ(state, b->second) << a->first << " to " << b->first;
      for (const Change& change : net) {
        if (change.kind != Kind::updated) continue;
        for (const Field_Change& field : change.fields)
          for (index_t row = 0; row < change.size; ++row)
            EXPECT_FALSE(is_same(field.old_values[row], field.new_values[row]));
      }
      state.apply(reversed(net));
      EXPECT_EQ(state, a->second) << b->first << " back to " << a->first;
      EXPECT_EQ(a->second == b->second, net.empty());
    }
    ASSERT_FALSE(HasFailure());
  }
}

// ---- values -------------------------------------------------------------------------------------

TEST(Values, AreThoseThatWereAppended) {
  for (int code = 1; code <= type_count; ++code) {
    const auto type = static_cast<Type_Code>(code);
    visit_type(type, [&]<class T>(std::type_identity<T>) {
      T some{};
      if constexpr (std::is_same_v<T, std::string_view>)
        some = "a text of more than a few bytes";
      else if constexpr (std::is_same_v<T, Blob>)
        some = Blob(41, 5);
      else
        some = T(1);
      Random random(static_cast<std::uint64_t>(code));
      Column<T> column(Type{type, {}});
      column.grow(20'000, false);
      std::vector<T> model;
      Values values(type);
      for (int i = 0; i < 12; ++i) {
        const auto size = static_cast<index_t>(random.below(random.flip() ? 3 : 6000));
        const std::size_t what = random.below(4);
        if (what == 0) {
          values.append_defaults(size);
          model.resize(model.size() + static_cast<std::size_t>(size));
        } else if (what == 1) {
          values.append(Value(some));
          model.push_back(some);
        } else if (what == 2) {
          const auto first = static_cast<index_t>(random.below(10'000));
          column.set(first + size / 2, some);
          values.append(column, first, size);
          for (index_t id = first; id < first + size; ++id) model.push_back(column.get(id));
        } else if (!values.is_empty()) {
          const Values copy = values;
          const auto first =
              static_cast<index_t>(random.below(static_cast<std::size_t>(values.size())));
          const index_t n = std::min(size, values.size() - first);
          values.append(copy, first, n);
          for (index_t id = first; id < first + n; ++id)
            model.push_back(model[static_cast<std::size_t>(id)]);
        }
      }
      ASSERT_EQ(values.size(), static_cast<index_t>(model.size()));
      for (std::size_t i = 0; i < model.size(); ++i)
        ASSERT_TRUE(is_same(values[static_cast<index_t>(i)], Value(model[i]))) << i;
    });
  }
}

}  // namespace
}  // namespace joedb::changes_test
