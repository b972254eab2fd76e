#include "exchange/row_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "sim/lab/database_text.h"
#include "support/error_of.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

constexpr Table_Id country{1};
constexpr Table_Id city{2};
constexpr Field_Id country_name{1};
constexpr Field_Id name{1};
constexpr Field_Id population{2};
constexpr Field_Id in_country{3};
constexpr Field_Id twin{4};

Cell text(std::string_view value) { return Cell::of(Cell::Kind::text, value); }
Cell word(std::string_view value) { return Cell::of(Cell::Kind::word, value); }
Cell number(std::int64_t value) { return Cell::of(value); }

void make_schema(Writable_Database& db) {
  db.write(Create_Table{"country"});
  db.write(Create_Table{"city"});
  db.write(Add_Field{country, "name", {Type_Code::string, {}}});
  db.write(Add_Field{city, "name", {Type_Code::string, {}}});
  db.write(Add_Field{city, "population", {Type_Code::int32, {}}});
  db.write(Add_Field{city, "country", {Type_Code::reference, country}});
  db.write(Add_Field{city, "twin", {Type_Code::reference, city}});
}

class Row_Importer_Test : public ::testing::Test {
 protected:
  Row_Importer_Test() : db(file) {
    make_schema(db);
    db.soft_checkpoint();
  }
  ~Row_Importer_Test() override { db.rollback(); }

  using Rows = std::vector<std::vector<Cell>>;
  Import_Counts import(Import_Target target, const Rows& rows) {
    Row_Importer importer(db, std::move(target));
    std::int64_t line = 1;
    for (const auto& row : rows) importer.add(row, ++line);
    const Import_Counts counts = importer.finish();
    db.soft_checkpoint();
    return counts;
  }

  template <class T>
  std::vector<T> values(Table_Id table, Field_Id field) {
    const Table& t = db.get_database().table(table);
    std::vector<T> result;
    for (index_t id = 0; id < t.records().size(); ++id)
      if (t.is_used(Record_Id(id)))
        result.push_back(T(
            t.column<std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>>(field)
                .get(id)));
    return result;
  }
  std::vector<std::string> names(Table_Id table = city) { return values<std::string>(table, name); }
  std::vector<std::int32_t> populations() { return values<std::int32_t>(city, population); }
  std::vector<index_t> references(Field_Id field) {
    std::vector<index_t> result;
    for (const Record_Id id : values<Record_Id>(city, field)) result.push_back(id.value());
    return result;
  }

  Memory_File file;
  Writable_Database db;
};

const std::vector<Import_Column> name_and_population{{name}, {population}};

TEST_F(Row_Importer_Test, InsertsAllRowsWithoutAKey) {
  const Rows rows{{text("Lyon"), number(500)}, {word("Lyon"), word("+7")}, {text("Brest")}};
  const Import_Counts counts{.inserted = 3, .missing = {{"population", 1}}};
  EXPECT_EQ(import({city, name_and_population}, rows), counts);
  EXPECT_THAT(names(), ElementsAre("Lyon", "Lyon", "Brest"));
  EXPECT_THAT(populations(), ElementsAre(500, 7, 0));
}

TEST_F(Row_Importer_Test, ASecondImportWithAKeyAppendsNothing) {
  const Import_Target target{city, name_and_population, {name}};
  const Rows rows{{text("Lyon"), number(500)}, {text("Brest"), number(140)}};
  import(target, rows);
  const Offset size = file.get_size();
  EXPECT_EQ(import(target, rows), Import_Counts{.unchanged = 2});
  EXPECT_EQ(file.get_size(), size);
}

TEST_F(Row_Importer_Test, UpdatesInsertsAndDeletesByKey) {
  import({city, name_and_population}, {{text("Lyon"), number(500)},
                                       {text("Brest"), number(140)},
                                       { text("Nancy"),
                                         number(100) }});
  const Rows rows{
      {text("Brest"), number(141)}, {text("Dijon"), number(150)}, {text("Nancy"), Cell()}};
  const Import_Target target{
      .table = city, .columns = name_and_population, .key = {name}, .deletes_missing = true};
  EXPECT_EQ(import(target, rows),
            (Import_Counts{.inserted = 1, .updated = 1, .unchanged = 1, .deleted = 1}));
  EXPECT_THAT(names(), ElementsAre("Brest", "Nancy", "Dijon"));
  EXPECT_THAT(populations(), ElementsAre(141, 100, 150));
}

