#include "joedb/table/writable_database.h"

#include <gtest/gtest.h>

#include <map>

#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "sim/lab/database_text.h"
#include "sim/lab/random.h"
#include "sim/lab/sim_file.h"
#include "support/error_of.h"
#include "support/journal_process.h"

namespace joedb::writable_database_test {
namespace {

using testing::Destructor_Warnings;
using testing::error_of;
using testing::Random;
using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

// ---- a simple model -----------------------------------------------------------------------------

// A model of a database, made of maps. Values are their encoded bytes.
struct Model_Table {
  std::string name;
  std::map<std::uint16_t, std::pair<std::string, Type>> fields;
  std::map<index_t, std::map<std::uint16_t, std::string>> values;  // also of deleted records
  std::vector<index_t> order;                                      // order of insertion
  std::uint16_t field_count = 0;
  index_t size = 0;
};

template <Field_Value T>
std::string bytes_of(const T& value) {
  std::string bytes(value_size_limit(value), '\0');
  bytes.resize(static_cast<std::size_t>(encode_value(bytes.data(), value) - bytes.data()));
  return bytes;
}

class Model {
 public:
  explicit Model(Deleted_Values deleted) : deleted_(deleted) {}

  std::map<std::uint16_t, Model_Table> tables;
  std::uint16_t table_count = 0;

  void insert(std::uint16_t table, index_t id) {
    Model_Table& t = tables.at(table);
    if (deleted_ == Deleted_Values::reset) t.values.erase(id);
    t.order.push_back(id);
    t.size = std::max(t.size, id + 1);
  }

  // Returns the records in their order, with their visible values.
  std::string text() const {
    std::string text;
    for (const auto& [id, table] : tables) {
      text += "table " + std::to_string(id) + " " + table.name + " " + std::to_string(table.size);
      for (const auto& [field, what] : table.fields)
        text += ", " + std::to_string(field) + " " + what.first + " " +
                std::string(type_name(what.second.code));
      text += "\n";
      for (const index_t record : order(table)) {
        text += "  " + std::to_string(record) + ":";
        for (const auto& [field, what] : table.fields)
          text += " " + value(table, record, field) + "|";
        text += "\n";
      }
    }
    return text;
  }

  static bool is_used(const Model_Table& table, index_t id) {
    return std::find(table.order.begin(), table.order.end(), id) != table.order.end();
  }

 private:
  static std::vector<index_t> order(const Model_Table& table) { return table.order; }

  static std::string value(const Model_Table& table, index_t record, std::uint16_t field) {
    const auto row = table.values.find(record);
    if (row != table.values.end()) {
      const auto found = row->second.find(field);
      if (found != row->second.end()) return testing::hex(found->second);
    }
    return visit_type(table.fields.at(field).second.code,
                      []<class T>(std::type_identity<T>) { return testing::hex(bytes_of(T())); });
  }

  Deleted_Values deleted_;
};

std::string table_text(const Database& database) {
  std::string text;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    text += "table " + std::to_string(table->id().value()) + " " + table->name() + " " +
            std::to_string(table->records().size());
    for (std::size_t f = 0; f < table->fields().size(); ++f)
      if (const Field& field = table->fields()[f]; field.column)
        text += ", " + std::to_string(f + 1) + " " + field.name + " " +
                std::string(type_name(field.column->type().code));
    text += "\n";
    const Record_Ids& records = table->records();
    for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
      text += "  " + std::to_string(id) + ":";
      for (std::size_t f = 0; f < table->fields().size(); ++f)
        if (const Field& field = table->fields()[f]; field.column)
          visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
            const auto& column = table->column<T>(Field_Id(static_cast<std::uint16_t>(f + 1)));
            text += " " + testing::hex(bytes_of<T>(column.get(id))) + "|";
          });
      text += "\n";
    }
  }
  return text;
}

// ---- the same random operations on both ---------------------------------------------------------

