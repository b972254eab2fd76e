// Logical types in generated code: dates, times, decimal numbers, enumerations, UUIDs, and values
// that may be missing.

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "kernel/table/declaration.h"
#include "plain.h"
#include "typed.h"

namespace typed_test {
namespace {

using namespace test::typed;
using namespace std::chrono;
using namespace std::chrono_literals;
using namespace joedb::literals;
using joedb::Decimal;
using joedb::Uuid;

constexpr sys_days birthday = 1815y / 12 / 10;

// ---- Decimal ------------------------------------------------------------------------------------

TEST(Typed_Decimal, IsExact) {
  static_assert(Decimal<2>(3).units() == 300);
  static_assert(Decimal<2>("12.50") + Decimal<2>("-0.05") == Decimal<2>("12.45"));
  static_assert(3 * 0.10_decimal == 0.30_decimal);
  static_assert(-Decimal<0>(7) < 2);
  static_assert(Decimal<4>(12.5_decimal) == 12.5000_decimal);
  static_assert(!std::is_convertible_v<double, Decimal<2>>);
  static_assert(!std::is_constructible_v<Decimal<2>, double>);
  static_assert(!std::is_constructible_v<Decimal<2>, bool>);
  static_assert(!std::is_convertible_v<Decimal<3>, Decimal<2>>);
  static_assert(!std::is_convertible_v<Decimal<2>, double>);
  static_assert(sizeof(Decimal<2>) == 8);
  EXPECT_EQ(static_cast<double>(12.50_decimal), 12.5);
  Decimal<2> sum;
  for (int i = 0; i < 10; ++i) sum += 0.10_decimal;
  sum -= 1;
  sum *= 5;
  EXPECT_EQ(sum, 0);
}

TEST(Typed_Decimal, IsReadAndWrittenAsText) {
  for (const char* text :
       {"0.00", "12.50", "-0.05", "92233720368547758.07", "-92233720368547758.08"})
    EXPECT_EQ(to_string(Decimal<2>(text)), text);
  EXPECT_EQ(to_string(Decimal<2>("+1.5")), "1.50");
  EXPECT_EQ(to_string(Decimal<2>("1.5000")), "1.50");
  EXPECT_EQ(to_string(Decimal<0>("15")), "15");
  EXPECT_EQ(to_string(Decimal<18>("-1.5")), "-1.500000000000000000");
  for (const char* text : {"", "-", ".5", "1.", "1.505", "1,5", "1e3", " 1", "1.5.0",
                           "92233720368547758.08", "-92233720368547758.09", "1000000000000000000"})
    EXPECT_THROW(Decimal<2>{std::string_view(text)}, joedb::Data_Error) << text;
}

TEST(Typed_Decimal, ThrowsAboveTheLargestNumber) {
  const auto largest = Decimal<2>::from_units(std::numeric_limits<std::int64_t>::max());
  const auto smallest = Decimal<2>::from_units(std::numeric_limits<std::int64_t>::min());
  EXPECT_THROW(largest + 0.01_decimal, joedb::Data_Error);
  EXPECT_THROW(smallest - 0.01_decimal, joedb::Data_Error);
  EXPECT_THROW(-smallest, joedb::Data_Error);
  EXPECT_THROW(largest * 2, joedb::Data_Error);
  EXPECT_THROW((Decimal<4>(largest)), joedb::Data_Error);
  EXPECT_THROW((Decimal<2>(std::numeric_limits<std::uint64_t>::max())), joedb::Data_Error);
}

// ---- Uuid ---------------------------------------------------------------------------------------

TEST(Typed_Uuid, IsReadAndWrittenAsText) {
  constexpr Uuid id("2F1ACC6C-3d9a-4f5b-8b1e-0c2b1f1d9a77");
  EXPECT_EQ(to_string(id), "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77");
  EXPECT_EQ(Uuid("2f1acc6c3d9a4f5b8b1e0c2b1f1d9a77"), id);
  EXPECT_LT(Uuid("7fffffffffffffffffffffffffffffff"), Uuid("80000000000000000000000000000000"));
  EXPECT_EQ(Uuid::from_bytes(id.bytes()), id);
  EXPECT_EQ(Uuid::from_bytes("short"), Uuid());
  EXPECT_EQ(std::unordered_set<Uuid>({id, id, Uuid()}).size(), 2u);
  for (const char* text :
       {"", "2f1acc6c3d9a4f5b8b1e0c2b1f1d9a7", "2f1acc6c3d9a4f5b8b1e0c2b1f1d9a777",
        "2f1acc6c-3d9a4f5b8b1e0c2b1f1d9a77", "xf1acc6c3d9a4f5b8b1e0c2b1f1d9a77"})
    EXPECT_THROW(Uuid{std::string_view(text)}, joedb::Data_Error) << text;
}

// ---- types of generated functions ---------------------------------------------------------------

template <class Setter, class Value>
constexpr bool takes = std::is_convertible_v<Value, Setter>;

template <class T>
using Given = joedb::No_Narrowing<T>;

static_assert(
    std::is_same_v<decltype(std::declval<Database>().get_born({})), std::optional<sys_days>>);
static_assert(std::is_same_v<decltype(std::declval<Database>().get_issued({})), sys_days>);
static_assert(
    std::is_same_v<decltype(std::declval<Database>().get_at({})), sys_time<microseconds>>);
static_assert(std::is_same_v<decltype(std::declval<Database>().get_length({})), seconds>);
static_assert(std::is_same_v<decltype(std::declval<Database>().get_state({})), Invoice_State>);
static_assert(std::is_same_v<std::underlying_type_t<File_Lines>, std::int16_t>);

static_assert(takes<Given<sys_days>, year_month_day> && !takes<Given<sys_days>, int>);
static_assert(!takes<Given<sys_days>, sys_seconds> &&
              !takes<Given<sys_days>, std::optional<sys_days>>);
static_assert(takes<Given<sys_time<microseconds>>, sys_seconds>);
static_assert(!takes<Given<sys_time<microseconds>>, sys_time<nanoseconds>>);
static_assert(!takes<Given<sys_time<microseconds>>, std::int64_t>);
static_assert(!takes<Given<seconds>, milliseconds> && takes<Given<seconds>, hours>);
static_assert(takes<Given<std::optional<int>>, int> && !takes<Given<std::optional<int>>, long*>);
static_assert(!takes<Given<int>, std::optional<int>>);
static_assert(!takes<Given<std::optional<int>>, std::optional<std::int64_t>>);
static_assert(!takes<Invoice_State, Settings_Mode> && !takes<Invoice_State, int>);
static_assert(!takes<std::optional<Invoice_State>, Settings_Mode> &&
              !takes<std::optional<Invoice_State>, int>);

// ---- values -------------------------------------------------------------------------------------

TEST(Typed_Field, HasTheTypeOfTheSchema) {
  Memory_Database db;
  const auto ada = db.new_person({.name = "Ada", .born = 1815y / 12 / 10, .age = 36});
  EXPECT_EQ(db.get_born(ada), birthday);
  EXPECT_EQ(db.get_age(ada), 36);
  EXPECT_EQ(db.get_mail(ada), std::nullopt);
  EXPECT_EQ(db.get_is_member(ada), std::nullopt);
  db.set_is_member(ada, false);
  EXPECT_EQ(db.get_is_member(ada), false);
  db.set_mail(ada, "ada@example.org");
  EXPECT_EQ(db.get_mail(ada).value(), "ada@example.org");
  db.set_mail(ada, std::string("a"));
  db.set_mail(ada, std::optional<std::string>("b"));
  db.set_mail(ada, db.get_name(ada));
  EXPECT_EQ(*db.get_mail(ada), "Ada");
  db.set_mail(ada, {});
  EXPECT_FALSE(db.get_mail(ada));
  db.set_level(ada, 5);
  EXPECT_EQ(db.get_level(ada), 5);
  db.set_size(ada, 1.5);
  db.set_size(ada, std::nullopt);
  EXPECT_FALSE(db.get_size(ada));
  const std::optional<std::int16_t> age = 37;
  db.set_age(ada, age);
  EXPECT_EQ(db.get_age(ada), 37);

  const auto invoice = db.new_invoice(
      {.customer = ada, .total = 12.5_decimal, .state = Invoice_State::paid, .issued = birthday});
  EXPECT_EQ(db.get_total(invoice), 12.50_decimal);
  db.set_total(invoice, db.get_total(invoice) * 2 + 1);
  EXPECT_EQ(to_string(db.get_total(invoice)), "26.00");
  EXPECT_EQ(db.get_state(invoice), Invoice_State::paid);
  EXPECT_EQ(db.get_discount(invoice), std::nullopt);
  db.set_discount(invoice, 0.125_decimal);
  EXPECT_EQ(db.get_discount(invoice), 0.125_decimal);
  db.set_discount(invoice, 2);
  EXPECT_EQ(db.get_reason(invoice), std::nullopt);
  db.set_reason(invoice, Invoice_Reason::return_);
  EXPECT_EQ(db.get_reason(invoice), Invoice_Reason::return_);

  const auto noon = sys_days(2026y / 1 / 31) + 12h;
  const Uuid id("2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77");
  const auto visit = db.new_visit({.at = noon, .length = 2min, .id = id, .notes = "{}"});
  EXPECT_EQ(db.get_at(visit), noon);
  EXPECT_EQ(db.get_seen(visit), std::nullopt);
  db.set_seen(visit, noon + 1ms);
  EXPECT_EQ(db.get_seen(visit), noon + 1ms);
  EXPECT_EQ(db.get_length(visit), 120s);
  EXPECT_EQ(db.get_id(visit), id);
  EXPECT_EQ(db.get_other(visit), std::nullopt);
  db.set_other(visit, id);
  EXPECT_EQ(db.get_other(visit), id);
  EXPECT_EQ(db.find_visit_by_id(id), visit);
  db.set_at(visit, 2026y / 2 / 1);
  EXPECT_EQ(db.get_at(visit), sys_days(2026y / 2 / 1));
}

TEST(Typed_Field, HasTheInitialValueOfTheSchema) {
  Memory_Database db;
  EXPECT_EQ(db.get_since(), sys_days(2026y / 1 / 31));
  EXPECT_EQ(db.get_until(), std::nullopt);
  EXPECT_EQ(db.get_limit(), 12.50_decimal);
  EXPECT_EQ(db.get_mode(), Settings_Mode::dark);
  EXPECT_EQ(db.get_owner().value(), "Ada");
  const values_of_settings settings;
  EXPECT_EQ(settings.since, db.get_since());
  EXPECT_EQ(settings.owner, "Ada");
}

TEST(Typed_Field, IsMissingWithoutAValue) {
  Memory_Database db;
  const auto one = db.new_person();
  const auto many = db.new_vector_of_person(100);
  db.insert_person(id_of_person(1000));
  for (const auto person : {one, many[0], many[99], id_of_person(1000)}) {
    EXPECT_FALSE(db.get_born(person));
    EXPECT_FALSE(db.get_age(person));
    EXPECT_FALSE(db.get_is_member(person));
    EXPECT_FALSE(db.get_size(person));
    EXPECT_FALSE(db.get_level(person));
    EXPECT_EQ(db.get_name(person), "");
  }
}

TEST(Typed_Field, RefusesValuesThatMeanNone) {
  Memory_Database db;
  const auto person = db.new_person();
  EXPECT_THROW(db.set_age(person, std::numeric_limits<int>::min()), joedb::Data_Error);
  EXPECT_THROW(db.set_mail(person, "\xff"), joedb::Data_Error);
  EXPECT_THROW(db.set_size(person, std::numeric_limits<double>::quiet_NaN()), joedb::Data_Error);
  EXPECT_THROW(db.set_born(person, 2026y / 2 / 30), joedb::Data_Error);
  EXPECT_THROW(db.set_born(person, sys_days(days(std::int64_t{1} << 40))), joedb::Data_Error);
  EXPECT_THROW(db.set_at(db.new_visit(), sys_seconds::max()), joedb::Data_Error);
}

TEST(Typed_Field, MeansMissingAsInOtherPrograms) {
  const auto compare = []<class T>(std::type_identity<T>, joedb::Logical_Type logical) {
    using Traits = joedb::Field_Traits<std::optional<T>>;
    const auto missing = Traits::missing();
    EXPECT_TRUE(joedb::is_missing(logical, missing));
    EXPECT_TRUE(Traits::is_missing(joedb::missing_value<typename Traits::Stored>(logical)));
  };
  const joedb::Logical_Type plain{.is_optional = true};
  compare(std::type_identity<std::int8_t>(), plain);
  compare(std::type_identity<std::int64_t>(), plain);
  compare(std::type_identity<float>(), plain);
  compare(std::type_identity<std::string>(), plain);
  compare(std::type_identity<bool>(),
          {.kind = joedb::Logical_Type::Kind::boolean, .is_optional = true});
}

TEST(Typed_Enum, HasNames) {
  EXPECT_EQ(to_string(Invoice_State::late), "late");
  EXPECT_EQ(to_string(Invoice_Reason::new_), "new");
  EXPECT_EQ(to_string(static_cast<Invoice_State>(3)), "");
  EXPECT_EQ(to_string(static_cast<Invoice_State>(-1)), "");
  EXPECT_EQ(parse_Invoice_State("paid"), Invoice_State::paid);
  EXPECT_EQ(parse_Invoice_State("payed"), std::nullopt);
  EXPECT_EQ(to_string(File_Client_::a), "a");
  EXPECT_EQ(names_of_Invoice_State.size(), 3u);
}

// ---- indexes, vectors, history ------------------------------------------------------------------

TEST(Typed_Index, HasKeysOfLogicalTypes) {
  Memory_Database db;
  const auto ada = db.new_person({.born = birthday, .mail = "ada"});
  const auto bob = db.new_person({.born = 1900y / 1 / 1, .mail = "bob"});
  const auto eve = db.new_person({.mail = "eve"});
  EXPECT_EQ(*db.find_person_by_born(birthday).begin(), ada);
  EXPECT_EQ(*db.find_person_by_born(std::nullopt).begin(), eve);
  EXPECT_EQ(*db.find_person_by_mail("bob").begin(), bob);
  EXPECT_TRUE(db.find_person_by_mail(std::nullopt).empty());
  EXPECT_EQ(db.find_person_by_age(5).size(), 0u);
  EXPECT_EQ(db.get_index_of_person_by_age().between({std::nullopt}, {3}).size(), 3u);
  EXPECT_THROW(db.get_index_of_person_by_age().between({std::int64_t{1} << 40}, {}),
               joedb::Data_Error);
  std::vector<id_of_person> found;
  for (const auto person :
       db.get_index_of_person_by_born().between({1800y / 1 / 1}, {sys_days(1900y / 1 / 1)}))
    found.push_back(person);
  EXPECT_EQ(found, (std::vector{ada, bob}));
  EXPECT_EQ(db.get_index_of_person_by_born().begin()->first, std::nullopt);

  db.new_invoice({.total = 5, .state = Invoice_State::late});
  const auto cheap = db.new_invoice({.total = 1.50_decimal, .state = Invoice_State::late});
  db.new_invoice({.total = 2, .state = Invoice_State::open, .reason = Invoice_Reason::broken});
  EXPECT_EQ(*db.find_invoice_by_state_and_total(Invoice_State::late).begin(), cheap);
  EXPECT_EQ(*db.find_invoice_by_state_and_total(Invoice_State::late, 1.50_decimal).begin(), cheap);
  const auto& by_state = db.get_index_of_invoice_by_state_and_total();
  EXPECT_EQ(by_state.between({Invoice_State::late, 1.51_decimal}, {Invoice_State::late}).size(),
            1u);
  EXPECT_EQ(by_state.find({Invoice_State::late, 5})->first,
            (std::tuple(Invoice_State::late, Decimal<2>(5))));
  EXPECT_EQ(db.find_invoice_by_reason_and_issued(Invoice_Reason::broken).size(), 1u);
  EXPECT_EQ(db.find_invoice_by_reason_and_issued(std::nullopt, sys_days()).size(), 2u);

  const Uuid low("00000000-0000-0000-0000-000000000001"),
      high("f0000000-0000-0000-0000-000000000001");
  const auto second = db.new_visit({.id = high, .other = low});
  const auto first = db.new_visit({.id = low, .other = high});
  EXPECT_EQ(db.get_index_of_visit_by_id().begin()->second, first);
  EXPECT_EQ(db.next_visit_by_id(first), second);
  EXPECT_EQ(*db.find_visit_by_other(low).begin(), second);
  EXPECT_EQ(db.get_index_of_visit_by_id().between({high}, {}).size(), 1u);
  EXPECT_EQ(db.get_index_of_visit_by_other().between({high}, {}).size(), 1u);
  EXPECT_THROW(db.new_visit({.id = low}), joedb::Unique_Violation);
}

template <class Index, class Value>
constexpr bool finds = requires(const Index& index, Value value) {
  index.find(value);
};
static_assert(finds<index_of_person_by_age, std::optional<std::int64_t>>);
static_assert(!finds<index_of_person_by_age, double> &&
              !finds<index_of_person_by_age, std::optional<double>>);
static_assert(finds<index_of_person_by_born, year_month_day> &&
              finds<index_of_person_by_born, std::nullopt_t> &&
              !finds<index_of_person_by_born, int> && !finds<index_of_person_by_born, sys_seconds>);
static_assert(finds<index_of_visit_by_at, year_month_day> &&
              !finds<index_of_visit_by_at, std::optional<sys_seconds>>);

TEST(Typed_Index, ChecksKeysAsSettersDo) {
  Memory_Database db;
  const auto ada = db.new_person({.born = birthday, .age = 36});
  db.new_person();
  const auto& by_age = db.get_index_of_person_by_age();
  const std::int64_t large = std::int64_t{1} << 40;
  const std::optional<std::int64_t> age = 36, too_large = large, none;
  EXPECT_EQ(by_age.find(age)->second, ada);
  EXPECT_EQ(by_age.find(by_age.find(36)->first)->second, ada);
  EXPECT_EQ(by_age.count(none), 1u);
  EXPECT_EQ(by_age.between({age}, {}).size(), 1u);
  EXPECT_EQ(by_age.between({none}, {none}).size(), 1u);
  EXPECT_THROW(by_age.between({too_large}, {}), joedb::Data_Error);
  EXPECT_THROW(by_age.find(too_large), joedb::Data_Error);
  EXPECT_THROW(by_age.contains(large), joedb::Data_Error);
  EXPECT_THROW(by_age.lower_bound(large), joedb::Data_Error);
  EXPECT_THROW(by_age.upper_bound(large), joedb::Data_Error);

  const auto& by_born = db.get_index_of_person_by_born();
  EXPECT_EQ(by_born.find(1815y / 12 / 10)->second, ada);
  EXPECT_THROW(by_born.find(2026y / 2 / 30), joedb::Data_Error);
  EXPECT_THROW(by_born.between({2026y / 2 / 30}, {}), joedb::Data_Error);
  EXPECT_THROW(by_born.between({sys_days(days(large))}, {}), joedb::Data_Error);

  const auto visit = db.new_visit({.at = sys_days(2026y / 1 / 31) + 12h});
  const auto& by_at = db.get_index_of_visit_by_at();
  EXPECT_EQ(by_at.lower_bound(2026y / 1 / 31)->second, visit);
  EXPECT_EQ(by_at.between({2026y / 1 / 31}, {sys_days(2026y / 2 / 1)}).size(), 1u);
  EXPECT_THROW(by_at.between({sys_seconds::max()}, {}), joedb::Data_Error);
  EXPECT_THROW(by_at.find(sys_seconds::max()), joedb::Data_Error);
  EXPECT_THROW(by_at.between({2026y / 2 / 30}, {}), joedb::Data_Error);

  const auto invoice = db.new_invoice({.issued = birthday, .reason = Invoice_Reason::broken});
  const auto& by_reason = db.get_index_of_invoice_by_reason_and_issued();
  EXPECT_EQ(by_reason.find({Invoice_Reason::broken, 1815y / 12 / 10})->second, invoice);
  EXPECT_EQ(by_reason.find(by_reason.begin()->first)->second, invoice);
  EXPECT_THROW(by_reason.find({Invoice_Reason::broken, 2026y / 2 / 30}), joedb::Data_Error);
  EXPECT_THROW(by_reason.between({Invoice_Reason::broken, 2026y / 2 / 30}, {}), joedb::Data_Error);
}

TEST(Typed_Index, KeepsNothingOfAVectorThatIsRefused) {
  Memory_Database db;
  EXPECT_THROW(db.new_vector_of_coupon(2), joedb::Unique_Violation);  // two without a code
  EXPECT_TRUE(db.get_coupon_table().is_empty());
  db.new_coupon();
  EXPECT_THROW(db.new_coupon(), joedb::Unique_Violation);
  EXPECT_EQ(db.get_coupon_table().get_size(), 1u);
  EXPECT_TRUE(db.find_coupon_by_code(std::nullopt).is_not_null());
}

TEST(Typed_Vector, HasTypedOrStoredValues) {
  Memory_Database db;
  const auto first = db.new_vector_of_invoice(2);
  db.update_vector_of_total(first, 2, [](joedb::Span<Decimal<2>> totals) {
    for (auto& total : totals) total = 1.50_decimal;
  });
  EXPECT_EQ(db.get_total(first[1]), 1.50_decimal);
  db.update_vector_of_issued(first, 2, [](joedb::Span<std::int32_t> days) {
    days[1] = joedb::to_stored<sys_days>(birthday);
  });
  EXPECT_EQ(db.get_issued(first[1]), birthday);
  db.update_vector_of_reason(first, 2, [](joedb::Span<std::int8_t> reasons) {
    EXPECT_EQ(joedb::from_stored<std::optional<Invoice_Reason>>(reasons[0]), std::nullopt);
    reasons[1] = joedb::to_stored<std::optional<Invoice_Reason>>(Invoice_Reason::broken);
  });
  EXPECT_EQ(db.get_reason(first[1]), Invoice_Reason::broken);
  const auto visit = db.new_visit();
  db.update_vector_of_at(visit, 1,
                         [](joedb::Span<sys_time<microseconds>> times) { times[0] += 1h; });
  EXPECT_EQ(db.get_at(visit).time_since_epoch(), 1h);
  db.update_vector_of_other(visit, 1,
                            [](joedb::Span<std::string> ids) { ids[0] = Uuid().bytes(); });
  EXPECT_EQ(db.get_other(visit), Uuid());
}

TEST(History_Of_Types, HasTypedValues) {
  joedb::Memory_File file;
  Writable_Database db(file);
  const auto ada = db.new_person({.name = "Ada", .born = birthday});
  const auto visit = db.new_visit({.id = Uuid("00000000-0000-0000-0000-000000000001")});
  db.write_timestamp(1);
  db.soft_checkpoint();
  db.set_born(ada, {});
  db.set_mail(ada, "ada");
  db.write_timestamp(2);
  db.soft_checkpoint();
  const auto history = db.history(ada);
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].values.born, birthday);
  EXPECT_EQ(history[0].values.mail, std::nullopt);
  EXPECT_EQ(history[1].values.born, std::nullopt);
  EXPECT_EQ(history[1].values.mail, "ada");
  EXPECT_EQ(db.history(visit)[0].values.id, db.get_id(visit));
  values_of_person copy = history[0].values;
  copy.mail = "copy";
  EXPECT_EQ(db.get_born(db.new_person(copy)), birthday);

