#include "kernel/schema/logical_type.h"

#include <gtest/gtest.h>

#include "support/property.h"

namespace joedb::logical_type_test {
namespace {

using Kind = Logical_Type::Kind;

std::string problem_of(std::string_view text) {
  std::string problem;
  EXPECT_FALSE(parse_declared_type(text, problem)) << text;
  return problem;
}

Logical_Type type_of(std::string_view text) {
  std::string problem;
  const auto type = parse_declared_type(text, problem);
  EXPECT_TRUE(type) << text << ": " << problem;
  return type ? type->logical : Logical_Type();
}

std::string text_of(std::string_view type, std::int64_t value) {
  std::string text;
  return append_logical_number(text, type_of(type), value) ? text : "(none)";
}

std::string bytes_text_of(std::string_view type, std::string_view value) {
  std::string text;
  return append_logical_bytes(text, type_of(type), value) ? text : "(none)";
}

std::optional<std::int64_t> value_of(std::string_view type, std::string_view text) {
  return parse_logical_number(text, type_of(type));
}

TEST(Declared_Type, HasAStoredAndALogicalType) {
  struct Case {
    const char* text;
    Type_Code stored;
    Kind kind;
    int scale = 0;
  };
  for (const Case& c : {Case{"date", Type_Code::int32, Kind::date},
                        {"timestamp", Type_Code::int64, Kind::timestamp, 6},
                        {"timestamp(s)", Type_Code::int64, Kind::timestamp, 0},
                        {"timestamp(ms) optional", Type_Code::int64, Kind::timestamp, 3},
                        {"duration(ns)", Type_Code::int64, Kind::duration, 9},
                        {"decimal(0)", Type_Code::int64, Kind::decimal, 0},
                        {"decimal(18)", Type_Code::int64, Kind::decimal, 18},
                        {"enum(open,paid)", Type_Code::int8, Kind::enumeration},
                        {"enum16(open,paid)", Type_Code::int16, Kind::enumeration},
                        {"bytes", Type_Code::string, Kind::bytes},
                        {"uuid", Type_Code::string, Kind::uuid},
                        {"json", Type_Code::string, Kind::json},
                        {"boolean optional", Type_Code::int8, Kind::boolean},
                        {"int32 optional", Type_Code::int32, Kind::plain},
                        {"string optional", Type_Code::string, Kind::plain},
                        {"boolean", Type_Code::boolean, Kind::plain}}) {
    std::string problem;
    const auto type = parse_declared_type(c.text, problem);
    ASSERT_TRUE(type) << c.text << ": " << problem;
    EXPECT_EQ(type->stored, c.stored) << c.text;
    EXPECT_EQ(type->logical.kind, c.kind) << c.text;
    EXPECT_EQ(type->logical.scale, c.scale) << c.text;
    EXPECT_EQ(declared_type_text(type->stored, type->logical), c.text);
    EXPECT_TRUE(is_stored_as(type->logical, type->stored)) << c.text;
  }
}

TEST(Declared_Type, SaysWhatIsWrong) {
  EXPECT_EQ(problem_of("dat"), "unknown type: dat. Did you mean date?");
  EXPECT_EQ(problem_of(""), "unknown type: ");
  EXPECT_EQ(problem_of("date(3)"), "date has no arguments");
  EXPECT_EQ(problem_of("timestamp(h)"), "the unit of a timestamp is s, ms, us or ns");
  EXPECT_EQ(problem_of("decimal"),
            "decimal needs the number of digits behind the point, 0 to 18: decimal(2)");
  EXPECT_EQ(problem_of("decimal(19)"), problem_of("decimal"));
  EXPECT_EQ(problem_of("enum"), "enum needs the names of its values: enum(open, paid)");
  EXPECT_EQ(problem_of("enum()"), problem_of("enum"));
  EXPECT_EQ(problem_of("enum(a,b,a)"), "enum has the name a twice");
  EXPECT_EQ(problem_of("enum(a,b-c)"),
            "invalid name of a value: b-c (letters, digits and single underscores expected)");
  EXPECT_EQ(problem_of("enum(a"), "missing ) in enum(a");
  EXPECT_EQ(problem_of("blob optional"), "a blob can always be null, without optional");
  EXPECT_EQ(problem_of("references optional"),
            "a reference can always be null, and has no other logical type");
}

TEST(Declared_Type, IsStoredInTwoBytesIfItHasManyNames) {
  std::string names = "a0";
  for (int i = 1; i < 128; ++i) names += ",a" + std::to_string(i);
  std::string problem;
  EXPECT_EQ(parse_declared_type("enum(" + names + ")", problem)->stored, Type_Code::int8);
  const auto larger = parse_declared_type("enum(" + names + ",b)", problem);
  EXPECT_EQ(larger->stored, Type_Code::int16);
  EXPECT_FALSE(is_stored_as(larger->logical, Type_Code::int8));
}

TEST(Logical_Value, HasAText) {
  EXPECT_EQ(text_of("date", 0), "1970-01-01");
  EXPECT_EQ(text_of("date", 19'782), "2024-02-29");
  EXPECT_EQ(text_of("date", -719'529), "-0001-12-31");
  EXPECT_EQ(text_of("date", -4'371'587), "-9999-01-01");
  EXPECT_EQ(text_of("date", -4'371'588), "(none)");
  EXPECT_EQ(text_of("date", 2'932'896), "9999-12-31");
  EXPECT_EQ(text_of("date", 2'932'897), "(none)");
  EXPECT_EQ(text_of("timestamp(s)", -1), "1969-12-31T23:59:59Z");
  EXPECT_EQ(text_of("timestamp(ms)", -1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(text_of("timestamp", 1'500'000), "1970-01-01T00:00:01.500000Z");
  EXPECT_EQ(text_of("timestamp(ns)", INT64_MAX), "2262-04-11T23:47:16.854775807Z");
  EXPECT_EQ(text_of("timestamp(s)", INT64_MAX), "(none)");
  EXPECT_EQ(text_of("duration(s)", 0), "PT0S");
  EXPECT_EQ(text_of("duration(s)", 5400), "PT1H30M");
  EXPECT_EQ(text_of("duration", -90'500'000), "-PT1M30.5S");
  EXPECT_EQ(text_of("duration(ns)", INT64_MIN), "-PT2562047H47M16.854775808S");
  EXPECT_EQ(text_of("decimal(2)", 1250), "12.50");
  EXPECT_EQ(text_of("decimal(2)", -5), "-0.05");
  EXPECT_EQ(text_of("decimal(0)", 7), "7");
  EXPECT_EQ(text_of("decimal(18)", INT64_MIN), "-9.223372036854775808");
  EXPECT_EQ(text_of("enum(open,paid)", 1), "paid");
  EXPECT_EQ(text_of("enum(open,paid)", 2), "(none)");
  EXPECT_EQ(text_of("enum(open,paid)", -1), "(none)");
  EXPECT_EQ(text_of("boolean optional", 1), "true");
  EXPECT_EQ(text_of("int32 optional", 1), "(none)");
  EXPECT_EQ(bytes_text_of("bytes", std::string_view("\0\xff", 2)), "00ff");
  EXPECT_EQ(bytes_text_of("uuid", "0123456789abcdef"), "30313233-3435-3637-3839-616263646566");
  EXPECT_EQ(bytes_text_of("uuid", "0123"), "(none)");
  EXPECT_EQ(bytes_text_of("json", "{}"), "(none)");
}

TEST(Logical_Value, IsReadInOtherForms) {
  EXPECT_EQ(value_of("date", "2024-02-29 00:00:00"), 19'782);
  EXPECT_EQ(value_of("timestamp", "2024-02-29"), 19'782 * 86'400'000'000);
  EXPECT_EQ(value_of("timestamp", "1970-01-01 01:00:00.5+01:00"), 500'000);
  EXPECT_EQ(value_of("timestamp(s)", "1970-01-01T00:00:01.000Z"), 1);
  EXPECT_EQ(value_of("timestamp(ns)", "1677-09-21T00:12:43.145224192Z"), INT64_MIN);
  EXPECT_EQ(value_of("duration(ns)", "-PT2562047H47M16.854775808S"), INT64_MIN);
  EXPECT_EQ(value_of("duration(s)", "P1DT2H"), 26 * 3600);
  EXPECT_EQ(value_of("duration(ms)", "PT.5S"), std::nullopt);
  EXPECT_EQ(value_of("decimal(2)", "12"), 1200);
  EXPECT_EQ(value_of("decimal(2)", "+12.500"), 1250);
  EXPECT_EQ(value_of("decimal(0)", "12.0"), 12);
  EXPECT_EQ(parse_logical_bytes("3031323334353637383961626364656F", type_of("uuid")),
            "0123456789abcdeo");
}

TEST(Logical_Value, IsNotMadeFromOtherTexts) {
  for (const auto& [type, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"date", "2023-02-29"},
           {"date", "2024-02-29 12:00"},
           {"date", "today"},
           {"date", "19782"},
           {"date", "86400.0"},
           {"timestamp", "1"},
           {"timestamp", "1.5"},
           {"timestamp", "2026-01-31T12:00.5"},
           {"timestamp", "2026-01-31.5"},
           {"duration", "60"},
           {"enum(open,paid)", "1"},
           {"date", ""},
           {"timestamp(s)", "2024-02-29 12:00:00.5"},
           {"timestamp(ns)", "2500-01-01"},
           {"timestamp", "12:00"},
           {"duration", "PT"},
           {"duration", "P"},
           {"duration", "1H"},
           {"duration", "PT1S1M"},
           {"duration", "PT1.5M"},
           {"duration", "P1DT"},
           {"duration", "PT3000000000H"},
           {"decimal(2)", "12.505"},
           {"decimal(2)", "92233720368547758.08"},
           {"decimal(2)", "1e3"},
           {"decimal(2)", "."},
           {"decimal(2)", "--1"},
           {"decimal(2)", "-"},
           {"enum(open,paid)", "Open"},
           {"enum(open,paid)", "2"},
           {"boolean optional", "yes"},
           {"date optional", "-2147483648"}})
    EXPECT_EQ(value_of(type, text), std::nullopt) << type << ' ' << text;
  EXPECT_EQ(parse_logical_bytes("0", type_of("bytes")), std::nullopt);
  EXPECT_EQ(parse_logical_bytes("0g", type_of("bytes")), std::nullopt);
  EXPECT_EQ(parse_logical_bytes("ff", type_of("bytes optional")), std::nullopt);
  EXPECT_EQ(parse_logical_bytes("00", type_of("uuid")), std::nullopt);
}

TEST(Logical_Value, IsTheSameAfterWritingAndReading) {
  testing::expect_property(
      [] {
        const std::string type = *rc::gen::element<std::string>(
            "date", "timestamp(s)", "timestamp(ms)", "timestamp", "timestamp(ns)", "duration(s)",
            "duration", "duration(ns)", "decimal(0)", "decimal(2)", "decimal(18)", "enum(a,b,c)",
            "date optional", "decimal(3) optional");
        const auto shift = *rc::gen::inRange(0, 63);
        const std::int64_t value = *rc::gen::arbitrary<std::int64_t>() >> shift;
        const Logical_Type logical = type_of(type);
        const std::int64_t limit = logical.kind == Kind::date ? INT32_MAX : INT64_MAX;
        if (value > limit || value < -limit - 1) return;
        std::string text;
        if (append_logical_number(text, logical, value))
          RC_ASSERT(parse_logical_number(text, logical) == std::optional(value));
      },
      3000);
}

TEST(Logical_Value, CanBeMissing) {
  EXPECT_TRUE(is_missing(type_of("int32 optional"), INT32_MIN));
  EXPECT_FALSE(is_missing(type_of("int32"), INT32_MIN));
  EXPECT_TRUE(is_missing(type_of("boolean optional"), std::int8_t(-1)));
  EXPECT_FALSE(is_missing(type_of("boolean optional"), INT8_MIN));
  EXPECT_TRUE(is_missing(type_of("float64 optional"), std::nan("")));
  EXPECT_TRUE(is_missing(type_of("string optional"), std::string_view("\xff")));
  EXPECT_FALSE(is_missing(type_of("string optional"), std::string_view()));
  EXPECT_TRUE(is_missing(type_of("date optional"), missing_value<std::int32_t>(type_of("date"))));
}

}  // namespace
}  // namespace joedb::logical_type_test