class Twins {
 public:
  Twins(std::uint64_t seed, Deleted_Values deleted)
      : random_(seed), deleted_(deleted), model_(deleted), checkpointed_(deleted) {
    for (std::size_t& weight : weights_) weight = random_.below(4) == 0 ? 0 : 1 + random_.below(9);
    weights_[0] = 1 + random_.below(4);
    open();
  }

  void run(int steps) {
    for (int i = 0; i < 6; ++i) i < 2 ? create_table() : add_field();
    for (int i = 0; i < steps; ++i) {
      step();
      if (::testing::Test::HasFailure()) return;
    }
    checkpoint();
  }

 private:
  void open() {
    db_.reset();
    file_.reset();
    file_ = std::make_unique<Sim_File>(disk_);
    db_ = std::make_unique<Writable_Database>(*file_, Recovery::overwrite, deleted_);
  }

  void expect_alike() { ASSERT_EQ(table_text(db_->get_database()), model_.text()); }

  void step() {
    std::size_t total = 0;
    for (const std::size_t weight : weights_) total += weight;
    std::size_t pick = random_.below(total), action = 0;
    while (pick >= weights_[action]) pick -= weights_[action++];
    switch (action) {
      case 0:
        return checkpoint();
      case 1:
        return roll_back();
      case 2:
        return create_table();
      case 3:
        return add_field();
      case 4:
        return change_schema();
      case 5:
      case 6:
        return insert();
      case 7:
        return insert_vector();
      case 8:
        return erase();
      case 9:
        return update_vector();
      case 10:
        db_->write(Comment{std::string(random_.below(3000), 'c')});
        return;
      default:
        return update();
    }
  }

  // Makes a checkpoint, and compares the model with the database, and with a reader or a reopened
  // database.
  void checkpoint() {
    db_->checkpoint(static_cast<Checkpoint_Level>(random_.below(3)));
    checkpointed_ = model_;
    expect_alike();
    if (random_.flip()) {
      open();
      expect_alike();
    } else {
      Sim_File file(disk_, Open_Mode::read_existing);
      Readonly_Journal journal(file);
      Database database(deleted_);
      load(database, journal);
      ASSERT_EQ(testing::content_text(database), testing::content_text(db_->get_database()));
    }
  }

  void roll_back() {
    if (random_.flip()) db_->flush();
    if (random_.flip())
      db_->rollback();
    else
      open();  // drops entries after the checkpoint
    model_ = checkpointed_;
    expect_alike();
  }

  void create_table() {
    const std::string name = "t" + std::to_string(++model_.table_count);
    db_->write(Create_Table{name});
    model_.tables[model_.table_count].name = name;
  }

  Model_Table* pick_table() {
    if (model_.tables.empty()) return nullptr;
    auto it = model_.tables.begin();
    std::advance(it, random_.below(model_.tables.size()));
    table_ = it->first;
    return &it->second;
  }
  std::uint16_t pick_field(const Model_Table& table) {
    auto it = table.fields.begin();
    std::advance(it, random_.below(table.fields.size()));
    return it->first;
  }

  void add_field() {
    Model_Table* const table = pick_table();
    if (table == nullptr || table->fields.size() > 8) return;
    const std::string name = "f" + std::to_string(++table->field_count);
    const auto code = static_cast<Type_Code>(1 + random_.below(type_count));
    const Type type{code, code == Type_Code::reference ? Table_Id(table_) : Table_Id()};
    db_->write(Add_Field{Table_Id(table_), name, type});
    table->fields[table->field_count] = {name, type};
  }

  void change_schema() {
    Model_Table* const table = pick_table();
    if (table == nullptr) return;
    const std::string name = "renamed" + std::to_string(renamed_++);
    switch (random_.below(4)) {
      case 0:
        db_->write(Rename_Table{Table_Id(table_), name});
        table->name = name;
        return;
      case 1:
        if (random_.below(4) > 0) return;
        db_->write(Drop_Table{Table_Id(table_)});
        model_.tables.erase(table_);
        return;
      default:
        if (table->fields.empty()) return;
        const std::uint16_t field = pick_field(*table);
        if (random_.flip()) {
          db_->write(Rename_Field{Table_Id(table_), Field_Id(field), name});
          table->fields[field].first = name;
        } else {
          db_->write(Drop_Field{Table_Id(table_), Field_Id(field)});
          table->fields.erase(field);
        }
    }
  }

