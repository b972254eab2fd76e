#include "text/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/golden.h"
#include "support/journal_of.h"
#include "support/property.h"

namespace joedb {
namespace {

using testing::Any_Entry;
using ::testing::HasSubstr;
using testing::Journal_Of;
using testing::Vector_Update;

constexpr Table_Id table{1};

std::string json_of(const std::vector<Any_Entry>& entries, bool base64 = false) {
  std::ostringstream out;
  write_json(Journal_Of(entries).database(), out, base64);
  return out.str();
}

std::vector<Any_Entry> texts(const std::vector<std::string_view>& values) {
  return {Create_Table{"t"}, Add_Field{table, "s", {Type_Code::string, {}}},
          Insert_Vector{table, Record_Id(0), static_cast<std::int64_t>(values.size())},
          Vector_Update<std::string_view>{table, Record_Id(0), Field_Id(1), values}};
}

TEST(Json, ShowsEveryType) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<Any_Entry> entries{
      Create_Table{"person"}, Create_Table{"empty"}, Create_Table{"gone"},
      Add_Field{table, "name", {Type_Code::string, {}}},
      Add_Field{table, "friend", {Type_Code::reference, table}},
      Add_Field{table, "home", {Type_Code::reference, Table_Id(3)}},
      Add_Field{table, "height", {Type_Code::float64, {}}},
      Add_Field{table, "is_happy", {Type_Code::boolean, {}}},
      Add_Field{table, "face", {Type_Code::blob, {}}}, Drop_Table{Table_Id(3)},
      Insert_Vector{table, Record_Id(0), 5},
      Vector_Update<std::string_view>{
          table, Record_Id(0), Field_Id(1), {"\"q\" \\", "deleted", "\n\x7f", "caf\xc3\xa9", ""}},
      // References to the record itself, to a deleted record, to an unused id, null, and past
      // unused ids.
      Vector_Update<Record_Id>{
          table,
          Record_Id(0),
          Field_Id(2),
          {Record_Id(0), Record_Id(0), Record_Id(1), Record_Id(99), Record_Id(3)}},
      Vector_Update<Record_Id>{
          table, Record_Id(0), Field_Id(3), {Record_Id(), Record_Id(), Record_Id(7)}},
      Vector_Update<double>{
          table, Record_Id(0), Field_Id(4), {0.1, 0, infinity, 1e300, std::nan("")}},
      Update<bool>{table, Record_Id(4), Field_Id(5), true},
      Update<Blob>{table, Record_Id(4), Field_Id(6), Blob(50, 3)}, Delete{table, Record_Id(1)}};
  testing::expect_golden("interpreter/all_types.json", json_of(entries));
  testing::expect_golden("interpreter/all_types.base64.json", json_of(entries, true));
}

TEST(Json, IsAnEmptyObjectWithoutTables) { EXPECT_EQ(json_of({}), "{\n\n}\n"); }

TEST(Json, CutsATextThatIsNotUtf8AndSaysSo) {
  ::testing::internal::CaptureStderr();
  const std::string json = json_of(texts({"good",
                                          "ba\xff"
                                          "d",
                                          "\xed\xa0\x80", "\xc0\x80"}));
  EXPECT_THAT(json, HasSubstr("[\"good\", \"ba!!! This string is not utf8 !!!\", "
                              "\"!!! This string is not utf8 !!!\", "
                              "\"!!! This string is not utf8 !!!\"]"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not utf8"));
}

TEST(Json, HasBase64OfAnyBytes) {
  const std::string json = json_of(texts({"", "f", "fo", "foo", "foob", "\xff\xfe"}), true);
  EXPECT_THAT(json, HasSubstr(R"(["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "//4="])"));
}

TEST(Json, CanBeParsedWhateverTheTextsAre) {
  testing::expect_property([](const std::vector<std::string>& values) {
    const std::vector<std::string_view> views(values.begin(), values.end());
    ::testing::internal::CaptureStderr();
    const std::string json = json_of(texts(views));
    ::testing::internal::GetCapturedStderr();
    const auto parsed = nlohmann::json::parse(json);
    RC_ASSERT(parsed["t"]["s"].size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string text = parsed["t"]["s"][i];
      RC_ASSERT(text == values[i] || text.ends_with("!!! This string is not utf8 !!!"));
    }
  });
}

}  // namespace
}  // namespace joedb
