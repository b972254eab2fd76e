#include "joedb/history/changes.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"

namespace joedb::differences_test {
namespace {

using Kind = Change::Kind;

// A database with a table of numbers and texts.
struct Side {
  static inline const Table_Id t{1};
  static inline const Field_Id s{1}, i{2};
  Memory_File file;
  Writable_Database db{file};

  explicit Side(index_t rows) {
    db.write(Create_Table{"t"});
    db.write(Add_Field{t, "s", {Type_Code::string, {}}});
    db.write(Add_Field{t, "i", {Type_Code::int32, {}}});
    db.write(Insert_Vector{t, Record_Id(0), rows});
  }
  void set(index_t id, std::string_view text) {
    db.write(Update<std::string_view>{t, Record_Id(id), s, text});
  }
  void set(index_t id, std::int32_t number) {
    db.write(Update<std::int32_t>{t, Record_Id(id), i, number});
  }
};

std::vector<Change> differences(const Side& a, const Side& b) {
  return joedb::differences(a.db.get_database(), b.db.get_database());
}

TEST(Differences, NeighboursThatDifferAlikeAreOneAlsoAcrossBlocks) {
  Side a(10'000), b(10'000);
  EXPECT_TRUE(differences(a, b).empty());
  for (index_t id = 4000; id < 4200; ++id) b.set(id, 5);
  b.set(4100, "x");
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].record, Record_Id(4000));
  EXPECT_EQ(found[0].size, 100);
  EXPECT_EQ(found[0].fields.size(), 1);
  EXPECT_EQ(found[1].fields.size(), 2);
  EXPECT_EQ(found[2].record, Record_Id(4101));
  EXPECT_EQ(found[2].size, 99);
  EXPECT_EQ(found[2].fields[0].new_values.get<std::int32_t>(98), 5);
}

TEST(Differences, RecordsAreInOrderWhateverIsInUse) {
  Side a(5), b(3);
  a.db.write(Delete{Side::t, Record_Id(1)});
  b.db.write(Delete{Side::t, Record_Id(0)});
  b.db.write(Insert{Side::t, Record_Id(9)});
  const auto found = differences(a, b);
  const Kind kinds[] = {Kind::deleted, Kind::inserted, Kind::deleted, Kind::inserted};
  const index_t ids[] = {0, 1, 3, 9};
  ASSERT_EQ(found.size(), 4);
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(found[n].kind, kinds[n]);
    EXPECT_EQ(found[n].record, Record_Id(ids[n]));
  }
  EXPECT_EQ(found[2].size, 2);
}

TEST(Differences, AFieldOfAnotherTypeIsDroppedFirst) {
  Side a(2), b(2);
  a.set(0, 7);
  b.db.write(Drop_Field{Side::t, Side::i});
  b.db.write(Add_Field{Side::t, "i", {Type_Code::boolean, {}}});
  b.db.write(Update<bool>{Side::t, Record_Id(1), Field_Id(3), true});
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].kind, Kind::field_dropped);
  EXPECT_EQ(found[0].schema->lost.at(0).fields[0].old_values.get<std::int32_t>(0), 7);
  EXPECT_EQ(found[1].kind, Kind::field_added);
  EXPECT_EQ(found[2].kind, Kind::updated);
  EXPECT_EQ(found[2].record, Record_Id(1));
}

TEST(Differences, BlobsAreComparedByTheirBytes) {
  Side a(2), b(2);
  for (Side* const side : {&a, &b}) side->db.write(Add_Field{Side::t, "b", {Type_Code::blob, {}}});
  b.db.write_blob("something before");
  const auto set = [](Side& side, index_t id, std::string_view bytes) {
    side.db.write(Update<Blob>{Side::t, Record_Id(id), Field_Id(3), side.db.write_blob(bytes)});
  };
  set(a, 0, "same");
  set(b, 0, "same");
  set(a, 1, "abcd");
  set(b, 1, "abce");
  for (Side* const side : {&a, &b}) side->db.soft_checkpoint();
  EXPECT_EQ(differences(a, b).at(0).size, 2);
  Difference_Options options;
  options.blobs_of_a = &a.file;
  options.blobs_of_b = &b.file;
  const auto found = joedb::differences(a.db.get_database(), b.db.get_database(), options);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].record, Record_Id(1));
  EXPECT_EQ(found[0].size, 1);
}

}  // namespace
}  // namespace joedb::differences_test
