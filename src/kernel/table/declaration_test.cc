#include "kernel/table/declaration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "kernel/table/content_difference.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb::declaration_test {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;

constexpr Table_Id invoice{1};
constexpr Field_Id total{1}, state{2}, note{3};

Logical_Type type_of(std::string_view text) {
  std::string problem;
  return parse_declared_type(text, problem).value().logical;
}

// A table of invoices, with fields of an int64, an int8 and a string.
template <class File_Type>
class Invoices : public ::testing::Test {
 protected:
  void create() {
    db.write(Create_Table{"invoice"});
    db.write(Add_Field{invoice, "total", {Type_Code::int64, {}}});
    db.write(Add_Field{invoice, "state", {Type_Code::int8, {}}});
    db.write(Add_Field{invoice, "note", {Type_Code::string, {}}});
  }
  void declare(Field_Id field, std::string_view type) {
    declare_type(db, invoice, field, type_of(type));
  }
  const Logical_Type& logical(Field_Id field) const {
    return db.get_database().table(invoice).find_field(field)->column->logical();
  }
  auto declarations() const { return db.get_database().declarations(); }

  testing::Temporary_Directory directory;
  File_Type file = make<File_Type>();
  Writable_Database db{file};

 private:
  template <class T>
  T make() {
    if constexpr (std::is_same_v<T, Memory_File>)
      return Memory_File();
    else
      return T(directory.path() + "/test.joedb", Open_Mode::create_new);
  }
};

class Declaration : public Invoices<Memory_File> {
 protected:
  Declaration() { create(); }

  // The database as another program reads it.
  Database read() {
    db.soft_checkpoint();
    Database database;
    Readonly_Journal journal(file);
    load(database, journal);
    return database;
  }
};

TEST(Declaration_Text, HasOneForm) {
  const auto declaration = parse_declaration("joedb: type a.b date optional");
  ASSERT_TRUE(declaration);
  EXPECT_EQ(declaration->table, "a");
  EXPECT_EQ(declaration->field, "b");
  EXPECT_EQ(declaration->type.logical.kind, Logical_Type::Kind::date);
  for (const char* comment :
       {"", "joedb:", "joedb: ", "joedb: type", "joedb: type a.b", "joedb: type a.b ",
        "joedb: type ab date", "joedb: type a b.date", "joedb: type a.b dat",
        " joedb: type a.b date", "joedb: type a.b  date", "joedb: type a.b date ", "joedb: hello"})
    EXPECT_FALSE(parse_declaration(comment)) << comment;
}

TEST_F(Declaration, IsReadByOthers) {
  declare(total, "decimal(2)");
  declare(state, "enum(open,paid)");
  EXPECT_THAT(declarations(), ElementsAre("joedb: type invoice.total decimal(2)",
                                          "joedb: type invoice.state enum(open,paid)"));
  EXPECT_EQ(read().declarations(), declarations());
}

TEST_F(Declaration, FollowsRenames) {
  declare(total, "decimal(2)");
  db.write(Rename_Table{invoice, "bill"});
  db.write(Rename_Field{invoice, total, "sum"});
  EXPECT_THAT(declarations(), ElementsAre("joedb: type bill.sum decimal(2)"));
  EXPECT_EQ(content_difference(read(), db.get_database()), "");
}

TEST_F(Declaration, EndsWithItsField) {
  declare(total, "decimal(2)");
  db.write(Drop_Field{invoice, total});
  db.write(Add_Field{invoice, "total", {Type_Code::int64, {}}});
  EXPECT_THAT(declarations(), IsEmpty());
}

TEST_F(Declaration, EndsWithAPlainType) {
  declare(total, "decimal(2)");
  declare(total, "int64");
  EXPECT_THAT(declarations(), IsEmpty());
}

TEST_F(Declaration, IsRolledBack) {
  db.soft_checkpoint();
  declare(total, "decimal(2)");
  db.rollback();
  EXPECT_THAT(declarations(), IsEmpty());
}

