#include "joedb/table/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <variant>

#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "sim/lab/sim_file.h"
#include "support/property.h"

namespace joedb::index_test {
namespace {

// ---- the database, and a simple model of it -----------------------------------------------------

constexpr Table_Id table{1};
constexpr Field_Id text{1}, number{2}, real{3}, flag{4};

std::vector<Index_Definition> definitions() {
  return {{"by_text", table, {text}},
          {"by_real_and_flag", table, {real, flag}},
          {"number_unique", table, {number}, true},
          {"flag_text_unique", table, {flag, text, real}, true}};
}

void create_schema(Writable_Database& database) {
  database.write(Create_Table{"row"});
  database.write(Add_Field{table, "text", {Type_Code::string, {}}});
  database.write(Add_Field{table, "number", {Type_Code::int32, {}}});
  database.write(Add_Field{table, "real", {Type_Code::float64, {}}});
  database.write(Add_Field{table, "flag", {Type_Code::boolean, {}}});
}

struct Row {
  std::string text;
  std::int32_t number = 0;
  double real = 0;
  bool flag = false;
  std::vector<bool> is_entered = std::vector<bool>(4);
};

using Model_Value = std::variant<std::string, std::int64_t, std::pair<bool, double>>;
using Model_Key = std::vector<Model_Value>;
using Rows = std::map<index_t, Row>;

Model_Value value_of(const Row& row, Field_Id field) {
  if (field == text) return row.text;
  if (field == number) return std::int64_t{row.number};
  if (field == flag) return std::int64_t{row.flag};
  return std::isnan(row.real) ? std::pair(true, 0.0) : std::pair(false, row.real);
}

Model_Key key_of(const Row& row, const Index_Definition& index) {
  Model_Key key;
  for (const Field_Id field : index.fields) key.push_back(value_of(row, field));
  return key;
}

std::vector<Key_Part> parts_of(const Row& row, const Index_Definition& index) {
  std::vector<Key_Part> parts;
  for (const Field_Id field : index.fields) {
    if (field == text) parts.push_back(key_part(std::string_view(row.text)));
    if (field == number) parts.push_back(key_part(row.number));
    if (field == real) parts.push_back(key_part(row.real));
    if (field == flag) parts.push_back(key_part(row.flag));
  }
  return parts;
}

std::multimap<Model_Key, index_t> index_of(const Rows& rows, std::size_t i) {
  std::multimap<Model_Key, index_t> result;
  for (const auto& [id, row] : rows)
    if (row.is_entered[i]) result.emplace(key_of(row, definitions()[i]), id);
  return result;
}

// Marks the row as present in the indexes into which an update of these fields inserts it.
void note_update(Row& row, std::initializer_list<Field_Id> fields) {
  const auto all = definitions();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Field_Id field : fields) {
      const auto& of_index = all[i].fields;
      const bool is_in_index = std::find(of_index.begin(), of_index.end(), field) != of_index.end();
      if (all[i].is_unique ? field == *std::max_element(of_index.begin(), of_index.end())
                           : is_in_index)
        row.is_entered[i] = true;
    }
}

bool is_allowed(const Rows& rows) {
  for (std::size_t i = 0; i < definitions().size(); ++i) {
    if (!definitions()[i].is_unique) continue;
    const auto index = index_of(rows, i);
    for (auto entry = index.begin(); entry != index.end(); ++entry)
      if (std::next(entry) != index.end() && std::next(entry)->first == entry->first) return false;
  }
  return true;
}

// ---- the same random operations on both ---------------------------------------------------------

class Indexed_Twins {
 public:
  // `rows`: number of inserts before the reopening, whose records are in runs.
  explicit Indexed_Twins(std::uint64_t seed, std::int32_t rows = 0)
      : random_(seed), numbers_(80 + 4 * rows) {
    open();
    create_schema(*database_);
    for (std::int32_t i = 0; i < rows; ++i) insert_with_values();
    checkpoint();
    open();
  }
  ~Indexed_Twins() { database_->rollback(); }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      compare();
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  void open() {
    database_.reset();
    file_.reset();
    file_.emplace(disk_);
    database_.emplace(*file_, Recovery::none, Deleted_Values::reset, definitions());
  }
  // Writes a snapshot. The indexes are taken from it at once, and again after a reopening.
  void write_snapshot() {
    database_->hard_checkpoint();
    ASSERT_TRUE(database_->write_snapshot());
    compare();
    checkpoint();
    if (random_.flip()) open();
    ASSERT_EQ(database_->get_database().snapshot_report().position,
              database_->get_journal().get_checkpoint());
  }
  void checkpoint() {
    database_->soft_checkpoint();
    checkpointed_ = rows_;
    follow();
  }