TEST_F(Row_Importer_Test, SeveralFieldsAreAKey) {
  const Import_Target target{city, name_and_population, {name, population}};
  import(target, {{text("Lyon"), number(500)}, { text("Lyon"), number(501) }});
  EXPECT_EQ(import(target, {{text("Lyon"), number(501)}, {text("Lyon"), number(502)}}),
            (Import_Counts{.inserted = 1, .unchanged = 1}));
}

TEST_F(Row_Importer_Test, RowsExchangeKeysOfADeclaredIndex) {
  declare_index(db, {"by_name", city, {name}, true});
  import({city, name_and_population}, {{text("Lyon"), number(500)}, { text("Nice"), number(340) }});
  const Import_Target by_id{.table = city, .columns = {{name}}, .has_ids = true};
  EXPECT_EQ(import(by_id, {{number(0), text("Nice")}, {number(1), text("Lyon")}}),
            Import_Counts{.updated = 2});
  EXPECT_THAT(names(), ElementsAre("Nice", "Lyon"));
  EXPECT_EQ(import({city, name_and_population, {population}},
                   {{text("Lyon"), number(500)}, {text("Nice"), number(340)}}),
            Import_Counts{.updated = 2});
  EXPECT_THAT(names(), ElementsAre("Lyon", "Nice"));
  Row_Importer importer(db, by_id);
  importer.add(std::vector<Cell>{number(0), text("Nice")}, 7);
  importer.add(std::vector<Cell>{number(1), text("Nice")}, 8);
  try {
    importer.finish();
    FAIL() << "a key that is there";
  } catch (const Row_Error& error) {
    EXPECT_EQ(error.place, 7);
  }
}

TEST_F(Row_Importer_Test, IdsIdentifyRecordsAndAreKept) {
  const Import_Target target{
      .table = city, .columns = {{name}}, .has_ids = true, .deletes_missing = true};
  import(target, {{number(3), text("Lyon")}, { word("1"), text("Brest") }});
  EXPECT_EQ(import(target, {{number(3), text("Nice")}, {Cell(), text("Nancy")}}),
            (Import_Counts{.inserted = 1, .updated = 1, .deleted = 1}));
  EXPECT_THAT(names(), ElementsAre("Nancy", "Nice"));
  EXPECT_TRUE(db.get_database().table(city).is_used(Record_Id(3)));
}

TEST_F(Row_Importer_Test, LooksUpReferencesAndCreatesThemIfAsked) {
  Import_Target target{city, {{name}, {in_country, country_name, true}}};
  const Rows rows{{text("Lyon"), text("France")},
                  {text("Bern"), text("Suisse")},
                  {text("Brest"), text("France")},
                  {text("Atlantis"), Cell::null()}};
  EXPECT_EQ(import(target, rows), (Import_Counts{.inserted = 4, .created = 2}));
  EXPECT_THAT(names(country), ElementsAre("France", "Suisse"));
  EXPECT_THAT(references(in_country), ElementsAre(0, 1, 0, -1));

  target.columns[1].creates_missing = false;
  EXPECT_EQ(error_of<Row_Error>([&] {
              import(target, {{ text("Roma"), text("Italia") }});
            }),
            "table country has no record whose name is `Italia`");
}

TEST_F(Row_Importer_Test, ReferencesToTheTableItselfMayComeBeforeTheirRecords) {
  const Import_Target target{city, {{name}, {twin, name}}, {name}};
  const Rows rows{
      {text("Lyon"), text("Milano")}, {text("Milano"), text("Lyon")}, {text("Brest"), Cell()}};
  EXPECT_EQ(import(target, rows), Import_Counts{.inserted = 3});
  EXPECT_THAT(references(twin), ElementsAre(1, 0, -1));
  EXPECT_EQ(import(target, rows), Import_Counts{.unchanged = 3});
  EXPECT_EQ(import(target, {{text("Lyon"), text("Brest")}, {text("Brest"), text("")}}),
            (Import_Counts{.updated = 1, .unchanged = 1}));
  EXPECT_THAT(references(twin), ElementsAre(2, 0, -1));
}

