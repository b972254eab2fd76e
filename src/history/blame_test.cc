#include "joedb/history/changes.h"

#include <gtest/gtest.h>

#include <map>

#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/record_runs.h"
#include "kernel/table/retype.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"

namespace joedb::blame_test {
namespace {

using testing::Random;
using testing::Random_Changes;

// The model for comparison: for each value, the position of the entry that wrote it.
class Model {
 public:
  struct Table {
    std::map<index_t, Offset> inserted;
    std::map<std::pair<index_t, std::uint16_t>, Offset> written;
    std::map<std::uint16_t, Offset> added;
    std::uint16_t fields = 0;
  };

  explicit Model(Readonly_Journal& journal) : journal_(journal) {}

  void operator()(const Insert& e) { insert(e.table, e.record.value(), 1); }
  void operator()(const Insert_Vector& e) { insert(e.table, e.record.value(), e.size); }
  void operator()(const Delete& e) { erase(e.table, e.record.value(), 1); }
  void operator()(const Delete_Vector& e) { erase(e.table, e.record.value(), e.size); }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    update(e.table, e.record.value(), e.field, 1);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    e.values.skip_rest();
    update(e.table, e.record.value(), e.field, e.size);
  }
  void operator()(const Add_Field& e) {
    Table& table = tables[e.table];
    table.added[++table.fields] = position();
  }
  template <class Entry>
  void operator()(const Entry&) {}

  std::map<Table_Id, Table> tables;

 private:
  Offset position() const { return journal_.get_replay_position(); }
  void insert(Table_Id id, index_t first, index_t size) {
    erase(id, first, size);
    for (index_t i = first; i < first + size; ++i) tables[id].inserted[i] = position();
  }
  void erase(Table_Id id, index_t first, index_t size) {
    Table& table = tables[id];
    for (index_t i = first; i < first + size; ++i) {
      table.inserted.erase(i);
      table.written.erase(table.written.lower_bound({i, 0}), table.written.lower_bound({i + 1, 0}));
    }
  }
  void update(Table_Id id, index_t first, Field_Id field, index_t size) {
    Table& table = tables[id];
    for (index_t i = first; i < first + size; ++i)
      if (table.inserted.contains(i)) table.written[{i, field.value()}] = position();
  }

  Readonly_Journal& journal_;
};

TEST(Blame, AgreesWithAModel) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 60; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file;
    std::vector<Offset> positions;
    {
      Writable_Database db(file);
      Random_Changes changes(random);
      for (std::size_t i = 0, n = random.below(200); i < n; ++i) {
        changes.change(db);
        if (random.below(10) == 0) db.write(Timestamp{static_cast<std::int64_t>(i)});
        if (random.below(20) > 0) continue;
        db.hard_checkpoint();
        positions.push_back(db.get_journal().get_position());
      }
      db.hard_checkpoint();
      positions.push_back(db.get_journal().get_position());
    }
    const Offset end = positions[random.below(positions.size())];
    std::vector<Transaction_Summary> transactions;
    for (const Transaction_Summary& summary : Summaries(file, journal_start, end))
      transactions.push_back(summary);
    // Returns the end of the transaction that contains the entry at `position`.
    const auto writer_of = [&](Offset position) {
      for (const Transaction_Summary& summary : transactions)
        if (position <= summary.end) return summary.end;
      return Offset{0};
    };

