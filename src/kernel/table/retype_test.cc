#include "kernel/table/retype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/content_difference.h"
#include "kernel/table/declaration.h"
#include "kernel/table/record_runs.h"
#include "support/error_of.h"

namespace joedb::retype_test {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

constexpr Table_Id person{1};

// A table with the field "f", whose id changes when it is retyped.
class Retype : public ::testing::Test {
 protected:
  Declared_Type parse(std::string_view text) {
    if (text == "reference") return {Type_Code::reference, {}};
    std::string problem;
    const auto type = parse_declared_type(text, problem);
    EXPECT_EQ(problem, "");
    return type.value();
  }
  static Type stored(const Declared_Type& type) {
    return {type.stored, type.stored == Type_Code::reference ? person : Table_Id()};
  }
  void create(std::string_view text) {
    const Declared_Type type = parse(text);
    db.write(Create_Table{"person"});
    add_field(db, {person, "f", stored(type)}, type.logical);
  }
  const Table& table() { return db.get_database().table(person); }
  Field_Id id() { return table().find_field("f"); }
  const Column_Base& column() { return *table().find_field(id())->column; }
  template <Field_Value T>
  void insert(T value) {
    const Record_Id record(table().records().size());
    db.write(Insert{person, record});
    db.write(Update<T>{person, record, id(), value});
  }
  void retype(std::string_view text) {
    const Declared_Type type = parse(text);
    retype_field(db, person, id(), stored(type), type.logical);
  }
  // The values as joedbi shows them.
  std::string values() {
    std::string text;
    visit_type(column().type().code, [&]<class T>(std::type_identity<T>) {
      for_each_run(table(), [&](index_t first, index_t size) {
        for (index_t i = first; i < first + size; ++i) {
          if (!text.empty()) text += ' ';
          append_value<T>(text, column().logical(), static_cast<const Column<T>&>(column()).get(i));
        }
      });
    });
    return text;
  }