  // Pulls into a reader, which sees only checkpointed entries and applies them to its tables.
  void follow() {
    if (!follower_journal_) {
      follower_file_.emplace(disk_, Open_Mode::read_existing);
      follower_journal_.emplace(*follower_file_);
      for (const Index_Definition& definition : definitions()) follower_.add_index(definition);
    }
    follower_journal_->pull();
    load(follower_, *follower_journal_);
    for (std::size_t i = 0; i < definitions().size(); ++i) {
      std::vector<index_t> expected, actual;
      for (const auto& [key, id] : index_of(rows_, i)) expected.push_back(id);
      const Index& index = *follower_.find_index(definitions()[i].name);
      for (auto c = index.begin(); c != index.end(); c.next()) actual.push_back(c.record().value());
      ASSERT_EQ(actual, expected) << index.definition().name;
    }
  }

  void step() {
    switch (random_.below(25)) {
      case 0:
        return checkpoint();
      case 1:
        checkpoint();
        return open();
      case 2:
        database_->rollback();
        rows_ = checkpointed_;
        return;
      case 24:
        return write_snapshot();
      case 3:
      case 4:
        return insert();
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return insert_with_values();
      case 10:
        return insert_vector();
      case 11:
      case 12:
        return erase();
      case 13:
        return erase_vector();
      case 14:
      case 15:
      case 16:
        return update_vector();
      default:
        return update();
    }
  }

  Table& rows_table() { return database_->get_database().table(table); }