    Readonly_Journal journal(file);
    Database database;
    load(database, journal, end);
    journal.rewind();
    Model model(journal);
    journal.replay(model, end);
    for (const auto& table : database.tables()) {
      if (!table) continue;
      const Blame blame(file, database, end, table->id());
      const Model::Table& expected = model.tables[table->id()];
      for (index_t id = -1; id < table->records().size() + 1; ++id) {
        const Record_Id record(id);
        if (id < 0 || !table->is_used(record)) {
          EXPECT_EQ(blame.last_writer(record), nullptr);
          EXPECT_EQ(blame.writer(record, Field_Id(1)), nullptr);
          continue;
        }
        const bool is_asked = random.below(20) == 0;
        const Blame alone =
            is_asked ? Blame(file, database, end, table->id(), record) : Blame(blame);
        const Offset inserted = expected.inserted.at(id);
        ASSERT_NE(blame.inserter(record), nullptr);
        EXPECT_EQ(blame.inserter(record)->end, writer_of(inserted));
        Offset last = inserted;
        for (std::uint16_t i = 1; i <= table->fields().size(); ++i) {
          if (!table->fields()[i - 1u].column) {
            EXPECT_EQ(blame.writer(record, Field_Id(i)), nullptr);
            continue;
          }
          Offset position = std::max(inserted, expected.added.at(i));
          if (const auto found = expected.written.find({id, i}); found != expected.written.end()) {
            position = std::max(position, found->second);
            last = std::max(last, found->second);
          }
          ASSERT_NE(blame.writer(record, Field_Id(i)), nullptr);
          EXPECT_EQ(blame.writer(record, Field_Id(i))->end, writer_of(position));
          ASSERT_NE(alone.writer(record, Field_Id(i)), nullptr);
          EXPECT_EQ(alone.writer(record, Field_Id(i))->end, writer_of(position));
        }
        EXPECT_EQ(blame.last_writer(record)->end, writer_of(last));
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(Blame, ReadsRunsOfRowsAsItReadsSingleEntries) {
  Memory_File file;
  Writable_Database db(file);
  const Table_Id city(1), other(2);
  for (const char* const name : {"city", "other"}) db.write(Create_Table{name});
  for (const Table_Id table : {city, other})
    db.write(Add_Field{table, "size", {Type_Code::int32, {}}});
  constexpr index_t rows = 5000;
  for (const std::int32_t round : {0, 1, 2}) {
    for (index_t id = 0; id < rows; ++id) {
      for (const Table_Id table : {city, other}) {
        if (round == 0) db.write(Insert{table, Record_Id(id)});
        if (round < 2 || (table == city) == (id % 2 == 0))
          db.write(Update<std::int32_t>{table, Record_Id(id), Field_Id(1), round});
      }
    }
    db.write(Valid_Data{});
  }
  db.hard_checkpoint();
  const Offset end = db.get_journal().get_position();
  const Blame blame(file, std::as_const(db).get_database(), end, city);
  ASSERT_EQ(blame.transactions().size(), 3);
  for (index_t id = 0; id < rows; ++id) {
    const Transaction_Info& expected = blame.transactions()[id % 2 == 0 ? 2 : 1];
    ASSERT_EQ(blame.writer(Record_Id(id), Field_Id(1)), &expected) << id;
    ASSERT_EQ(blame.inserter(Record_Id(id)), &blame.transactions()[0]) << id;
  }
}

// With many more writes than records, overwritten values are discarded during the replay.
TEST(Blame, KnowsTheLastOfManyWrites) {
  constexpr index_t rows = 300;
  constexpr int writes = 1'200'000;
  Random random(testing::first_seed());
  Memory_File file;
  Writable_Database db(file);
  const Table_Id t(1);
  db.write(Create_Table{"t"});
  for (const char* const field : {"a", "b"}) db.write(Add_Field{t, field, {Type_Code::int8, {}}});
  db.write(Insert_Vector{t, Record_Id(0), rows});
  std::vector<std::int64_t> last[2] = {std::vector<std::int64_t>(rows, -1),
                                       std::vector<std::int64_t>(rows, -1)};
  db.write(Timestamp{-1});
  for (int i = 0; i < writes; ++i) {
    const std::size_t row = random.below(rows), field = random.below(2);
    db.write(Update<std::int8_t>{t, Record_Id(static_cast<index_t>(row)),
                                 Field_Id(static_cast<std::uint16_t>(field + 1)), std::int8_t{1}});
    last[field][row] = i / 1000;
    if (i % 1000 == 999) db.write(Timestamp{i / 1000});
  }
  db.hard_checkpoint();
  const Blame blame(file, std::as_const(db).get_database(), db.get_journal().get_position(), t);
  for (std::size_t row = 0; row < rows; ++row) {
    const Record_Id record(static_cast<index_t>(row));
    for (std::uint16_t field = 0; field < 2; ++field)
      ASSERT_EQ(blame.writer(record, Field_Id(static_cast<std::uint16_t>(field + 1)))->time,
                last[field][row]);
    ASSERT_EQ(blame.last_writer(record)->time, std::max(last[0][row], last[1][row]));
  }
}

TEST(Blame, KnowsWhoWroteTheValuesOfARetypedField) {
  Memory_File file;
  Writable_Database db(file);
  const Table_Id t(1);
  db.write(Create_Table{"t"});
  db.write(Add_Field{t, "a", {Type_Code::int8, {}}});
  db.write(Insert_Vector{t, Record_Id(0), 2});
  db.write(Timestamp{1});
  db.write(Update<std::int8_t>{t, Record_Id(0), Field_Id(1), 7});
  db.write(Timestamp{2});
  retype_field(db, t, Field_Id(1), {Type_Code::int64, {}}, {});
  retype_field(db, t, Field_Id(2), {Type_Code::string, {}}, {});
  db.write(Timestamp{3});
  db.write(Update<std::string_view>{t, Record_Id(1), Field_Id(3), "8"});
  db.write(Timestamp{4});
  db.hard_checkpoint();
  const Blame blame(file, std::as_const(db).get_database(), db.get_journal().get_position(), t);
  EXPECT_EQ(blame.writer(Record_Id(0), Field_Id(3))->time, 2);
  EXPECT_EQ(blame.last_writer(Record_Id(0))->time, 2);
  EXPECT_EQ(blame.writer(Record_Id(1), Field_Id(3))->time, 4);
}

TEST(Blame, NeedsATable) {
  Memory_File file;
  Writable_Database db(file);
  db.write(Create_Table{"t"});
  db.hard_checkpoint();
  const Database& database = std::as_const(db).get_database();
  const Offset end = db.get_journal().get_position();
  EXPECT_THROW(Blame(file, database, end, Table_Id(2)), Exception);
  EXPECT_THROW(Blame(file, database, end + 1, Table_Id(1)), Exception);
  EXPECT_EQ(Blame(file, database, end, Table_Id(1)).last_writer(Record_Id(0)), nullptr);
  EXPECT_EQ(Blame(file, database, end, Table_Id(1), Record_Id(7)).last_writer(Record_Id(7)),
            nullptr);
}

}  // namespace
}  // namespace joedb::blame_test