  void insert() {
    Model_Table* const table = pick_table();
    if (table == nullptr) return;
    const index_t next = db_->get_database().table(Table_Id(table_)).records().next_free();
    const auto limit = static_cast<std::size_t>(table->size) + 10;
    const index_t id = random_.flip() ? next : static_cast<index_t>(random_.below(limit));
    if (Model::is_used(*table, id)) return;
    db_->write(Insert{Table_Id(table_), Record_Id(id)});
    model_.insert(table_, id);
  }

  void insert_vector() {
    Model_Table* const table = pick_table();
    if (table == nullptr || table->size > 500) return;
    const index_t id = table->size + (random_.below(4) == 0 ? 3 : 0);
    const auto size = static_cast<index_t>(random_.below(30));
    db_->write(Insert_Vector{Table_Id(table_), Record_Id(id), size});
    for (index_t i = id; i < id + size; ++i) model_.insert(table_, i);
  }

  void erase() {
    Model_Table* const table = pick_table();
    if (table == nullptr || table->order.empty()) return;
    const index_t id = table->order[random_.below(table->order.size())];
    index_t size = 1;
    while (Model::is_used(*table, id + size) && random_.below(3) > 0) ++size;
    if (size == 1 && random_.flip())
      db_->write(Delete{Table_Id(table_), Record_Id(id)});
    else
      db_->write(Delete_Vector{Table_Id(table_), Record_Id(id), size});
    std::erase_if(table->order, [&](index_t used) { return used >= id && used < id + size; });
  }

  template <Field_Value T>
  T value() {
    if constexpr (std::is_same_v<T, std::string_view>)
      return testing::keep(std::string(random_.below(random_.below(10) == 0 ? 600 : 30),
                                       static_cast<char>('a' + random_.below(26))));
    else if constexpr (std::is_same_v<T, Record_Id>)
      return Record_Id(static_cast<index_t>(random_.below(10)) - 1);
    else if constexpr (std::is_same_v<T, Blob>)
      return db_->write_blob("blob");
    else
      return static_cast<T>(random_.next());
  }

  void update() {
    Model_Table* const table = pick_table();
    if (table == nullptr || table->order.empty() || table->fields.empty()) return;
    const index_t id = table->order[random_.below(table->order.size())];
    const std::uint16_t field = pick_field(*table);
    visit_type(table->fields[field].second.code, [&]<class T>(std::type_identity<T>) {
      const T v = value<T>();
      table->values[id][field] = bytes_of<T>(v);
      db_->write(Update<T>{Table_Id(table_), Record_Id(id), Field_Id(field), v});
    });
  }

  void update_vector() {
    Model_Table* const table = pick_table();
    if (table == nullptr || table->fields.empty()) return;
    const auto start =
        static_cast<index_t>(random_.below(static_cast<std::size_t>(table->size) + 1));
    const std::size_t size = random_.below(static_cast<std::size_t>(table->size - start) + 1);
    const std::uint16_t field = pick_field(*table);
    visit_type(table->fields[field].second.code, [&]<class T>(std::type_identity<T>) {
      const std::unique_ptr<T[]> values(new T[size]());
      for (std::size_t i = 0; i < size; ++i) {
        values[i] = value<T>();
        table->values[start + static_cast<index_t>(i)][field] = bytes_of<T>(values[i]);
      }
      db_->write_vector<T>(Table_Id(table_), Record_Id(start), Field_Id(field),
                           std::span<const T>(values.get(), size));
    });
  }

  Random random_;
  const Deleted_Values deleted_;
  Model model_;
  Model checkpointed_;
  Sim_Disk disk_;
  std::unique_ptr<Sim_File> file_;
  std::unique_ptr<Writable_Database> db_;
  std::uint16_t table_ = 0;
  int renamed_ = 0;
  std::size_t weights_[14];
};