TEST_F(Row_Importer_Test, CreatedRecordsOfTheTableItselfAreNotMissing) {
  const Import_Target target{.table = city,
                             .columns = {{name}, {twin, name, true}},
                             .key = {name},
                             .deletes_missing = true};
  EXPECT_EQ(import(target, {{text("Lyon"), text("Milano")}}),
            (Import_Counts{.inserted = 1, .created = 1}));
  EXPECT_THAT(names(), ElementsAre("Lyon", "Milano"));
  EXPECT_EQ(import(target, {{text("Lyon"), text("Milano")}}), Import_Counts{.unchanged = 1});
  EXPECT_THAT(names(), ElementsAre("Lyon", "Milano"));
}

TEST_F(Row_Importer_Test, ARecordThatIsDeletedCannotBeReferenced) {
  const Import_Target target{
      .table = city, .columns = {{name}, {twin, name}}, .key = {name}, .deletes_missing = true};
  import(target, {{text("Lyon"), text("Milano")}, { text("Milano"), Cell() }});
  EXPECT_THAT(error_of([&] {
                import(target, {{ text("Lyon"), text("Milano") }});
              }),
              HasSubstr("Milano"));
}

TEST_F(Row_Importer_Test, SaysWhichCellIsWrong) {
  try {
    import({city, name_and_population}, {{text("Lyon"), number(1)},
                                         { text("Nice"),
                                           word("many") }});
    FAIL();
  } catch (const Row_Error& error) {
    EXPECT_STREQ(error.what(), "int32 expected, got `many`");
    EXPECT_EQ(error.column, std::size_t{1});
    EXPECT_EQ(error.place, 3);
  }
}

TEST_F(Row_Importer_Test, RefusesAKeyThatComesTwice) {
  const Import_Target target{city, name_and_population, {name}};
  EXPECT_EQ(error_of<Row_Error>([&] {
              import(target, {{text("Lyon"), number(1)}, { text("Lyon"), number(2) }});
            }),
            "a row before has this key, too: name = \"Lyon\"");
}

TEST_F(Row_Importer_Test, RefusesAKeyThatSeveralRecordsHave) {
  import({city, name_and_population}, {{text("Lyon")}, { text("Lyon") }});
  EXPECT_THAT(error_of<Data_Error>([&] {
                import({city, name_and_population, { name }}, {});
              }),
              HasSubstr("records 0 and 1 of table city have both name = \"Lyon\""));
}

TEST_F(Row_Importer_Test, NewRecordsHaveNothingOfThoseThatHadTheirIds) {
  import({city, name_and_population}, {{text("Lyon"), number(500)},
                                       { text("Brest"),
                                         number(140) }});
  db.write(Delete{city, Record_Id(0)});
  import({city, { { name } }}, {{ text("Dijon") }});
  EXPECT_THAT(names(), ElementsAre("Dijon", "Brest"));
  EXPECT_THAT(populations(), ElementsAre(0, 140));
}

TEST_F(Row_Importer_Test, ValuesOfAllTypesAreReadFromWords) {
  std::string buffer;
  EXPECT_EQ(read_cell<std::int8_t>(word("-128"), buffer), -128);
  EXPECT_EQ(error_of([&] { read_cell<std::int8_t>(word("128"), buffer); }),
            "int8 expected, got `128`");
  EXPECT_EQ(read_cell<std::int64_t>(word("9223372036854775807"), buffer), 9223372036854775807);
  EXPECT_EQ(read_cell<std::int64_t>(word("1970-01-02"), buffer), 86400);
  EXPECT_EQ(read_cell<std::int32_t>(word("1e3"), buffer), 1000);
  EXPECT_TRUE(read_cell<bool>(word("Yes"), buffer));
  EXPECT_FALSE(read_cell<bool>(word("0"), buffer));
  EXPECT_EQ(read_cell<double>(word("-1.5e3"), buffer), -1500);
  EXPECT_TRUE(std::isnan(read_cell<float>(word(""), buffer)));
  EXPECT_TRUE(std::isinf(read_cell<float>(word("-inf"), buffer)));
  EXPECT_THAT(error_of([&] { read_cell<float>(Cell::of(1e300), buffer); }),
              HasSubstr("float32 expected"));
  EXPECT_EQ(read_cell<Record_Id>(word("7"), buffer), Record_Id(7));
  EXPECT_TRUE(read_cell<Record_Id>(word("-1"), buffer).is_null());
  EXPECT_THAT(error_of([&] { read_cell<Record_Id>(word("-2"), buffer); }),
              HasSubstr("record id, or nothing expected"));
  EXPECT_EQ(read_cell<std::string_view>(Cell::of(0.5), buffer), "0.5");
  EXPECT_EQ(quoted_cell(word("a\n\xff\xc3\xa9")), "`a\\012\\377é`");
}