  Memory_File file;
  Writable_Database db{file};
};

TEST_F(Retype, AFieldHasTheNewTypeAndItsValues) {
  create("int32");
  insert<std::int32_t>(37);
  insert<std::int32_t>(-5);
  retype("int64");
  EXPECT_EQ(column().type().code, Type_Code::int64);
  EXPECT_EQ(values(), "37 -5");
  retype("decimal(2)");
  EXPECT_EQ(values(), "37.00 -5.00");
  retype("string");
  EXPECT_EQ(values(), R"("37.00" "-5.00")");
  retype("float64");
  EXPECT_EQ(values(), "37 -5");
  retype("int8 optional");
  EXPECT_EQ(values(), "37 -5");
}

TEST_F(Retype, TheFileHasTheNewField) {
  create("int32 optional");
  insert<std::int32_t>(7);
  insert<std::int32_t>(missing_value<std::int32_t>(false));
  db.write(Delete{person, Record_Id(0)});
  retype("decimal(1) optional");
  db.hard_checkpoint();
  Database read;
  Readonly_Journal journal(file);
  load(read, journal);
  EXPECT_EQ(content_difference(read, db.get_database()), "");
  EXPECT_EQ(read.declarations(),
            std::vector<std::string>{"joedb: type person.f decimal(1) optional"});
  EXPECT_EQ(values(), "null");
}

TEST_F(Retype, AValueThatDoesNotFitIsRefusedWithItsRecord) {
  create("int32");
  for (const std::int32_t value : {1, 300, -129, 1000, 128}) insert(value);
  const Offset before = db.place().position;
  EXPECT_EQ(error_of([&] { retype("int8"); }),
            "person.f: 4 records do not fit int8; the first is record 1, with 300, then record 2, "
            "with -129, then record 3, with 1000");
  EXPECT_EQ(db.place().position, before);
  db.write(Update<std::int32_t>{person, Record_Id(1), id(), 1});
  db.write(Delete_Vector{person, Record_Id(2), 3});
  retype("int8");
  EXPECT_EQ(values(), "1 1");
}

TEST_F(Retype, MissingValuesStayMissing) {
  create("int32 optional");
  insert<std::int32_t>(missing_value<std::int32_t>(false));
  EXPECT_EQ(error_of([&] { retype("int64"); }),
            "person.f: 1 record does not fit int64; the first is record 0, with null");
  for (const char* type : {"string optional", "float64 optional", "boolean optional", "reference",
                           "date optional", "enum(a,b) optional", "int8 optional"}) {
    retype(type);
    if (column().type().code == Type_Code::reference)
      EXPECT_EQ(values(), "-1");
    else
      EXPECT_EQ(values(), "null") << type;
  }
}

TEST_F(Retype, AValueDoesNotBecomeTheMissingOne) {
  create("int64");
  insert<std::int64_t>(-128);
  retype("int8");
  retype("string");
  retype("int16 optional");
  EXPECT_EQ(error_of([&] { retype("int8 optional"); }),
            "person.f: 1 record does not fit int8 optional; the first is record 0, with -128");
}

TEST_F(Retype, TextsBecomeWhatTheyAreTextsOf) {
  create("string");
  insert<std::string_view>("2026-01-31");
  retype("date");
  EXPECT_EQ(values(), "2026-01-31");
  retype("timestamp(s)");
  EXPECT_EQ(values(), "2026-01-31T00:00:00Z");
  retype("string");
  retype("timestamp");
  EXPECT_EQ(values(), "2026-01-31T00:00:00.000000Z");
  retype("date");
  retype("string");
  EXPECT_EQ(values(), R"("2026-01-31")");
  EXPECT_THAT(error_of([&] { retype("int32"); }), HasSubstr("with \"2026-01-31\""));
}

TEST_F(Retype, ATextIsANumberOnlyIfNothingIsLost) {
  create("string");
  for (const char* text : {"007", "+1", "1e3", "1.50", " 1", "", "9223372036854775808", "-0"})
    insert<std::string_view>(text);
  EXPECT_THAT(error_of([&] { retype("int64"); }), HasSubstr("8 records do not fit int64"));
  for (index_t i = 0; i < 8; ++i) db.write(Delete{person, Record_Id(i)});
  for (const char* text : {"007.5", "+1", "1e3", ".5", "0.1234567890123456789"})
    insert<std::string_view>(text);
  EXPECT_THAT(error_of([&] { retype("float64"); }), HasSubstr("5 records do not fit float64"));
  EXPECT_THAT(error_of([&] { retype("decimal(18)"); }), HasSubstr("5 records do not fit"));
}

TEST_F(Retype, ADecimalMayGetOrLoseZeros) {
  create("string");
  for (const char* text : {"1.5", "1.50", "-2", "0.00"}) insert<std::string_view>(text);
  retype("decimal(2)");
  EXPECT_EQ(values(), "1.50 1.50 -2.00 0.00");
  retype("decimal(1)");
  retype("float32");
  EXPECT_EQ(values(), "1.5 1.5 -2 0");
  EXPECT_THAT(error_of([&] { retype("int8"); }), HasSubstr("2 records do not fit int8"));
}

TEST_F(Retype, ANumberStaysTheSameNumber) {
  create("float64");
  insert(0.1);
  EXPECT_THAT(error_of([&] { retype("float32"); }), HasSubstr("1 record does not fit float32"));
  retype("decimal(1)");
  EXPECT_EQ(values(), "0.1");
  db.write(Update<std::int64_t>{person, Record_Id(0), id(), 123456789012345678});
  EXPECT_THAT(error_of([&] { retype("float64"); }), HasSubstr("with 12345678901234567.8"));
}

TEST_F(Retype, AnEnumerationKeepsItsNames) {
  create("enum(open,paid,late)");
  insert<std::int8_t>(1);
  insert<std::int8_t>(2);
  EXPECT_EQ(error_of([&] { retype("enum(paid)"); }),
            "person.f: 1 record does not fit enum(paid); the first is record 1, with late");
  retype("enum(late,paid)");
  EXPECT_EQ(values(), "paid late");
  insert<std::int8_t>(9);
  EXPECT_THAT(error_of([&] { retype("string"); }), HasSubstr("the first is record 2, with 9"));
}

TEST_F(Retype, OnlyAnotherTypeIsANewField) {
  create("int64");
  EXPECT_EQ(error_of([&] { retype("int64"); }), "person.f is int64 already");
  EXPECT_EQ(error_of([&] { retype("int64 optional"); }),
            "person.f is stored in the same way: set_type person f int64 optional declares it");
  EXPECT_THAT(error_of([&] { retype("blob"); }), HasSubstr("person.f: a blob has no text"));
  EXPECT_EQ(error_of([&] {
              retype_field(db, person, Field_Id(9), {Type_Code::int8, {}}, {});
            }),
            "retype_field: invalid field_id");
  db.write(Add_Field{person, "f_retyped", {Type_Code::int64, {}}});
  EXPECT_THAT(error_of([&] { retype("int8"); }), HasSubstr("f_retyped: rename this field first"));
}

TEST(Retype_Index, AFieldOfAnIndexIsRefused) {
  Memory_File file;
  Writable_Database db(file, {}, Deleted_Values::reset,
                       {{"person_by_f", person, {Field_Id(1)}, true}});
  db.write(Create_Table{"person"});
  db.write(Add_Field{person, "f", {Type_Code::int32, {}}});
  EXPECT_EQ(error_of([&] {
              retype_field(db, person, Field_Id(1), {Type_Code::int64, {}}, {});
            }),
            "person.f: index person_by_f needs the field, so it cannot be retyped: open the file "
            "without this index");
  EXPECT_EQ(db.get_database().table(person).fields().size(), 1u);
}

TEST_F(Retype, RetypingsAreFoundInTheJournal) {
  create("string");
  retype("enum(a,b)");
  retype("enum(b,a) optional");
  db.write(Add_Field{person, "f_retyped", {Type_Code::int64, {}}});
  db.write(Add_Field{person, "g", {Type_Code::int64, {}}});
  db.write(Drop_Field{person, id()});
  db.soft_checkpoint();
  const auto found = find_retypings(file);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].from, Field_Id(1));
  EXPECT_EQ(found[1].to, Field_Id(3));
  EXPECT_EQ(found[1].before, "enum(a,b)");
  EXPECT_EQ(found[1].after, "enum(b,a) optional");
}