TEST_F(Declaration, HasNoEffectIfItDoesNotSuit) {
  for (const char* comment :
       {"joedb: type invoice.total date", "joedb: type invoice.totl decimal(2)",
        "joedb: type invoce.total decimal(2)", "joedb: type invoice.total int32 optional",
        "joedb: type invoice.note int32"})
    db.write(Comment{comment});
  EXPECT_THAT(declarations(), IsEmpty());
}

TEST_F(Declaration, ChangesTheSchemaVersion) {
  const std::uint64_t before = db.get_database().schema_version();
  declare(total, "decimal(2)");
  EXPECT_GT(db.get_database().schema_version(), before);
}

TEST_F(Declaration, IsRefusedIfItDoesNotSuit) {
  EXPECT_EQ(error_of<Data_Error>([&] { declare(total, "date"); }),
            "invoice.total is stored as int64, which cannot be date");
  EXPECT_EQ(error_of<Data_Error>([&] { declare(Field_Id(9), "date"); }),
            "set_type: invalid field_id");
}

TEST_F(Declaration, KeepsNames) {
  declare(state, "enum(open,paid,late)");
  EXPECT_EQ(error_of<Data_Error>([&] { declare(state, "enum(open,late)"); }),
            "invoice.state: names can only be added, behind those of enum(open,paid,late), because "
            "the history of the file has them");
  declare(state, "enum(open,paid,late,cancelled)");
  EXPECT_EQ(logical(state).names.back(), "cancelled");
}

TEST_F(Declaration, KeepsWhatValuesMean) {
  declare(total, "decimal(2)");
  db.write(Insert{invoice, Record_Id(0)});
  db.write(Update<std::int64_t>{invoice, Record_Id(0), total, 1500});
  EXPECT_EQ(error_of<Data_Error>([&] { declare(total, "decimal(3)"); }),
            "invoice.total: record 0 has the value 15.00, which would become 1.500");
  EXPECT_EQ(error_of<Data_Error>([&] { declare(total, "timestamp(s)"); }),
            "invoice.total: record 0 has the value 15.00 of another type: use retype_field");
  db.write(Update<std::int8_t>{invoice, Record_Id(0), state, 7});
  EXPECT_EQ(error_of<Data_Error>([&] { declare(state, "enum(open,paid)"); }),
            "invoice.state: record 0 has the value 7, which is no open or paid");
  declare(note, "json");
}

TEST_F(Declaration, KeepsWhatIsMissing) {
  for (std::int8_t i = 0; i < 2; ++i) db.write(Insert{invoice, Record_Id(i)});
  declare(total, "int64 optional");
  write_missing(db, db.get_database().table(invoice), total, Record_Id(0), 2);
  EXPECT_EQ(error_of<Data_Error>([&] { declare(total, "int64"); }),
            "invoice.total: record 0 has no value, so the field must stay optional");
  db.write(Update<std::int8_t>{invoice, Record_Id(1), state, INT8_MIN});
  EXPECT_EQ(error_of<Data_Error>([&] { declare(state, "int8 optional"); }),
            "invoice.state: record 1 has the value that would mean null");
  declare(total, "decimal(2) optional");
}

class Snapshot_Of_Declarations : public Invoices<File> {};

TEST_F(Snapshot_Of_Declarations, HasThem) {
  create();
  declare(total, "decimal(2)");
  declare(note, "json");
  db.write(Rename_Field{invoice, note, "details"});
  db.hard_checkpoint();
  ASSERT_TRUE(db.write_snapshot());
  File other(directory.path() + "/test.joedb", Open_Mode::read_existing);
  Database database;
  Readonly_Journal journal(other);
  load(database, journal);
  EXPECT_GT(database.snapshot_report().position, journal_start);
  EXPECT_EQ(database.snapshot_report().remark, "");
  EXPECT_EQ(database.declarations(), declarations());
}

}  // namespace
}  // namespace joedb::declaration_test
