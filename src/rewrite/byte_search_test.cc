#include "rewrite/byte_search.h"

#include <gtest/gtest.h>

#include <set>

#include "joedb/io/memory_file.h"
#include "sim/lab/random.h"

namespace joedb::byte_search_test {
namespace {

using testing::Random;
using Places = std::set<std::pair<Offset, std::size_t>>;

void set_content(Memory_File& file, const std::string& text) {
  file.get_data().assign(text.begin(), text.end());
}

Places places(const Byte_Search& search, const Abstract_File& file) {
  Places result;
  search.search(file, [&](Offset position, std::size_t size) { result.insert({position, size}); });
  return result;
}

TEST(Byte_Search, FindsEachPlaceOfEachText) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 100; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    // Use only two different bytes, so that texts contain each other and share prefixes.
    const auto text = [&](std::size_t size) {
      std::string result(size, ' ');
      for (char& c : result) c = static_cast<char>('a' + random.below(2));
      return result;
    };
    std::string content = text(random.below(3000));
    std::set<std::string> texts;
    Byte_Search search(1000);
    for (std::size_t n = random.below(30); n > 0; --n) {
      const std::size_t begin = random.below(content.size() + 1);
      const std::string some = random.flip()
                                   ? text(random.below(20))
                                   : content.substr(begin, random.below(random.flip() ? 20 : 3000));
      if (some.size() >= Byte_Search::shortest) texts.insert(some);
      EXPECT_TRUE(search.add(some));
    }
    EXPECT_EQ(search.size(), texts.size());
    Memory_File file;
    set_content(file, content);
    Places expected;
    for (const std::string& t : texts)
      for (std::size_t at = content.find(t); at != std::string::npos; at = content.find(t, at + 1))
        expected.insert({static_cast<Offset>(at), t.size()});
    ASSERT_EQ(places(search, file), expected);
  }
}

TEST(Byte_Search, FindsLongTextsAcrossThePiecesThatItReads) {
  Random random(testing::first_seed());
  std::string content(5'000'000, ' ');
  for (char& c : content) c = static_cast<char>(random.next());
  Memory_File file;
  set_content(file, content);
  Byte_Search search(100);
  Places expected;
  for (const std::size_t size : {4u, 100u, 5000u, 300'000u, 1'500'000u})
    for (const std::size_t end : {1u << 20, (1u << 20) + 4096, (1u << 21) + 1, 5'000'000u}) {
      const std::size_t begin = end < size ? 0 : end - size / 2;
      if (begin + size > content.size()) continue;
      // Pass half of the texts as a range of a file.
      if (random.flip())
        search.add(std::string_view(content).substr(begin, size));
      else
        search.add(file, static_cast<Offset>(begin), static_cast<Offset>(size));
      expected.insert({static_cast<Offset>(begin), size});
    }
  for (const auto& place : places(search, file)) {
    if (place.second > 4) {
      EXPECT_TRUE(expected.contains(place)) << place.first << ' ' << place.second;
    }
    expected.erase(place);
  }
  EXPECT_TRUE(expected.empty());
}

TEST(Byte_Search, IsFullAtItsLimitButKnowsWhatItHas) {
  Byte_Search search(2);
  EXPECT_TRUE(search.add("first"));
  EXPECT_TRUE(search.add("second"));
  EXPECT_TRUE(search.add("first"));
  EXPECT_TRUE(search.add("xy"));
  EXPECT_FALSE(search.add("third"));
}

TEST(Byte_Search, ManyTextsWithTheSameBeginningAreNoProblem) {
  Byte_Search search(200'000);
  std::string content;
  for (int i = 0; i < 200'000; ++i) {
    const std::string text = "https://example.com/a/long/path/" + std::to_string(1'000'000 + i);
    search.add(text);
    if (i % 1000 == 0) content += text + '\n';
  }
  Memory_File file;
  set_content(file, content);
  EXPECT_EQ(places(search, file).size(), 200);
}

}  // namespace
}  // namespace joedb::byte_search_test