// ---- all types

constexpr const char* types[] = {"string",
                                 "int8",
                                 "int16",
                                 "int32",
                                 "int64",
                                 "boolean",
                                 "float32",
                                 "float64",
                                 "reference",
                                 "date",
                                 "timestamp",
                                 "timestamp(s)",
                                 "timestamp(ns)",
                                 "duration",
                                 "duration(ms)",
                                 "decimal(0)",
                                 "decimal(2)",
                                 "decimal(18)",
                                 "enum(open,paid)",
                                 "enum(true,nan,paid)",
                                 "bytes",
                                 "uuid",
                                 "json",
                                 "string optional",
                                 "int8 optional",
                                 "int64 optional",
                                 "boolean optional",
                                 "float32 optional",
                                 "float64 optional",
                                 "date optional",
                                 "timestamp optional",
                                 "decimal(2) optional",
                                 "enum(paid,open) optional",
                                 "bytes optional",
                                 "uuid optional"};

class Retype_Values : public Retype {
 protected:
  std::int64_t number(std::int64_t min, std::int64_t max) {
    static constexpr std::int64_t special[] = {0,    1,     -1,  2,    12,      100,
                                               1200, 86400, 127, -128, 16777217};
    const std::int64_t value = random() % 2 == 0
                                   ? special[random() % std::size(special)]
                                   : static_cast<std::int64_t>(random()) >> random() % 64;
    return value < min || value > max ? 1 : value;
  }
  std::string text(const Logical_Type& logical) {
    using Kind = Logical_Type::Kind;
    static constexpr const char* special[] = {"",
                                              "1",
                                              "12",
                                              "1.5",
                                              "-3",
                                              "true",
                                              "paid",
                                              "null",
                                              "nan",
                                              "2026-01-31",
                                              "-0001-02-28",
                                              "PT1H",
                                              "1e+20",
                                              "0.25",
                                              "ab12",
                                              "2026-01-31T10:00:00Z",
                                              "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77",
                                              "\xff",
                                              "inf"};
    if (logical.kind == Kind::uuid) return std::string(16, static_cast<char>(random()));
    if (logical.kind == Kind::bytes && random() % 2 == 0) return std::string(3, '\0');
    return special[random() % std::size(special)];
  }
  template <Field_Value T>
  void insert_random(const Logical_Type& logical) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      insert<T>(text(logical));
    } else if constexpr (std::is_floating_point_v<T>) {
      static constexpr T special[] = {T(0),
                                      T(-0.0),
                                      T(1),
                                      T(0.1),
                                      T(2.5),
                                      T(1e20),
                                      T(-16777217),
                                      std::numeric_limits<T>::infinity(),
                                      std::numeric_limits<T>::quiet_NaN(),
                                      std::numeric_limits<T>::denorm_min(),
                                      std::numeric_limits<T>::max()};
      insert<T>(special[random() % std::size(special)]);
    } else if constexpr (std::is_same_v<T, bool>) {
      insert<T>(random() % 2 == 0);
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      insert<T>(Record_Id(number(-1, 1 << 30)));
    } else if constexpr (!std::is_same_v<T, Blob>) {
      insert<T>(
          static_cast<T>(number(std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
    }
  }
  std::mt19937_64 random{42};
};

// A text that becomes a value of another type may come back in another form, which then has the
// same value.
TEST_F(Retype_Values, AValueComesBackOrIsRefused) {
  int kept = 0;
  for (const char* from : types)
    for (const char* to : types) {
      if (std::string_view(from) == to) continue;
      for (int i = 0; i < 40; ++i) {
        db.rollback();
        create(from);
        const Logical_Type logical = column().logical();
        visit_type(column().type().code,
                   [&]<class T>(std::type_identity<T>) { insert_random<T>(logical); });
        std::string before = values();
        if (error_of([&] { retype(to); }) != "no error") continue;
        const std::string there = values();
        if (error_of([&] { retype(from); }) != "no error") continue;
        ++kept;
        if (before.starts_with('"')) {
          retype(to);
          EXPECT_EQ(values(), there) << from << ' ' << before << " as " << to;
          continue;
        }
        if (before == "-0") before = "0";
        std::string after = values();
        if (after == "-0") after = "0";
        EXPECT_EQ(after, before) << from << " as " << to << ": " << there;
      }
    }
  EXPECT_GT(kept, 5000);
}

TEST_F(Retype, AMillionValuesTakeLessThanASecond) {
  create("int32");
  const index_t size = 1'000'000;
  db.write(Insert_Vector{person, Record_Id(0), size});
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  db.write_vector<std::int32_t>(person, Record_Id(0), id(), numbers);
  const std::clock_t start = std::clock();
  retype("int64");
  retype("string");
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
  EXPECT_EQ(table().column<std::string_view>(id()).get(999'999), "999999");
}

}  // namespace
}  // namespace joedb::retype_test