class Writable_Database_Test : public ::testing::Test {
 protected:
  Sim_Disk disk;
  Destructor_Warnings warnings;
};

TEST_F(Writable_Database_Test, BehavesLikeTheModel) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 150; ++seed)
    for (const Deleted_Values deleted : {Deleted_Values::keep, Deleted_Values::reset}) {
      SCOPED_TRACE("seed " + std::to_string(seed) +
                   (deleted == Deleted_Values::keep ? ", keep" : ", reset"));
      Twins(seed, deleted).run(150);
      if (HasFailure()) return;
    }
}

// ---- check, log, apply --------------------------------------------------------------------------

const Table_Id table(1);
const Field_Id text(1), number(2);

void fill(Writable_Database& db) {
  db.write(Create_Table{"t"});
  db.write(Add_Field{table, "text", {Type_Code::string, {}}});
  db.write(Add_Field{table, "number", {Type_Code::int32, {}}});
  for (index_t i = 0; i < 5; ++i) db.write(Insert{table, Record_Id(i)});
}

TEST_F(Writable_Database_Test, ARefusedChangeReachesNeitherTablesNorJournal) {
  Sim_File file(disk);
  Writable_Database db(file);
  fill(db);
  const std::string before = testing::content_text(db.get_database());
  const Offset position = db.get_journal().get_position();
  const std::vector<std::int32_t> numbers(3);
  EXPECT_THROW(db.write(Insert{table, Record_Id(4)}), Data_Error);
  EXPECT_THROW(db.write(Create_Table{"t"}), Data_Error);
  EXPECT_THROW(db.write(Delete{table, Record_Id(5)}), Data_Error);
  EXPECT_THROW(db.write(Update<std::int32_t>{table, Record_Id(5), number, 1}), Data_Error);
  EXPECT_THROW(db.write(Update<std::int8_t>{table, Record_Id(0), number, 1}), Data_Error);
  EXPECT_THROW(db.write_vector<std::int32_t>(table, Record_Id(3), number, numbers), Data_Error);
  EXPECT_THROW(db.write_vector<std::int32_t>(table, Record_Id(0), text, numbers), Data_Error);
  EXPECT_EQ(testing::content_text(db.get_database()), before);
  EXPECT_EQ(db.get_journal().get_position(), position);
}

TEST_F(Writable_Database_Test, AWriteThatFailsChangesNoTable) {
  Sim_File file(disk);
  Writable_Database db(file);
  fill(db);
  db.soft_checkpoint();
  disk.set_fault({.number = disk.io_count() + 1, .code = ENOSPC, .lasts = true});
  std::string before;
  const auto fill_the_disk = [&] {
    for (std::size_t i = 0; i < 10'000; ++i) {
      before = testing::content_text(db.get_database());
      db.write(Update<std::string_view>{table, Record_Id(0), text, std::string(i, 'x')});
    }
  };
  EXPECT_THROW(fill_the_disk(), Io_Error);
  EXPECT_EQ(testing::content_text(db.get_database()), before);
  EXPECT_NE(error_of([&] { db.write(Insert{table, Record_Id(5)}); }), "no error");
  EXPECT_NE(error_of([&] { db.write(Create_Table{"u"}); }), "no error");
  EXPECT_NE(error_of([&] { db.write_blob("b"); }), "no error");
  EXPECT_EQ(testing::content_text(db.get_database()), before);
}

// A text of the table itself can be written to it, even if the call moves the text.
TEST_F(Writable_Database_Test, TakesItsOwnTexts) {
  Sim_File file(disk);
  Writable_Database db(file);
  fill(db);
  db.write(Update<std::string_view>{table, Record_Id(0), text, "a text too long to stand inline"});
  const auto column = [&]() -> const auto& {
    return db.get_database().table(table).column<std::string_view>(text);
  };
  for (index_t i = 1; i < 1000; ++i) {
    if (i >= 5) db.write(Insert{table, Record_Id(i)});
    db.write(Update<std::string_view>{table, Record_Id(i), text, column().get(i - 1)});
  }
  EXPECT_EQ(column().get(999), "a text too long to stand inline");
  std::vector<std::string_view> reversed;
  for (index_t i = 999; i >= 0; --i) reversed.push_back(column().get(i));
  db.write_vector<std::string_view>(table, Record_Id(0), text, reversed);
  db.soft_checkpoint();
  const std::string before = testing::content_text(db.get_database());
  Sim_File reading(disk, Open_Mode::read_existing);
  Readonly_Journal journal(reading);
  Database database;
  load(database, journal);
  EXPECT_EQ(testing::content_text(database), before);
}

