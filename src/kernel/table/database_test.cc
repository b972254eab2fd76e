#include "joedb/table/database.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "joedb/table/load.h"
#include "sim/lab/database_text.h"
#include "sim/lab/random.h"
#include "support/journal_of.h"

namespace joedb::database_test {
namespace {

using testing::Any_Entry;
using testing::Journal_Of;
using testing::Vector_Update;

const Table_Id first(1), second(2), third(3);
const Field_Id name(1), number(2);

Record_Id id(index_t value) { return Record_Id(value); }

template <class T>
Any_Entry update(Table_Id table, index_t record, Field_Id field, T value) {
  return Update<T>{table, id(record), field, value};
}

// Table 1 "town" has fields 1 "name" (string) and 2 "number" (int32), and records 0 to 4. Table 2
// "empty" has no fields and no records.
const std::vector<Any_Entry> small_database{Create_Table{"town"},
                                            Add_Field{first, "name", {Type_Code::string, {}}},
                                            Add_Field{first, "number", {Type_Code::int32, {}}},
                                            Create_Table{"empty"}, Insert_Vector{first, id(0), 5}};

class Database_Test : public ::testing::Test {
 protected:
  static Database database_of(const std::vector<Any_Entry>& entries,
                              Deleted_Values deleted = Deleted_Values::reset) {
    Journal_Of journal(entries);
    Database database(deleted);
    load(database, journal.journal());
    return database;
  }

  // Returns the error of a replay of the entries, without the position.
  static std::string error_of(const std::vector<Any_Entry>& entries) {
    try {
      database_of(entries);
    } catch (const Corruption_Error& error) {
      const std::string text = error.reason();
      EXPECT_NE(text.find(" entry at offset "), std::string::npos) << text;
      return text.substr(0, text.rfind(" ("));
    }
    return "no error";
  }

  static std::string error_after(std::vector<Any_Entry> entries, const Any_Entry& last) {
    entries.push_back(last);
    return error_of(entries);
  }