  auto old =
      db.live_person([](const values_of_person& p) { return p.born && *p.born < 1900y / 1 / 1; });
  EXPECT_EQ(old.size(), 1u);
  db.new_person({.born = 1850y / 1 / 1});
  db.soft_checkpoint();
  EXPECT_EQ(old.size(), 2u);
  const auto born = db.live_list_of_person_by_born({1800y / 1 / 1}, {});
  EXPECT_EQ(born.size(), 2u);
}

// ---- files --------------------------------------------------------------------------------------

TEST(Typed_File, IsUpgradedFromStoredTypes) {
  joedb::Memory_File file;
  {
    test::plain::Writable_Database old(file);
    old.new_invoice({.total = 1250, .state = 1, .issued = 20484});
    old.soft_checkpoint();
  }
  {
    const Readonly_Database readonly(file);
    const auto invoice = *readonly.get_invoice_table().begin();
    EXPECT_EQ(readonly.get_total(invoice), 12.50_decimal);
  }
  Writable_Database db(file);
  const auto invoice = *db.get_invoice_table().begin();
  EXPECT_EQ(db.get_total(invoice), 12.50_decimal);
  EXPECT_EQ(db.get_state(invoice), Invoice_State::paid);
  EXPECT_EQ(db.get_issued(invoice), sys_days(2026y / 1 / 31));
  EXPECT_EQ(db.get_reason(invoice), Invoice_Reason::new_);  // 0 was a value
  const auto column = [&](std::string_view table, std::string_view field) {
    const joedb::Table& t = *db.Typed_Database::get_untyped().find_table(table);
    return t.find_field(t.find_field(field))->column->logical();
  };
  EXPECT_EQ(column("invoice", "total").kind, joedb::Logical_Type::Kind::decimal);
  EXPECT_TRUE(column("person", "age").is_optional);
  db.soft_checkpoint();
  test::plain::Writable_Database other(file);
  EXPECT_EQ(other.get_total(test::plain::id_of_invoice(invoice.get_id())), 1250);
}

// As another program does.
void declare(joedb::Memory_File& file, std::string_view declaration) {
  joedb::Writable_Database database(file);
  database.write(joedb::Comment{declaration});
  database.soft_checkpoint();
}

TEST(Typed_File, MustNotDeclareAnotherType) {
  joedb::Memory_File file;
  {
    test::plain::Writable_Database old(file);
    old.soft_checkpoint();
  }
  declare(file, "joedb: type invoice.total decimal(3)");
  try {
    Writable_Database db(file);
    FAIL();
  } catch (const joedb::Schema_Mismatch& mismatch) {
    EXPECT_STREQ(
        mismatch.what(),
        "memory: invoice.total is decimal(3) in the file, decimal(2) in the program (typed)");
  }
}

TEST(Typed_File, MayKnowMoreNames) {
  joedb::Memory_File file;
  {
    test::plain::Writable_Database old(file);
    old.new_invoice({.state = 3});
    old.soft_checkpoint();
  }
  declare(file, "joedb: type invoice.state enum(open,paid,late,lost)");
  Writable_Database db(file);
  EXPECT_EQ(to_string(db.get_state(*db.get_invoice_table().begin())), "");
}

}  // namespace
}  // namespace typed_test
