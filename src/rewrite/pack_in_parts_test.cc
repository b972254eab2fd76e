#include "rewrite/pack_in_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/journal/writable_journal.h"
#include "rewrite/pack.h"
#include "support/error_of.h"
#include "support/journal_of.h"
#include "support/property.h"
#include "text/dump.h"

namespace joedb::pack_in_parts_test {
namespace {

using testing::Any_Entry;
using ::testing::HasSubstr;
using testing::Journal_Of;
using Loose = Part_Packer::Loose_References;

constexpr Table_Id a{1}, b{2};

int number(int limit) { return *rc::gen::inRange(0, limit); }

std::vector<Any_Entry> schema() {
  return {Create_Table{"a"},
          Create_Table{"b"},
          Add_Field{a, "s", {Type_Code::string, {}}},
          Add_Field{a, "r", {Type_Code::reference, b}},
          Add_Field{a, "dropped", {Type_Code::int64, {}}},
          Add_Field{a, "d", {Type_Code::float64, {}}},
          Drop_Field{a, Field_Id(3)},
          Add_Field{b, "b", {Type_Code::boolean, {}}},
          Add_Field{b, "s", {Type_Code::string, {}}}};
}

// Returns a random journal of valid changes of all kinds.
std::vector<Any_Entry> random_journal() {
  std::vector<Any_Entry> entries = schema();
  Database database = Journal_Of(entries).database();
  const auto add = [&](const auto& entry) {
    try {
      database(entry);
      entries.emplace_back(entry);
    } catch (const Data_Error&) {  // the change was invalid
    }
  };
  for (int i = number(60); i > 0; --i) {
    const Table_Id table = number(2) ? a : b;
    const Record_Id record(number(20));
    const std::string_view text =
        testing::keep(std::string(static_cast<std::size_t>(number(30)), 'x'));
    switch (number(7)) {
      case 0:
        add(Insert{table, record});
        break;
      case 1:
        add(Insert_Vector{table, record, number(8)});
        break;
      case 2:
        add(Delete{table, record});
        break;
      case 3:
        add(Update<std::string_view>{a, record, Field_Id(1), text});
        break;
      case 4:
        add(Update<Record_Id>{a, record, Field_Id(2), Record_Id(number(25) - 1)});
        break;
      case 5:
        add(Update<double>{a, record, Field_Id(4), number(1000) / 8.0});
        break;
      case 6:
        add(Update<std::string_view>{b, record, Field_Id(2), text});
        break;
    }
  }
  return entries;
}

template <class Write>
std::string written(Write write) {
  Memory_File file;
  Writable_Journal journal(file);
  journal.replay(Ignore_Entries());
  write(journal);
  journal.soft_checkpoint();
  return {file.get_data().data(), file.get_data().size()};
}

std::string in_parts(const std::vector<std::vector<Any_Entry>>& journals, std::size_t memory,
                     Loose loose) {
  Part_Packer packer(memory, loose);
  for (const auto& entries : journals)
    packer.add("a file",
               [&entries](Value_Loader& loader) { Journal_Of(entries).journal().replay(loader); });
  return written([&](Writable_Journal& journal) { packer.write(journal); });
}

TEST(Pack_In_Parts, WritesTheSameBytesWhateverTheMemory) {
  testing::expect_property([] {
    const auto entries = random_journal();
    const Database database = Journal_Of(entries).database();
    const std::string whole = written([&](Writable_Journal& j) { pack(database, j); });
    const auto memory = static_cast<std::size_t>(number(300));
    RC_ASSERT(in_parts({entries}, memory, Loose::keep) == whole);
  });
}

TEST(Pack_In_Parts, MergesTheSameWayWhateverTheMemory) {
  testing::expect_property([] {
    const std::vector<std::vector<Any_Entry>> journals{random_journal(), random_journal(),
                                                       random_journal()};
    constexpr std::size_t enough = 1'000'000;
    RC_ASSERT(in_parts(journals, static_cast<std::size_t>(number(300)), Loose::make_null) ==
              in_parts(journals, enough, Loose::make_null));
  });
}

TEST(Pack_In_Parts, RefusesAnotherSchema) {
  Part_Packer packer(100, Loose::make_null);
  const auto add = [&](const std::string& name, const std::vector<Any_Entry>& entries) {
    packer.add(name, [&](Value_Loader& loader) { Journal_Of(entries).journal().replay(loader); });
  };
  add("first", schema());
  EXPECT_THAT(testing::error_of([&] { add("second", {Create_Table{"other"}}); }),
              HasSubstr("second does not have the same schema as first"));
}

TEST(Pack_In_Parts, NoticesAJournalThatHasChanged) {
  std::vector<Any_Entry> entries{Create_Table{"a"}, Add_Field{a, "x", {Type_Code::int32, {}}},
                                 Insert{a, Record_Id(0)}};
  Part_Packer packer(100, Loose::keep);
  packer.add("the file",
             [&](Value_Loader& loader) { Journal_Of(entries).journal().replay(loader); });
  entries.insert(entries.end(),
                 {Insert{a, Record_Id(1)}, Update<std::int32_t>{a, Record_Id(1), Field_Id(1), 5}});
  EXPECT_EQ(testing::error_of([&] {
              written([&](Writable_Journal& journal) {
                try {
                  packer.write(journal);
                } catch (...) {
                  journal.rollback();
                  throw;
                }
              });
            }),
            "the file was changed while it was read");
}

}  // namespace
}  // namespace joedb::pack_in_parts_test