  // Returns one of few values, so that keys collide, some with long common prefixes.
  std::string some_text() {
    static const std::string beginnings[] = {"", "a", "abcdefgh", "abcdefghijklmnopq",
                                             std::string(50, 'p')};
    std::string result = beginnings[random_.below(std::size(beginnings))];
    for (std::size_t n = random_.below(3); n > 0; --n)
      result += std::string_view("\0a\xff", 3)[random_.below(3)];
    return result;
  }
  double some_real() {
    static const double reals[] = {0.0,
                                   -0.0,
                                   -1.5,
                                   1.5,
                                   1e300,
                                   -1e300,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
    return reals[random_.below(std::size(reals))];
  }
  std::int32_t some_number() {
    return static_cast<std::int32_t>(random_.below(static_cast<std::size_t>(numbers_))) - 40;
  }
  index_t some_id() {
    auto row = rows_.begin();
    std::advance(row, random_.below(rows_.size()));
    return row->first;
  }

  // Calls change(). It must fail, and change nothing, if `next` would violate a unique index;
  // otherwise `next` becomes the model.
  template <class Change>
  void expect_change(Rows next, Change change) {
    const Offset before = database_->get_journal().get_position();
    if (is_allowed(next)) {
      ASSERT_NO_THROW(change());
      rows_ = std::move(next);
    } else {
      EXPECT_THROW(change(), Data_Error);
      EXPECT_EQ(database_->get_journal().get_position(), before);
    }
  }

  void insert() {
    const Record_Id id(rows_table().records().next_free());
    database_->write(Insert{table, id});
    rows_[id.value()] = {};
  }

  void insert_with_values() {
    const Record_Id id(rows_table().records().next_free());
    Row row{some_text(), some_number(), some_real(), random_.flip()};
    note_update(row, {text, number, real, flag});
    Rows next = rows_;
    next[id.value()] = row;
    Table& t = rows_table();
    expect_change(next, [&] {
      database_->insert(t, Insert{table, id},
                        Writable_Database::Value<std::string_view>{t.column<std::string_view>(text),
                                                                   text, row.text},
                        Writable_Database::Value<std::int32_t>{t.column<std::int32_t>(number),
                                                               number, row.number},
                        Writable_Database::Value<double>{t.column<double>(real), real, row.real},
                        Writable_Database::Value<bool>{t.column<bool>(flag), flag, row.flag});
    });
  }

  void insert_vector() {
    const index_t size = static_cast<index_t>(random_.below(4));
    const index_t start = rows_table().records().size() + static_cast<index_t>(random_.below(2));
    database_->write(Insert_Vector{table, Record_Id(start), size});
    for (index_t id = start; id < start + size; ++id) rows_[id] = {};
  }

  void erase() {
    if (rows_.empty()) return;
    const index_t id = some_id();
    database_->write(Delete{table, Record_Id(id)});
    rows_.erase(id);
  }

  void erase_vector() {
    if (rows_.empty()) return;
    const index_t start = some_id();
    index_t size = 0;
    while (size < 3 && rows_.contains(start + size)) rows_.erase(start + size++);
    database_->write(Delete_Vector{table, Record_Id(start), size});
  }

  void update() {
    if (rows_.empty()) return;
    const index_t id = some_id();
    Rows next = rows_;
    Row& row = next[id];
    switch (random_.below(4)) {
      case 0:
        row.text = some_text();
        note_update(row, {text});
        return expect_change(next, [&, value = row.text] {
          database_->write(Update<std::string_view>{table, Record_Id(id), text, value});
        });
      case 1:
        row.number = some_number();
        note_update(row, {number});
        return expect_change(next, [&, value = row.number] {
          database_->write(Update<std::int32_t>{table, Record_Id(id), number, value});
        });
      case 2:
        row.real = some_real();
        note_update(row, {real});
        return expect_change(next, [&, value = row.real] {
          database_->write(Update<double>{table, Record_Id(id), real, value});
        });
      default:
        row.flag = random_.flip();
        note_update(row, {flag});
        return expect_change(next, [&, value = row.flag] {
          database_->write(Update<bool>{table, Record_Id(id), flag, value});
        });
    }
  }

  // Updates a range of used and unused records.
  void update_vector() {
    const index_t all = rows_table().records().size();
    const auto start = static_cast<index_t>(random_.below(static_cast<std::size_t>(all) + 1));
    const auto size = std::min<index_t>(static_cast<index_t>(random_.below(5)), all - start);
    Rows next = rows_;
    const auto for_each_used = [&](auto f) {
      for (index_t i = 0; i < size; ++i)
        if (const auto row = next.find(start + i); row != next.end())
          f(row->second, static_cast<std::size_t>(i));
    };
    if (random_.flip()) {
      std::vector<std::string> values;
      for (index_t i = 0; i < size; ++i) values.push_back(some_text());
      const std::vector<std::string_view> views(values.begin(), values.end());
      for_each_used([&](Row& row, std::size_t i) {
        row.text = values[i];
        note_update(row, {text});
      });
      expect_change(next, [&] {
        database_->write_vector<std::string_view>(table, Record_Id(start), text, views);
      });
    } else {
      std::vector<std::int32_t> values;
      for (index_t i = 0; i < size; ++i) values.push_back(some_number());
      for_each_used([&](Row& row, std::size_t i) {
        row.number = values[i];
        note_update(row, {number});
      });
      expect_change(next, [&] {
        database_->write_vector<std::int32_t>(table, Record_Id(start), number, values);
      });
    }
  }

  // ---- comparing

  void compare() {
    for (std::size_t i = 0; i < definitions().size(); ++i) {
      const Index& index = *database_->get_database().find_index(definitions()[i].name);
      const auto model = index_of(rows_, i);
      std::vector<index_t> expected, actual, backwards;
      for (const auto& [key, id] : model) expected.push_back(id);
      for (auto c = index.begin(); c != index.end(); c.next()) actual.push_back(c.record().value());
      ASSERT_EQ(actual, expected) << index.definition().name;
      ASSERT_EQ(index.size(), expected.size());
      for (auto c = index.end(); c != index.begin();) {
        c.previous();
        backwards.insert(backwards.begin(), c.record().value());
      }
      ASSERT_EQ(backwards, expected) << index.definition().name;
      compare_searches(index, model, i);
      compare_walk(index, model, i);
    }
  }

  void compare_searches(const Index& index, const std::multimap<Model_Key, index_t>& model,
                        std::size_t i) {
    const Row wanted{some_text(), some_number(), some_real(), random_.flip()};
    const auto key = key_of(wanted, definitions()[i]);
    const auto parts = parts_of(wanted, definitions()[i]);
    const auto id_at = [&](auto entry) {
      return entry == model.end() ? Record_Id() : Record_Id(entry->second);
    };
    ASSERT_EQ(index.lower_bound(parts).record(), id_at(model.lower_bound(key)));
    ASSERT_EQ(index.upper_bound(parts).record(), id_at(model.upper_bound(key)));
    ASSERT_EQ(index.find(parts), id_at(model.contains(key) ? model.lower_bound(key) : model.end()));
    for (const auto& [id, row] : rows_) {
      ASSERT_EQ(index.contains(Record_Id(id)), row.is_entered[i]);
      ASSERT_EQ(index.at(Record_Id(id)) != index.end(), row.is_entered[i]);
    }
  }

  // Moves a cursor back and forth from a lower bound, and compares it with the model.
  void compare_walk(const Index& index, const std::multimap<Model_Key, index_t>& model,
                    std::size_t i) {
    const Row wanted{some_text(), some_number(), some_real(), random_.flip()};
    auto entry = model.lower_bound(key_of(wanted, definitions()[i]));
    auto cursor = index.lower_bound(parts_of(wanted, definitions()[i]));
    bool is_forward = false;
    for (int steps = 0; steps < 30; ++steps) {
      if (random_.below(4) == 0) is_forward = !is_forward;
      if (is_forward) {
        if (entry != model.end()) ++entry;
        cursor.next();
      } else {
        if (entry != model.begin()) --entry;
        cursor.previous();
      }
      ASSERT_EQ(cursor.record(), entry == model.end() ? Record_Id() : Record_Id(entry->second));
    }
  }

  testing::Random random_;
  const std::int32_t numbers_;  // number of different values
  testing::Sim_Disk disk_;
  std::optional<testing::Sim_File> file_;
  std::optional<Writable_Database> database_;
  Rows rows_, checkpointed_;
  std::optional<testing::Sim_File> follower_file_;
  std::optional<Readonly_Journal> follower_journal_;
  Database follower_{Deleted_Values::reset};
};

TEST(Index_Property, AgreesWithAMultimapThroughReplayAndRollback) {
  testing::expect_property([](std::uint64_t seed) { Indexed_Twins(seed).run(120); }, 150);
}

TEST(Index_Property, AgreesWithAMultimapAcrossRunAndTree) {
  testing::expect_property([](std::uint64_t seed) { Indexed_Twins(seed, 200).run(30); }, 8);
}

// ---- single properties --------------------------------------------------------------------------

class Index_Test : public ::testing::Test {
 protected:
  Index_Test() { create_schema(database_); }
  ~Index_Test() override { database_.rollback(); }