TEST_F(Writable_Database_Test, ARollbackKeepsNothingAndGoesOn) {
  Sim_File file(disk);
  Writable_Database db(file);
  fill(db);
  db.soft_checkpoint();
  const std::string before = testing::content_text(db.get_database());
  db.write(Insert{table, Record_Id(5)});
  db.write(Create_Table{"dropped"});
  const std::vector<std::int32_t> numbers{1, 2, 3};
  db.write_vector<std::int32_t>(table, Record_Id(0), number, numbers);
  db.rollback();
  EXPECT_EQ(testing::content_text(db.get_database()), before);
  EXPECT_EQ(db.ahead_of_checkpoint(), 0);
  db.write(Insert{table, Record_Id(5)});
  db.soft_checkpoint();
  db.rollback();
  EXPECT_EQ(db.get_database().table(table).records().size(), 6);
}

TEST_F(Writable_Database_Test, WritesAndReadsBlobs) {
  Sim_File file(disk);
  Writable_Database db(file);
  const Blob blob = db.write_blob("BLOB");
  EXPECT_EQ(db.read_blob(blob), "BLOB");
  EXPECT_EQ(db.read_blob(blob, 2), "BL");
}

// A checkpoint of entries that no reader would accept is refused before it is written.
TEST_F(Writable_Database_Test, RefusesACheckpointThatCouldNotBeReadBack) {
  Sim_File file(disk);
  Writable_Database db(file);
  fill(db);
  db.soft_checkpoint();
  const Offset checkpoint = db.get_journal().get_checkpoint();
  db.write(Insert_Vector{table, Record_Id(5), 20'000'000});
  for (const Checkpoint_Level level :
       {Checkpoint_Level::soft, Checkpoint_Level::half, Checkpoint_Level::hard})
    EXPECT_THROW(db.checkpoint(level), Data_Error);
  EXPECT_EQ(db.get_journal().get_checkpoint(), checkpoint);
  db.rollback();
  db.write(Insert{table, Record_Id(5)});
  db.soft_checkpoint();
}

TEST_F(Writable_Database_Test, ALongVectorCanBeReadBackOnceItHasValues) {
  Sim_File file(disk);
  Writable_Database db(file);
  db.write(Create_Table{"t"});
  db.write(Add_Field{table, "flag", {Type_Code::boolean, {}}});
  const index_t size = 17'000'000;
  db.write(Insert_Vector{table, Record_Id(0), size});
  EXPECT_THROW(db.soft_checkpoint(), Data_Error);
  const std::unique_ptr<bool[]> flags(new bool[static_cast<std::size_t>(size)]());
  flags[7] = true;
  db.write_vector<bool>(table, Record_Id(0), Field_Id(1),
                        std::span<const bool>(flags.get(), static_cast<std::size_t>(size)));
  db.soft_checkpoint();
  Sim_File reading(disk, Open_Mode::read_existing);
  Readonly_Journal journal(reading);
  Database database;
  load(database, journal);
  EXPECT_EQ(database.table(table).records().size(), size);
  EXPECT_TRUE(database.table(table).column<bool>(Field_Id(1)).get(7));
  EXPECT_FALSE(database.table(table).column<bool>(Field_Id(1)).get(8));
}

// ---- several processes, and copies --------------------------------------------------------------

