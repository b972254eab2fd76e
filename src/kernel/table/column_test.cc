#include "joedb/table/column.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sim/lab/random.h"

namespace joedb::column_test {
namespace {

using testing::Random;

constexpr Type text_type{Type_Code::string, {}};
using Text_Column = Column<std::string_view>;

template <class T>
class Number_Column_Test : public ::testing::Test {};
using Number_Types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, float,
                                      double, bool, Record_Id, Blob>;
TYPED_TEST_SUITE(Number_Column_Test, Number_Types);

template <class T>
T example(index_t i) {
  if constexpr (std::is_same_v<T, Blob>)
    return Blob(41 + i, i);
  else if constexpr (std::is_same_v<T, Record_Id>)
    return Record_Id(i);
  else if constexpr (std::is_same_v<T, bool>)
    return i % 3 == 0;
  else
    return static_cast<T>(i * 7 + 1);
}

TYPED_TEST(Number_Column_Test, HoldsDefaultsUntilSomethingIsSet) {
  Column<TypeParam> column({code_of<TypeParam>, {}});
  EXPECT_EQ(column.type().code, code_of<TypeParam>);
  index_t set = 0;
  for (const std::size_t capacity : {1u, 16u, 1000u, 100'000u}) {
    column.grow(capacity, false);
    for (index_t i = 0; i < set; ++i) ASSERT_EQ(column.get(i), example<TypeParam>(i));
    for (; set < static_cast<index_t>(capacity); ++set) {
      ASSERT_EQ(column.get(set), TypeParam());
      column.set(set, example<TypeParam>(set));
      ASSERT_EQ(column.data()[set], example<TypeParam>(set));
    }
  }
  column.reset(5);
  EXPECT_EQ(column.get(5), TypeParam());
  EXPECT_EQ(column.get(4), example<TypeParam>(4));
  EXPECT_EQ(column.get(6), example<TypeParam>(6));
}

TYPED_TEST(Number_Column_Test, GivesItsMemoryAwayAndGoesOnWithACopy) {
  Column<TypeParam> column({code_of<TypeParam>, {}});
  column.grow(100'000, false);
  for (index_t i = 0; i < 1000; ++i) column.set(i, example<TypeParam>(i));
  const TypeParam* const before = column.data();
  const Column_Memory memory = column.detach(900);
  EXPECT_EQ(static_cast<const void*>(memory.values.data()), before);
  EXPECT_NE(column.data(), before);
  for (index_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(column.get(i), i < 900 ? example<TypeParam>(i) : TypeParam());
    column.set(i, TypeParam());
    ASSERT_EQ(before[i], example<TypeParam>(i));
  }
  column.set(99'999, example<TypeParam>(1));
}

TEST(Column, ResetsNegativeZeroToZero) {
  Column<double> column({Type_Code::float64, {}});
  column.grow(1, false);
  column.set(0, -0.0);
  column.reset(0);
  EXPECT_FALSE(std::signbit(column.get(0)));
}

TEST(Column, OfTextsGivesItsMemoryAwayAndGoesOnWithACopy) {
  Text_Column column(text_type);
  column.grow(1000, false);
  const auto text = [](index_t i) { return std::string(static_cast<std::size_t>(i % 40), 'a'); };
  for (index_t i = 0; i < 1000; ++i) column.set(i, text(i));
  const String_Handle* const handles = std::as_const(column).handles();
  const std::string_view texts = column.texts();
  const std::string texts_before(texts);
  const Column_Memory memory = column.detach(1000);
  EXPECT_NE(std::as_const(column).handles(), handles);
  EXPECT_NE(column.texts().data(), texts.data());
  for (index_t i = 0; i < 1000; ++i) ASSERT_EQ(column.get(i), text(i));
  for (index_t i = 0; i < 1000; ++i) column.set(i, std::string(60, 'b'));
  column.grow(2000, false);
  for (index_t i = 0; i < 1000; ++i) ASSERT_EQ(column.get(i), std::string(60, 'b'));
  EXPECT_EQ(texts, texts_before);
  for (index_t i = 0; i < 1000; ++i) ASSERT_EQ(handles[i].size, i % 40);
}

class Text_Column_Test : public ::testing::Test {
 protected:
  Text_Column_Test() { grow(50); }

  void grow(std::size_t size) {
    column.grow(size, false);
    model.resize(size);
  }
  void set(std::size_t i, std::string_view value) {
    model[i] = value;  // first, because `value` may be a text of the column, which set() moves
    column.set(static_cast<index_t>(i), value);
  }
  String get(std::size_t i) const { return column.get(static_cast<index_t>(i)); }

  void expect_like_model() {
    for (std::size_t i = 0; i < model.size(); ++i) {
      ASSERT_EQ(get(i), model[i]) << i;
      ASSERT_EQ(get(i).c_str()[model[i].size()], '\0') << i;
    }
  }

  Text_Column column{text_type};
  std::vector<std::string> model;
};

TEST_F(Text_Column_Test, HoldsTextsOfAnySize) {
  for (std::size_t size = 0; size < 50; ++size)
    set(size, std::string(size, static_cast<char>('a' + size % 26)));
  expect_like_model();
  for (std::size_t size = 0; size < 50; ++size) set(49 - size, std::string(size, 'x'));
  expect_like_model();
  set(0, std::string(10'000'000, 'y'));
  set(1, std::string_view("\0\n\xff\0", 4));
  set(2, std::string_view());
  expect_like_model();
}

TEST_F(Text_Column_Test, IsEmptyUntilSomethingIsSet) {
  grow(100'000);
  expect_like_model();
}

// A column's own text can be overwritten by a part of itself, or be moved or freed by the call.
TEST_F(Text_Column_Test, TakesItsOwnTexts) {
  const std::size_t sizes[] = {0, 1, 10, 11, 12, 13, 30, 100};
  for (const std::size_t from : sizes)
    for (const std::size_t to : sizes)
      for (std::size_t start = 0; start <= from; start += 1 + start)
        for (std::size_t length = from - start;; length /= 2) {
          for (const std::size_t target : {0u, 1u}) {
            set(0, std::string("0123456789").append(std::string(from, 'f')).substr(0, from));
            if (target == 1) set(1, std::string(to, 't'));
            set(target, std::string_view(get(0)).substr(start, length));
            expect_like_model();
            if (HasFatalFailure()) return;
          }
          if (length == 0) break;
        }
}

TEST_F(Text_Column_Test, BehavesLikeAVectorOfStrings) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Text_Column some(text_type);
    std::vector<std::string> strings(10);
    some.grow(10, false);
    const std::size_t largest = std::size_t{1} << random.below(14);
    for (int step = 0; step < 3000; ++step) {
      const std::size_t i = random.below(strings.size());
      const auto id = static_cast<index_t>(i);
      switch (random.below(8)) {
        case 0:
          some.reset(id);
          strings[i].clear();
          break;
        case 1: {  // a part of any text of the column, possibly the replaced one
          const std::size_t j = random.below(strings.size());
          const std::size_t start = random.below(strings[j].size() + 1);
          const std::size_t length = random.below(strings[j].size() - start + 1);
          some.set(id, std::string_view(some.get(static_cast<index_t>(j))).substr(start, length));
          strings[i] = std::string(strings[j].substr(start, length));
          break;
        }
        case 2:
          if (strings.size() < 1000 && random.below(20) == 0) {
            strings.resize(strings.size() * 2);
            some.grow(strings.size(), true);
          }
          break;
        default:
          strings[i].assign(random.below(largest + 1), static_cast<char>('a' + step % 26));
          some.set(id, strings[i]);
      }
      const std::size_t k = random.below(strings.size());
      ASSERT_EQ(some.get(static_cast<index_t>(k)), strings[k]);
    }
    for (std::size_t i = 0; i < strings.size(); ++i) {
      ASSERT_EQ(some.get(static_cast<index_t>(i)), strings[i]);
      ASSERT_EQ(some.get(static_cast<index_t>(i)).c_str()[strings[i].size()], '\0');
    }
  }
}

// However often texts are replaced, memory stays within a few times their size. Garbage collections
// happen also while the new value is a text of the column itself.
TEST_F(Text_Column_Test, CollectsGarbage) {
  Random random(1);
  for (int step = 0; step < 300'000; ++step) {
    const std::size_t i = random.below(model.size()), j = random.below(model.size());
    if (step % 3 == 0)
      set(i, get(j));
    else
      set(i, std::string(12 + random.below(3000), static_cast<char>('a' + step % 26)));
    if (step % 10'000 == 0) expect_like_model();
  }
  expect_like_model();
  for (std::size_t i = 0; i < model.size(); ++i) set(i, {});
  expect_like_model();
}

TEST(String, ConvertsAndConcatenates) {
  const char text[] = "Tokyo";
  const String string(text, 5);
  const std::string& copy = string;
  EXPECT_EQ(copy, "Tokyo");
  EXPECT_EQ(string.str(), "Tokyo");
  EXPECT_STREQ(string.c_str(), "Tokyo");
  EXPECT_EQ(string + "!", "Tokyo!");
  EXPECT_EQ("in " + string, "in Tokyo");
  EXPECT_EQ(string + string, "TokyoTokyo");
  EXPECT_EQ(std::string("in ") + string, "in Tokyo");
  EXPECT_EQ(string + std::string("!"), "Tokyo!");
  EXPECT_EQ(String(), "");
  EXPECT_STREQ(String().c_str(), "");
}

}  // namespace
}  // namespace joedb::column_test