  // Returns the strings and numbers of table 1, in the order of ids.
  static std::string rows(const Database& database) {
    const Table& table = database.table(first);
    std::string text;
    for (index_t i = 0; i < table.records().size(); ++i) {
      if (!table.records().is_used(i)) continue;
      text += std::to_string(i) + ":" + table.column<std::string_view>(name).get(i) + "," +
              std::to_string(table.column<std::int32_t>(number).get(i)) + " ";
    }
    return text;
  }
};

// ---- the schema ---------------------------------------------------------------------------------

TEST_F(Database_Test, HoldsTheSchema) {
  const Database database = database_of(small_database);
  ASSERT_EQ(database.tables().size(), 2);
  const Table* const town = database.find_table("town");
  ASSERT_NE(town, nullptr);
  EXPECT_EQ(town, database.find_table(first));
  EXPECT_EQ(town->id(), first);
  EXPECT_EQ(town->name(), "town");
  EXPECT_EQ(town->find_field("name"), name);
  EXPECT_EQ(town->find_field("number"), number);
  EXPECT_TRUE(town->find_field("other").is_null());
  EXPECT_EQ(town->find_field(name)->column->type().code, Type_Code::string);
  EXPECT_EQ(town->find_field(Field_Id(3)), nullptr);
  EXPECT_EQ(town->find_field(Field_Id()), nullptr);
  EXPECT_EQ(database.find_table("other"), nullptr);
  EXPECT_EQ(database.find_table(third), nullptr);
  EXPECT_EQ(database.find_table(Table_Id()), nullptr);
}

TEST_F(Database_Test, NeverUsesAnIdAgain) {
  auto entries = small_database;
  entries.insert(
      entries.end(),
      {Drop_Table{first}, Create_Table{"town"}, Add_Field{third, "a", {Type_Code::int8, {}}},
       Drop_Field{third, Field_Id(1)}, Add_Field{third, "a", {Type_Code::int16, {}}}});
  const Database database = database_of(entries);
  EXPECT_EQ(database.find_table(first), nullptr);
  EXPECT_EQ(database.find_table("town")->id(), third);
  EXPECT_EQ(database.table(third).find_field("a"), Field_Id(2));
  EXPECT_EQ(database.table(third).find_field(Field_Id(1)), nullptr);
}

TEST_F(Database_Test, Renames) {
  auto entries = small_database;
  entries.insert(entries.end(),
                 {Rename_Table{first, "city"}, Rename_Table{second, "town"},
                  Rename_Field{first, name, "label"}, Rename_Field{first, number, "name"}});
  const Database database = database_of(entries);
  EXPECT_EQ(database.find_table("city")->id(), first);
  EXPECT_EQ(database.find_table("town")->id(), second);
  EXPECT_EQ(database.table(first).find_field("label"), name);
  EXPECT_EQ(database.table(first).find_field("name"), number);
  EXPECT_TRUE(database.table(first).find_field("number").is_null());
}

TEST_F(Database_Test, RemembersTheSchemaEntriesAsTheyAreInTheFile) {
  auto entries = small_database;
  const std::vector<Any_Entry> schema{Create_Table{"town"},
                                      Add_Field{first, "name", {Type_Code::string, {}}},
                                      Add_Field{first, "number", {Type_Code::int32, {}}},
                                      Create_Table{"empty"},
                                      Custom{"tidy"},
                                      Rename_Table{first, "city"},
                                      Rename_Field{first, number, "size"},
                                      Drop_Field{first, name},
                                      Drop_Table{second}};
  entries.push_back(Comment{"is none"});
  entries.insert(entries.end(), schema.begin() + 4, schema.end());
  std::string bytes;
  Context context;
  for (const Any_Entry& entry : schema) testing::append_any(bytes, context, entry);
  EXPECT_EQ(testing::hex(database_of(entries).schema_entries()), testing::hex(bytes));
}

TEST_F(Database_Test, FieldsAddedLaterHaveDefaults) {
  auto entries = small_database;
  entries.push_back(Delete{first, id(2)});
  for (int code = 1; code <= type_count; ++code)
    entries.push_back(Add_Field{
        first, testing::keep("f" + std::to_string(code)), {static_cast<Type_Code>(code), first}});
  const Database database = database_of(entries);
  for (int code = 1; code <= type_count; ++code)
    visit_type(static_cast<Type_Code>(code), [&]<class T>(std::type_identity<T>) {
      const auto& column =
          database.table(first).column<T>(Field_Id(static_cast<std::uint16_t>(2 + code)));
      for (index_t i = 0; i < 5; ++i) EXPECT_EQ(column.get(i), T());
    });
}

// ---- data ---------------------------------------------------------------------------------------

TEST_F(Database_Test, HoldsWhatEntriesSay) {
  auto entries = small_database;
  entries.insert(
      entries.end(),
      {update<std::string_view>(first, 1, name, "one"), update<std::int32_t>(first, 2, number, -2),
       Vector_Update<std::int32_t>{first, id(3), number, {33, 44}},
       Vector_Update<std::string_view>{first, id(2), name, {"two", "three and a half"}},
       Delete{first, id(0)}, Comment{"c"}, Timestamp{1}, Valid_Data{}, testing::Blob_Bytes{"b"}});
  EXPECT_EQ(rows(database_of(entries)), "1:one,0 2:two,-2 3:three and a half,33 4:,44 ");
}

// Only in tools with --classic, a new record has the values of the deleted record with the same id.
TEST_F(Database_Test, DeletedValuesAreKeptOrReset) {
  auto entries = small_database;
  entries.insert(
      entries.end(),
      {update<std::string_view>(first, 1, name, "a long text, not inline"),
       update<std::int32_t>(first, 2, number, 2), Delete{first, id(1)},
       Delete_Vector{first, id(2), 2}, Insert{first, id(1)}, Insert_Vector{first, id(2), 2}});
  EXPECT_EQ(rows(database_of(entries, Deleted_Values::keep)),
            "0:,0 1:a long text, not inline,0 2:,2 3:,0 4:,0 ");
  EXPECT_EQ(rows(database_of(entries)), "0:,0 1:,0 2:,0 3:,0 4:,0 ");
}

TEST_F(Database_Test, AVectorMayCoverRecordsThatAreNotUsed) {
  auto entries = small_database;
  entries.insert(entries.end(), {Delete{first, id(1)},
                                 Vector_Update<std::int32_t>{first, id(0), number, {10, 11, 12}}});
  EXPECT_EQ(rows(database_of(entries)), "0:,10 2:,12 3:,0 4:,0 ");
}

TEST_F(Database_Test, DeletesVectorsFromTheLast) {
  auto entries = small_database;
  entries.push_back(Delete_Vector{first, id(1), 3});
  EXPECT_EQ(database_of(entries).table(first).records().next_free(), 1);
}

// ---- errors -------------------------------------------------------------------------------------

TEST_F(Database_Test, RefusesWhatDoesNotFitByName) {
  const struct {
    const char* when;
    Any_Entry entry;
    std::string error;
  } cases[] = {
      {"no such table", Insert{third, id(0)}, "get_table: invalid table_id: 3"},
      {"the null table", Insert{Table_Id(), id(0)}, "get_table: invalid table_id: 0"},
      {"rename no table", Rename_Table{third, "a"}, "get_table: invalid table_id: 3"},
      {"add to no table", Add_Field{third, "a", {Type_Code::int8, {}}},
       "get_table: invalid table_id: 3"},
      {"drop a field of no table", Drop_Field{third, name}, "get_table: invalid table_id: 3"},
      {"rename a field of no table", Rename_Field{third, name, "a"},
       "get_table: invalid table_id: 3"},
      {"delete in no table", Delete{third, id(0)}, "get_table: invalid table_id: 3"},
      {"vector in no table", Insert_Vector{third, id(0), 1}, "get_table: invalid table_id: 3"},
      {"update in no table", update<std::int32_t>(third, 0, number, 1),
       "get_table: invalid table_id: 3"},
      {"vector of no table", Vector_Update<std::int32_t>{third, id(0), number, {1}},
       "get_table: invalid table_id: 3"},
      {"drop no table", Drop_Table{third}, "drop_table: invalid table_id"},
      {"no such field", update<std::int32_t>(first, 0, Field_Id(3), 1), "invalid field_id"},
      {"the null field", update<std::int32_t>(first, 0, Field_Id(), 1), "invalid field_id"},
      {"no such field in a vector", Vector_Update<std::int32_t>{first, id(0), Field_Id(3), {1}},
       "invalid field_id"},
      {"drop no field", Drop_Field{first, Field_Id(3)}, "drop_field: invalid field_id"},
      {"rename no field", Rename_Field{first, Field_Id(3), "a"}, "rename_field: invalid field_id"},
      {"another type", update<std::int8_t>(first, 0, number, 1),
       "invalid field_id: field number of table town is not of type int8"},
      {"another type in a vector", Vector_Update<bool>{first, id(0), number, {true}},
       "invalid field_id: field number of table town is not of type boolean"},
      {"a bad name of a table", Create_Table{"a__b"}, "create_table: invalid identifier: a__b"},
      {"an empty name", Create_Table{""}, "create_table: invalid identifier: "},
      {"a bad new name of a table", Rename_Table{first, "1a"},
       "rename_table: invalid identifier: 1a"},
      {"a bad name of a field", Add_Field{first, "\xc3\xa9", {Type_Code::int8, {}}},
       "add_field: invalid identifier: \xc3\xa9"},
      {"a bad new name of a field", Rename_Field{first, name, "a-b"},
       "rename_field: invalid identifier: a-b"},
      {"a used name of a table", Create_Table{"empty"}, "create_table: name already used: empty"},
      {"a used new name of a table", Rename_Table{first, "empty"},
       "rename_table: name already used: empty"},
      {"its own name", Rename_Table{first, "town"}, "rename_table: name already used: town"},
      {"a used name of a field", Add_Field{first, "name", {Type_Code::int8, {}}},
       "add_field: name already used"},
      {"a used new name of a field", Rename_Field{first, name, "number"},
       "rename_field: name already used: number"},
      {"insert null", Insert{first, id(-1)}, "insert_into: too big"},
      {"insert twice", Insert{first, id(4)}, "insert: record_id already in use"},
      {"insert far away", Insert{first, id(index_t{1} << 60)},
       "insert_into: too big: record 1152921504606846976 in table town, which has a size of 5"},
      {"update no record", update<std::int32_t>(first, 5, number, 1), "update: invalid record_id"},
      {"update null", update<std::int32_t>(first, -1, number, 1), "update: invalid record_id"},
      {"update the largest", update<std::int32_t>(first, index_t{1} << 60, number, 1),
       "update: invalid record_id"},
      {"a vector beyond the size", Vector_Update<std::int32_t>{first, id(4), number, {1, 2}},
       "update_vector out of range"},
      {"a vector of null", Vector_Update<std::int32_t>{first, id(-1), number, {1}},
       "update_vector out of range"},
      {"a vector at the largest",
       Vector_Update<std::int32_t>{first, id(index_t{1} << 60), number, {}},
       "update_vector out of range"},
      {"delete no record", Delete{first, id(5)}, "invalid record_id: table town has no record 5"},
      {"delete null", Delete{first, id(-1)}, "invalid record_id: null is no record of table town"},
      {"delete more than there are", Delete_Vector{first, id(3), 3},
       "delete_vector: some of 3 records from 3 are not in use"},
      {"delete all there could be", Delete_Vector{first, id(0), index_t{1} << 60},
       "delete_vector: some of 1152921504606846976 records from 0 are not in use"},
      {"insert over a record", Insert_Vector{first, id(4), 2},
       "insert_vector: some of 2 records from 4 are already in use"},
      {"insert a vector of null", Insert_Vector{first, id(-1), 2},
       "insert_vector: null record_id, or too big"},
      {"insert all there could be", Insert_Vector{first, id(5), index_t{1} << 60},
       "insert_vector: null record_id, or too big: 1152921504606846976 records from 5 in table "
       "town, which has a size of 5"},
      {"insert a vector far away", Insert_Vector{first, id(index_t{1} << 60), 1},
       "insert_vector: null record_id, or too big: 1 records from 1152921504606846976 in table "
       "town, which has a size of 5"},
  };
  for (const auto& [when, entry, error] : cases)
    EXPECT_EQ(error_after(small_database, entry), error) << when;
}

TEST_F(Database_Test, RefusesWhatBelongsToWhatWasDropped) {
  auto entries = small_database;
  entries.push_back(Drop_Field{first, name});
  EXPECT_EQ(error_after(entries, update<std::string_view>(first, 0, name, "a")),
            "invalid field_id");
  EXPECT_EQ(error_after(entries, Drop_Field{first, name}), "drop_field: invalid field_id");
  entries.push_back(Drop_Table{first});
  EXPECT_EQ(error_after(entries, Insert{first, id(9)}), "get_table: invalid table_id: 1");
  EXPECT_EQ(error_after(entries, Drop_Table{first}), "drop_table: invalid table_id");
}

TEST_F(Database_Test, RefusesDeletedRecords) {
  auto entries = small_database;
  entries.push_back(Delete{first, id(2)});
  EXPECT_EQ(error_after(entries, update<std::int32_t>(first, 2, number, 1)),
            "update: invalid record_id");
  EXPECT_EQ(error_after(entries, Delete{first, id(2)}),
            "invalid record_id: table town has no record 2");
  EXPECT_EQ(error_after(entries, Delete_Vector{first, id(1), 2}),
            "delete_vector: some of 2 records from 1 are not in use");
  EXPECT_EQ(error_after(entries, Insert_Vector{first, id(2), 2}),
            "insert_vector: some of 2 records from 2 are already in use");
}

// A refused entry leaves the database unchanged.
TEST_F(Database_Test, ARefusalChangesNothing) {
  Database database = database_of(small_database);
  const std::string before = testing::content_text(database);
  EXPECT_THROW(database(Insert{first, id(4)}), Data_Error);
  EXPECT_THROW(database(Insert_Vector{first, id(4), 5}), Data_Error);
  EXPECT_THROW(database(Delete_Vector{first, id(4), 5}), Data_Error);
  EXPECT_THROW(database(Rename_Table{first, "empty"}), Data_Error);
  EXPECT_THROW(database(Update<std::int32_t>{first, id(5), number, 1}), Data_Error);
  EXPECT_EQ(testing::content_text(database), before);
}

TEST_F(Database_Test, HasAtMost65535TablesAndFields) {
  Database database;
  for (int i = 0; i < 65535; ++i) database(Create_Table{"t" + std::to_string(i)});
  EXPECT_THROW(database(Create_Table{"one_more"}), Data_Error);
  const Table_Id last(65535);
  for (int i = 0; i < 65535; ++i)
    database(Add_Field{last, "f" + std::to_string(i), {Type_Code::int8, {}}});
  EXPECT_THROW(database(Add_Field{last, "one_more", {Type_Code::int8, {}}}), Data_Error);
}

// ---- limits -------------------------------------------------------------------------------------

// Returns the resident memory of this process in bytes; 0 if the system does not tell.
std::size_t resident_memory() {
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0;
  in >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

constexpr std::size_t megabyte = std::size_t{1} << 20;

// Tests short journals that create, fill and delete as many records as the limits allow.
TEST_F(Database_Test, AFewBytesNeverTakeMuchMemory) {
  constexpr std::int64_t many = 16'000'000;
  std::vector<Any_Entry> columns{Create_Table{"t"}};
  for (int i = 0; i < 100; ++i)
    columns.push_back(Add_Field{first,
                                testing::keep("f" + std::to_string(i)),
                                {static_cast<Type_Code>(1 + i % type_count), first}});
  const auto with = [&](std::vector<Any_Entry> more) {
    std::vector<Any_Entry> entries = columns;
    entries.insert(entries.end(), more.begin(), more.end());
    return entries;
  };
  std::vector<Any_Entry> many_tables;
  for (std::uint16_t t = 1; t <= 100; ++t) {
    many_tables.push_back(Create_Table{testing::keep("t" + std::to_string(t))});
    many_tables.push_back(Insert_Vector{Table_Id(t), id(0), many});
    many_tables.push_back(Delete_Vector{Table_Id(t), id(0), many});
  }
  std::vector<Any_Entry> many_skips = columns, again = columns;
  for (index_t i = 1; i <= 1000; ++i) many_skips.push_back(Insert{first, id(i * 1'000'000)});
  for (int i = 0; i < 1000; ++i) {
    again.push_back(Insert_Vector{first, id(0), many});
    again.push_back(Delete_Vector{first, id(0), many});
  }
  const struct {
    const char* when;
    std::vector<Any_Entry> entries;
    std::size_t megabytes;
  } cases[] = {
      // A record in a list takes 24 bytes.
      {"a vector", with({Insert_Vector{first, id(0), many}}), 20},
      {"a vector, one deleted", with({Insert_Vector{first, id(0), many}, Delete{first, id(7)}}),
       20},
      {"a vector, one updated",
       with({Insert_Vector{first, id(0), many}, update<std::int32_t>(first, many - 1, number, 7)}),
       20},
      {"a vector in a hole", with({Insert{first, id(1)}, Insert_Vector{first, id(2), many}}), 450},
      {"a far id", with({Insert{first, id(many)}, Insert{first, id(3)}}), 20},
      {"many far ids", many_skips, 450},
      {"in many tables", many_tables, 450},
      {"again and again", again, 450},
  };
  for (const auto& [when, entries, megabytes] : cases)
    for (const Deleted_Values deleted : {Deleted_Values::keep, Deleted_Values::reset}) {
      Journal_Of journal(entries);
      Database database(deleted);
      const std::size_t before = resident_memory();
      try {
        load(database, journal.journal());
      } catch (const Corruption_Error&) {
        // Some journals are refused; the memory allocated by then is measured.
      }
      const std::size_t after = resident_memory();
      EXPECT_LE(after, before + megabytes * megabyte)
          << when << ": " << (after - before) / megabyte << " MB";
    }
}

// The number of records is not limited if the journal has at least one byte for each record.
TEST_F(Database_Test, ALongJournalMayHaveManyRecords) {
  std::vector<Any_Entry> entries = small_database;
  for (index_t i = 5; i < 200'000; ++i) entries.push_back(Insert{first, id(i)});
  EXPECT_EQ(database_of(entries).table(first).records().size(), 200'000);
}

TEST_F(Database_Test, AWriterIsToldWhatCouldNotBeReadBack) {
  Database database = database_of(small_database);
  database(Insert_Vector{first, id(5), 20'000'000});
  EXPECT_THROW(database.require_readable_from(1000), Data_Error);
  database.require_readable_from(21'000'000);
}

// ---- runs of entries ----------------------------------------------------------------------------

// Two tables with a field of each type; the id of a field is the code of its type. The texts of the
// second table have an index.
class Run_Test : public Database_Test {
 protected:
  // Provides the bytes in pieces of random sizes.
  class Pieces : public Decoder_Input {
   public:
    Pieces(std::string_view bytes, testing::Random random) : bytes_(bytes), random_(random) {
      reset(journal_start, journal_start + static_cast<Offset>(bytes.size()));
    }

   private:
    void refill(std::size_t size) override {
      const auto start = static_cast<std::size_t>(position() - journal_start);
      const std::size_t most = bytes_.size() - start;
      // A copy, so that sanitizers detect reads past its end.
      const std::string_view piece =
          bytes_.substr(start, std::min(most, size + random_.below(200)));
      piece_.assign(piece.begin(), piece.end());
      set_window(piece_.data(), piece_.size(), position() + static_cast<Offset>(piece_.size()));
    }
    void read_at(char* out, std::size_t size, Offset offset) override {
      bytes_.copy(out, size, static_cast<std::size_t>(offset - journal_start));
    }

    const std::string_view bytes_;
    testing::Random random_;
    std::vector<char> piece_;
  };

  Run_Test() : random_(testing::first_seed()) { start_again(); }

  void start_again() {
    deleted_ = random_.flip() ? Deleted_Values::keep : Deleted_Values::reset;
    model_ = empty_database(deleted_);
    context_ = Context();
    bytes_.clear();
    for (const Table_Id table : {first, second}) {
      keep_if_valid(Create_Table{table == first ? "one" : "two"});
      for (std::uint16_t code = 1; code <= type_count; ++code)
        keep_if_valid(Add_Field{table,
                                testing::keep("f" + std::to_string(code)),
                                {static_cast<Type_Code>(code), first}});
    }
  }

  static Database empty_database(Deleted_Values deleted) {
    Database database(deleted);
    database.add_index({"by_text", second, {Field_Id(1)}});
    database.limit_to_journal_of(1 << 20);
    return database;
  }

  // Writes rows with some of their values, and occasionally other entries: both entries that a
  // writer could have written and ones that it could not.
  void write_rows(int count) {
    for (int i = 0; i < count; ++i) {
      const Table_Id table = random_.below(8) > 0 ? first : second;
      const index_t size = model_.table(table).records().size();
      const std::size_t what = random_.below(40);
      if (what == 0) keep_if_valid(Delete{table, any_record(size)});
      if (what == 1) keep_if_valid(Insert_Vector{table, id(size), 5});
      if (what == 2) keep_if_valid(Comment{"a comment"});
      if (what == 3) keep_if_valid(Insert{table, any_record(size + 3)});
      if (what != 4) keep_if_valid(Insert{table, id(size)});
      for (std::uint16_t code = 1; code <= type_count; ++code)
        if (random_.below(3) > 0)
          update(table, random_.below(9) > 0 ? id(size) : any_record(size), code);
    }
  }

  void update(Table_Id table, Record_Id record, std::uint16_t code) {
    visit_type(static_cast<Type_Code>(code), [&]<class T>(std::type_identity<T>) {
      const Field_Id field(code);
      if (random_.below(20) == 0)
        for (index_t i = 0; i < 3; ++i)
          keep_if_valid(Update<T>{table, record + i, field, any_value<T>()});
      keep_if_valid(Update<T>{table, record, field, any_value<T>()});
    });
  }

  template <class T>
  T any_value() {
    const std::uint64_t bits = random_.next() >> random_.below(64);
    if constexpr (std::is_same_v<T, std::string_view>)
      return testing::keep(std::string(random_.below(random_.below(5) > 0 ? 14 : 300), 'x'));
    else if constexpr (std::is_same_v<T, Record_Id>)
      return Record_Id(static_cast<index_t>(bits >> 4) - 1);
    else if constexpr (std::is_same_v<T, Blob>)
      return Blob(static_cast<std::int64_t>(bits >> 4), 300);
    else
      return static_cast<T>(bits);
  }

  Record_Id any_record(index_t size) {
    return id(static_cast<index_t>(random_.below(static_cast<std::size_t>(size) + 1)));
  }

  template <class Entry>
  void keep_if_valid(const Entry& entry) {
    try {
      model_(entry);
    } catch (const Data_Error&) {
      if (random_.below(1000) > 0) return;
    }
    append_encoded(bytes_, context_, entry);
  }

  void flip_a_bit() {
    char& byte = bytes_[random_.below(bytes_.size())];
    byte = static_cast<char>(byte ^ (1 << random_.below(8)));
  }

  // Returns the result of a replay: content, error and position. Calls `decode` with growing parts
  // of the journal.
  template <class Decode>
  std::string outcome(Decode decode) const {
    Database database = empty_database(deleted_);
    Pieces in(bytes_, random_);
    Context context;
    std::string error = "no error";
    try {
      for (const Offset part : {3, 2, 1}) decode(in, context, database, in.limit() / part);
    } catch (const Exception& e) {
      error = e.what() + in.entry_description();
    }
    return testing::content_text(database) + error + " at " + std::to_string(in.position());
  }
  std::string outcome_of_runs() const {
    return outcome([](auto& in, auto& context, auto& database, Offset end) {
      decode_entries(in, context, database, end);
    });
  }
  std::string outcome_of_entries() const {
    return outcome([](auto& in, auto& context, auto& database, Offset end) {
      while (in.position() < end) decode_entry(in, context, database);
    });
  }

  testing::Random random_;
  Deleted_Values deleted_ = Deleted_Values::keep;
  Database model_;
  Context context_;
  std::string bytes_;
};

TEST_F(Run_Test, ReadsTheSameAsOneEntryAtATime) {
  for (int i = 0; i < 10; ++i) {
    start_again();
    write_rows(300);
    EXPECT_EQ(outcome_of_runs(), outcome_of_entries()) << i;
  }
}

TEST_F(Run_Test, FindsTheSameDamageAsOneEntryAtATime) {
  for (int i = 0; i < 300; ++i) {
    start_again();
    write_rows(10);
    flip_a_bit();
    EXPECT_EQ(outcome_of_runs(), outcome_of_entries()) << i;
  }
}

}  // namespace
}  // namespace joedb::database_test