TEST_F(Writable_Database_Test, SeesWhatOthersHaveWritten) {
  Sim_File a_file(disk, Open_Mode::shared_write), b_file(disk, Open_Mode::shared_write);
  Writable_Database a(a_file), b(b_file);
  a.lock_pull();
  fill(a);
  a.soft_checkpoint();
  a.unlock();
  EXPECT_GT(b.lock_pull(), 0);
  EXPECT_EQ(testing::content_text(b.get_database()), testing::content_text(a.get_database()));
  b.write(Insert{table, Record_Id(5)});
  b.hard_checkpoint();
  b.unlock();
  EXPECT_GT(a.lock_pull(), 0);
  EXPECT_EQ(testing::content_text(b.get_database()), testing::content_text(a.get_database()));
  EXPECT_EQ(error_of([&] {
              b.write(Insert{table, Record_Id(6)});
            }),
            "sim is shared: it can be written only in a transaction");
  a.unlock();
  EXPECT_EQ(testing::content_text(b.get_database()), testing::content_text(a.get_database()));
}

TEST_F(Writable_Database_Test, TakesTheBytesOfACopyThatMakeSense) {
  Sim_Disk source_disk;
  Sim_File source_file(source_disk);
  Writable_Database source(source_file);
  Sim_File file(disk);
  Writable_Database copy(file);
  fill(source);
  source.soft_checkpoint();
  copy.copy_from(source_file, source.get_journal().get_checkpoint());
  EXPECT_EQ(testing::content_text(copy.get_database()),
            testing::content_text(source.get_database()));
  EXPECT_EQ(copy.ahead_of_checkpoint(), 0);

  source.write(Insert{table, Record_Id(5)});
  source.write(Update<std::int32_t>{table, Record_Id(5), number, 5});
  source.soft_checkpoint();
  const Offset end = source.get_journal().get_checkpoint();
  const std::string before = testing::content_text(copy.get_database());
  const std::string content = disk.content();
  EXPECT_THROW(copy.copy_from(source_file, end - 1), Exception);  // a position inside an entry
  EXPECT_EQ(testing::content_text(copy.get_database()), before);
  EXPECT_EQ(disk.content(), content);
  copy.copy_from(source_file, end);
  EXPECT_EQ(testing::content_text(copy.get_database()),
            testing::content_text(source.get_database()));
  copy.write(Insert{table, Record_Id(6)});
  source.write(Insert{table, Record_Id(6)});
  copy.soft_checkpoint();
  source.soft_checkpoint();
  EXPECT_EQ(disk.content().substr(header_size), source_disk.content().substr(header_size));
}

// Integrity entries cover several blocks, also with bytes that are read past the buffer.
TEST(Integrity_Of_Tables, FindsDamageInLargeJournals) {
  Sim_Disk disk;
  Journal_Options options;
  options.has_integrity = true;
  constexpr std::int64_t count = 200'000;
  {
    Sim_File file(disk, Open_Mode::write_existing_or_create_new);
    Writable_Database database(file, options);
    const Table_Id first{1};
    const Field_Id field{1};
    database.write(Create_Table{"t"});
    database.write(Add_Field{first, "f", {Type_Code::int64, {}}});
    database.write(Insert_Vector{first, Record_Id(0), count});
    const std::vector<std::int64_t> values(count, 7);
    database.write_vector<std::int64_t>(first, Record_Id(0), field, values);
    for (int i = 0; i < 50'000; ++i)
      database.write(Update<std::int64_t>{first, Record_Id(i), field, i});
    database.hard_checkpoint();
  }
  const auto table_count = [](const std::string& content) {
    Readonly_Memory_File file(content);
    Readonly_Journal journal(file);
    Database database;
    load(database, journal);
    return database.tables().size();
  };
  EXPECT_EQ(table_count(disk.content()), 1U);
  for (const std::size_t offset : {100U, 1'000'000U, 1'700'000U}) {
    std::string damaged = disk.content();
    damaged[offset] = static_cast<char>(damaged[offset] ^ 16);
    EXPECT_THROW(table_count(damaged), Corruption_Error) << offset;
  }
}

}  // namespace
}  // namespace joedb::writable_database_test