// ---- little memory ------------------------------------------------------------------------------

struct Imported_Cities {
  static constexpr std::size_t no_limit = 0;
  static constexpr std::size_t very_little = 1;  // every process uses more

  Imported_Cities() { make_schema(db); }
  ~Imported_Cities() { db.rollback(); }

  static std::string label(int i) { return "the city of number " + std::to_string(i); }
  static void add(Row_Importer& importer, int i) {
    const std::string own = label(i), other = label(7 * i % 5000);
    const std::string of = "country " + std::to_string(i % 9);
    importer.add(std::vector<Cell>{text(own), number(i), text(of), text(other)}, i);
  }
  Import_Target target(std::size_t memory, std::vector<Field_Id> key) const {
    return {.table = city,
            .columns = {{name}, {population}, {in_country, country_name, true}, {twin, name}},
            .key = std::move(key),
            .memory = memory};
  }
  void import(std::size_t memory, std::vector<Field_Id> key, int begin, int end) {
    Row_Importer importer(db, target(memory, std::move(key)));
    for (int i = begin; i < end; ++i) add(importer, i);
    importer.finish();
    db.soft_checkpoint();
  }
  std::string content() const { return testing::full_content_text(db.get_database()); }

  Memory_File file;
  Writable_Database db{file, {}, Deleted_Values::reset, {{"by_name", city, {name}, true}}};
};

TEST(Import_With_Little_Memory, MakesTheSameRows) {
  Imported_Cities with_little, with_much;
  for (const std::vector<Field_Id>& key : {std::vector<Field_Id>{}, {name}}) {
    const int begin = key.empty() ? 0 : 3000;  // with a key, existing rows and new ones
    with_little.import(Imported_Cities::very_little, key, begin, begin + 5000);
    with_much.import(Imported_Cities::no_limit, key, begin, begin + 5000);
    EXPECT_EQ(with_little.content(), with_much.content());
  }
}

TEST(Import_With_Little_Memory, DeletesTheRecordsWhoseKeysAreInNewOnes) {
  Imported_Cities file;
  declare_index(file.db, {"by_population", city, {population}, true});
  file.import(Imported_Cities::no_limit, {}, 0, 5000);
  Row_Importer importer(file.db, {.table = city,
                                  .columns = {{name}, {population}},
                                  .key = {name},
                                  .deletes_missing = true,
                                  .memory = Imported_Cities::very_little});
  for (int i = 0; i < 2500; ++i)
    importer.add(std::vector<Cell>{text(Imported_Cities::label(i + 10'000)), number(i)}, i);
  EXPECT_EQ(importer.finish(), (Import_Counts{.inserted = 2500, .deleted = 5000}));
}

TEST(Import_With_Little_Memory, SaysWhichRowHasAKeyAgain) {
  Imported_Cities file;
  Row_Importer importer(file.db, file.target(Imported_Cities::very_little, {}));
  for (int i = 0; i < 2500; ++i) Imported_Cities::add(importer, i);
  try {
    Imported_Cities::add(importer, 17);
    FAIL() << "a key that is there";
  } catch (const Row_Error& error) {
    EXPECT_EQ(error.place, 17);
  }
}

}  // namespace
}  // namespace joedb