  Record_Id insert(std::string_view value) {
    const Record_Id id(rows().records().next_free());
    database_.write(Insert{table, id});
    database_.write(Update<std::string_view>{table, id, text, value});
    return id;
  }
  void set_text(Record_Id id, std::string_view value) {
    database_.write(Update<std::string_view>{table, id, text, value});
  }
  void set_number(Record_Id id, std::int32_t value) {
    database_.write(Update<std::int32_t>{table, id, number, value});
  }
  Table& rows() { return database_.get_database().table(table); }
  const Index& index(std::string_view name) { return *database_.get_database().find_index(name); }
  std::string order_of(const Index& index) {
    std::string ids;
    for (auto c = index.begin(); c != index.end(); c.next())
      ids += std::to_string(c.record().value()) + " ";
    return ids;
  }

  Memory_File file_;
  Writable_Database database_{file_, Recovery::none, Deleted_Values::reset, definitions()};
};

TEST_F(Index_Test, HasRecordsOnlyOnceTheyHaveAKey) {
  database_.write(Insert{table, Record_Id(0)});
  database_.write(Insert{table, Record_Id(1)});
  EXPECT_EQ(index("number_unique").size(), 0u);
  set_number(Record_Id(1), 0);
  EXPECT_EQ(order_of(index("number_unique")), "1 ");
}

TEST_F(Index_Test, NamesTheKeyAndBothRecordsOfAViolation) {
  const Record_Id a = insert("a"), b = insert("b");
  set_number(a, 7);
  set_number(b, 8);
  const Offset before = database_.get_journal().get_position();
  try {
    set_number(b, 7);
    FAIL();
  } catch (const Data_Error& error) {
    EXPECT_STREQ(error.what(),
                 "number_unique unique index failure: (7) at id = 1 was already at id = 0");
  }
  EXPECT_EQ(database_.get_journal().get_position(), before);
  EXPECT_EQ(rows().column<std::int32_t>(number).get(1), 8);
  set_number(b, 8);
  set_number(a, 9);
  set_number(b, 7);
  EXPECT_EQ(order_of(index("number_unique")), "1 0 ");
}

TEST_F(Index_Test, ACursorGoesOnWhenTheIndexChanges) {
  for (const char* const value : {"a", "b", "c", "d"}) insert(value);
  const Index& by_text = index("by_text");
  auto cursor = by_text.begin();
  cursor.next();
  database_.write(Delete{table, Record_Id(1)});  // the record at the cursor
  cursor.next();
  EXPECT_EQ(cursor.record(), Record_Id(2));
  EXPECT_EQ(insert("bb"), Record_Id(1));
  insert("x");
  cursor.previous();
  EXPECT_EQ(cursor.record(), Record_Id(1)) << "the new record, with the id of the deleted one";
  set_text(Record_Id(1), "cc");
  cursor.next();
  EXPECT_EQ(cursor.record(), Record_Id(3));
  auto end = by_text.end();
  insert("y");
  end.previous();
  EXPECT_EQ(end.record(), Record_Id(5));
}

TEST_F(Index_Test, ACursorWhoseRecordIsAnotherOneNowThrows) {
  for (const char* const value : {"a", "b", "c"}) insert(value);
  auto cursor = index("by_text").begin();
  const auto other = index("by_text").at(Record_Id(2));
  database_.write(Delete{table, Record_Id(0)});
  EXPECT_EQ(insert("x"), Record_Id(0));
  EXPECT_THROW(cursor.next(), Exception) << "it would go on behind x";
  EXPECT_THROW(cursor.previous(), Exception);
  cursor = other;
  cursor.next();
  EXPECT_EQ(cursor.record(), Record_Id(0));
}

TEST_F(Index_Test, IsNotBuiltFromAJournalThatViolatesIt) {
  const Record_Id a = insert("a"), b = insert("b");
  set_number(a, 7);
  set_number(b, 8);
  database_.soft_checkpoint();
  {
    Writable_Database other(file_);  // a writer without the index
    other.write(Update<std::int32_t>{table, b, number, 7});
    other.soft_checkpoint();
  }
  EXPECT_THROW(Writable_Database(file_, Recovery::none, Deleted_Values::reset, definitions()),
               Data_Error);
}

TEST_F(Index_Test, TakesAJournalWhoseViolationsAreMendedAtItsEnd) {
  const Record_Id a = insert("a"), b = insert("b");
  set_number(a, 7);
  set_number(b, 8);
  database_.soft_checkpoint();
  Writable_Database other(file_);
  other.write(Update<std::int32_t>{table, b, number, 7});
  other.write(Update<std::int32_t>{table, a, number, 8});
  other.soft_checkpoint();
  Writable_Database again(file_, Recovery::none, Deleted_Values::reset, definitions());
  EXPECT_EQ(order_of(*again.get_database().find_index("number_unique")), "1 0 ");
}

TEST_F(Index_Test, OfSeveralIsRightWhenAnotherIsViolated) {
  set_number(insert("a"), 1);
  database_.soft_checkpoint();
  Readonly_Journal journal(file_);
  Database follower;
  for (const Index_Definition& definition : definitions()) follower.add_index(definition);
  load(follower, journal);

  Writable_Database other(file_);
  const auto insert_other = [&](index_t id, std::int32_t value) {
    other.write(Insert{table, Record_Id(id)});
    other.write(Update<std::string_view>{table, Record_Id(id), text, "b"});
    other.write(Update<std::int32_t>{table, Record_Id(id), number, value});
    other.soft_checkpoint();
    journal.pull();
  };
  insert_other(1, 1);
  EXPECT_THROW(load(follower, journal), Data_Error);
  EXPECT_EQ(follower.find_index("by_text")->size(), 2u);
  EXPECT_THROW(load(follower, journal), Data_Error) << "until it is mended";
  Readonly_Journal late_journal(file_);
  Database late;
  for (const Index_Definition& definition : definitions()) late.add_index(definition);
  EXPECT_THROW(load(late, late_journal), Data_Error);
  other.write(Update<std::int32_t>{table, Record_Id(1), number, 2});
  insert_other(2, 3);
  load(follower, journal);
  EXPECT_EQ(follower.find_index("number_unique")->size(), 3u);
  late_journal.pull();
  load(late, late_journal);
  EXPECT_EQ(late.find_index("number_unique")->size(), 3u);
}

TEST_F(Index_Test, HasRecordsThatAreOlderThanItsLastField) {
  insert("a");
  database_.write(Add_Field{table, "more", {Type_Code::int8, {}}});
  database_.soft_checkpoint();
  Writable_Database again(file_, Recovery::none, Deleted_Values::reset,
                          {{"both", table, {text, Field_Id(5)}}});
  EXPECT_EQ(again.get_database().find_index("both")->size(), 1u);
}

// A file whose writes fail while is_failing is set.
class Flaky_File : public Memory_File {
 public:
  void pwrite(const char* data, std::size_t size, Offset offset) override {
    if (is_failing) throw_io_error("writing", "flaky", offset, ENOSPC);
    Memory_File::pwrite(data, size, offset);
  }
  bool is_failing = false;
};

TEST(Index_Vector, ThatCannotBeLoggedIsTakenBackByARollback) {
  Flaky_File file;
  Writable_Database database(file, Recovery::none, Deleted_Values::reset, definitions());
  create_schema(database);
  constexpr index_t size = 100'000;
  database.write(Insert_Vector{table, Record_Id(0), size});
  std::vector<std::int32_t> numbers(size);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  database.write_vector<std::int32_t>(table, Record_Id(0), number, numbers);
  database.soft_checkpoint();

  file.is_failing = true;
  for (std::int32_t& n : numbers) n = -n;
  EXPECT_THROW(database.write_vector<std::int32_t>(table, Record_Id(0), number, numbers), Io_Error);
  EXPECT_THROW(database.write(Comment{"no more"}), Exception);
  database.rollback();
  const Table& rows = database.get_database().table(table);
  EXPECT_EQ(rows.column<std::int32_t>(number).get(7), 7);
  EXPECT_EQ(rows.indexes()[2]->begin().record(), Record_Id(0));
  EXPECT_EQ(database.get_database().find_index("number_unique")->size(), std::size_t{size});
}

TEST_F(Index_Test, KeepsItsFieldsAndItsTable) {
  EXPECT_THROW(database_.write(Drop_Field{table, text}), Data_Error);
  EXPECT_THROW(database_.write(Drop_Table{table}), Data_Error);
  database_.write(Rename_Field{table, text, "title"});
  insert("a");
  EXPECT_EQ(index("by_text").size(), 1u);
}

TEST_F(Index_Test, FindsByTheFirstFieldsOfAKey) {
  for (int i = 0; i < 6; ++i) {
    const Record_Id id = insert("same");
    database_.write(Update<double>{table, id, real, i % 3 + 0.0});
    database_.write(Update<bool>{table, id, flag, i < 3});
    set_number(id, i);
  }
  const auto parts = std::array{key_part(1.0)};
  const Index& by_real = index("by_real_and_flag");
  EXPECT_EQ(by_real.lower_bound(parts).record(), Record_Id(4));
  EXPECT_EQ(by_real.upper_bound(parts).record(), Record_Id(5));
}

TEST(Index_Key, OrdersNumbersAsTheyAre) {
  const double reals[] = {-std::numeric_limits<double>::infinity(),
                          -2,
                          -1e-300,
                          0,
                          1e-300,
                          2,
                          std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t i = 1; i < std::size(reals); ++i)
    EXPECT_LT(key_part(reals[i - 1]).number, key_part(reals[i]).number) << i;
  EXPECT_EQ(key_part(-0.0).number, key_part(0.0).number);
  EXPECT_EQ(key_part(1.5f).number, key_part(1.5).number);
  EXPECT_LT(key_part(std::numeric_limits<std::int64_t>::min()).number,
            key_part(std::int64_t{-1}).number);
  EXPECT_LT(key_part(std::int8_t{-1}).number, key_part(std::int8_t{0}).number);
  EXPECT_LT(key_part(Record_Id()).number, key_part(Record_Id(0)).number);
  EXPECT_LT(key_part(std::string_view("a")).number, key_part(std::string_view("b")).number);
}

}  // namespace
}  // namespace joedb::index_test
