#include "kernel/table/index_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "joedb/base/error.h"
#include "joedb/base/types.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/database.h"
#include "support/property.h"

namespace joedb::index_run_test {
namespace {

using testing::Random;

// ---- saved items, in memory ---------------------------------------------------------------------

struct Item {
  char kind;  // 'n': number, 't': text, 's': section
  std::int64_t number = 0;
  std::string bytes = {};
};

class Items final : public Section_Writer, public Section_Reader {
 public:
  std::deque<Item> items;  // a deque, so that texts do not move

  void number(std::int64_t value) override { items.push_back({'n', value}); }
  void text(std::string_view value) override { items.push_back({'t', 0, std::string(value)}); }
  void begin_section() override { items.push_back({'s'}); }
  void append(const void* bytes, std::size_t size) override {
    items.back().bytes.append(static_cast<const char*>(bytes), size);
  }

  std::int64_t number() override { return next('n').number; }
  std::string_view text() override { return next('t').bytes; }
  void section(Zeroed_Memory& memory, std::size_t size, std::size_t reserved) override {
    const std::string& bytes = next('s').bytes;
    if (bytes.size() != size) throw Corruption_Error("a section of another size", 0);
    memory.begin_with(Readonly_Memory_File(bytes), 0, size, reserved);
  }

  std::size_t section_bytes() const {
    return std::accumulate(items.begin(), items.end(), std::size_t{0}, [](auto sum, auto& item) {
      return sum + (item.kind == 's' ? item.bytes.size() : 0);
    });
  }

 private:
  const Item& next(char kind) {
    if (next_ == items.size() || items[next_].kind != kind) throw Corruption_Error("no item", 0);
    return items[next_++];
  }
  std::size_t next_ = 0;
};

// ---- slices -------------------------------------------------------------------------------------

// Checks that slices have the order of their keys: the slice of a smaller key is not larger, and it
// is smaller if one of the two slices is exact. A saved and restored coder must return the same
// slices.
void expect_order(const Key_Coder& narrow, const std::vector<Key_Part>& keys, bool is_text) {
  const auto is_less = [](const Key_Part& a, const Key_Part& b) {
    return a.text != b.text ? a.text < b.text : a.number < b.number;
  };
  std::vector<Key_Part> sorted = keys;
  std::sort(sorted.begin(), sorted.end(), is_less);
  for (const bool is_wide : {false, true}) {
    const Key_Coder coder = narrow.with_width(is_wide);
    Items saved;
    coder.save(saved);
    const Key_Coder restored = Key_Coder::restore(saved, is_text);
    Key_Coder::Slice last{0, false};
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const Key_Coder::Slice slice = coder.encode(sorted[i]);
      ASSERT_LE(last.value, slice.value) << sorted[i].text << ' ' << sorted[i].number;
      if (i > 0 && is_less(sorted[i - 1], sorted[i]) && (last.is_exact || slice.is_exact)) {
        ASSERT_LT(last.value, slice.value) << sorted[i].text << ' ' << sorted[i].number;
      }
      ASSERT_EQ(restored.encode(sorted[i]).value, slice.value);
      ASSERT_EQ(restored.encode(sorted[i]).is_exact, slice.is_exact);
      if (is_wide) {
        ASSERT_EQ(narrow.narrow(slice.value), narrow.encode(sorted[i]).value);
      }
      last = slice;
    }
  }
}

Key_Part part_of(std::string_view text) { return key_part(text); }

TEST(Key_Coder, KeepsTheOrderOfAllTextsOfFewBytes) {
  const std::string alphabets[] = {{"\0ac", 3}, "abc", "a\xff", {"\0\1\x7f\x80\xff", 5}};
  for (const std::string& bytes : alphabets)
    for (const std::string& prefix : {std::string(), std::string("b"), std::string(40, 'p')}) {
      std::deque<std::string> texts{prefix, ""};
      for (std::size_t i = 0; texts[i].size() < prefix.size() + 5; ++i)
        for (const char c : bytes) texts.push_back(texts[i] + c);
      std::vector<std::string_view> sample;
      std::vector<Key_Part> keys;
      for (const std::string& text : texts) {
        keys.push_back(part_of(text));
        // The sample lacks one of the bytes.
        if (text.starts_with(prefix) && text.find(bytes[1], prefix.size()) == text.npos)
          sample.push_back(text);
      }
      expect_order(Key_Coder::of_texts(sample), keys, true);
    }
}

TEST(Key_Coder_Property, KeepsTheOrderOfAnyTexts) {
  testing::expect_property([](std::uint64_t seed) {
    Random random(seed);
    const std::string prefix(random.below(3) * random.below(30), 'p');
    const std::size_t bytes = std::size_t{1} << random.below(9), base = random.below(257 - bytes);
    std::deque<std::string> texts;
    std::vector<Key_Part> keys;
    for (int i = 0; i < 400; ++i) {
      std::string& text = texts.emplace_back(random.below(20) == 0 ? "" : prefix);
      for (std::size_t n = random.below(24); n > 0; --n)
        text += static_cast<char>(base + random.below(bytes));
      if (random.below(20) == 0) text += static_cast<char>(random.next());
      keys.push_back(part_of(text));
    }
    expect_order(Key_Coder::of_texts({texts.begin(), texts.begin() + 200}), keys, true);
  });
}

TEST(Key_Coder_Property, KeepsTheOrderOfAnyNumbers) {
  testing::expect_property([](std::uint64_t seed) {
    Random random(seed);
    const std::uint64_t base = random.next() >> random.below(64);
    const std::size_t bits = random.below(64);
    std::vector<std::uint64_t> sample;
    std::vector<Key_Part> keys;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t number = base + (random.next() >> bits);
      if (i % 2 == 0) sample.push_back(number);
      for (const std::uint64_t key : {number, number + 1, random.next() >> random.below(64)})
        keys.push_back({key});
    }
    for (const std::uint64_t key : {std::uint64_t{0}, ~std::uint64_t{0}}) keys.push_back({key});
    expect_order(Key_Coder::of_numbers(sample), keys, false);
  });
}

TEST(Key_Coder, SaysWhichKeysNoOtherKeySharesASliceWith) {
  const std::vector<std::string_view> letters{"id a", "id b", "id z", "id abcdefghijklm", "id y"};
  const struct {
    std::string_view text;
    bool is_exact, is_exact_wide;
  } cases[] = {{"id ", true, true},  // the whole text fits in the slice
               {"id a", true, true},
               {"id abcdefgh", false, true},  // longer than a slice of 4 bytes
               {"id abcdefghijklmnop", false, false},
               {"id A", false, false},  // a byte that the sample lacks
               {std::string_view("id \0", 4), false, false},
               {"i", false, false},  // without the common prefix
               {"", false, false},
               {"ie", false, false}};
  const Key_Coder coder = Key_Coder::of_texts(letters);
  for (const auto& c : cases) {
    EXPECT_EQ(coder.encode(part_of(c.text)).is_exact, c.is_exact) << c.text;
    EXPECT_EQ(coder.with_width(true).encode(part_of(c.text)).is_exact, c.is_exact_wide) << c.text;
  }
  const Key_Coder near = Key_Coder::of_numbers({1'000'000, 2'000'000});
  EXPECT_TRUE(near.encode({1'500'000}).is_exact);
  EXPECT_TRUE(near.encode({0}).is_exact) << "there is room below";
  EXPECT_FALSE(near.encode({std::uint64_t{1} << 40}).is_exact);
  EXPECT_TRUE(near.with_width(true).encode({std::uint64_t{1} << 40}).is_exact);
  const Key_Coder far = Key_Coder::of_numbers({0, ~std::uint64_t{0}});
  EXPECT_FALSE(far.encode({1}).is_exact);
  EXPECT_FALSE(Key_Coder::of_texts({}).encode(part_of("a")).is_exact);
}

// ---- bits ---------------------------------------------------------------------------------------

TEST(Bit_Tree_Property, FindsTheBitsThatASetHas) {
  testing::expect_property([](std::uint64_t seed) {
    Random random(seed);
    const std::size_t size = 1 + random.below(std::size_t{1} << random.below(15));
    Bit_Tree tree;
    tree.grow(size);
    std::set<std::size_t> clear;
    for (std::size_t i = 0; i < size; ++i) clear.insert(clear.end(), i);
    for (int step = 0; step < 200; ++step) {
      const std::size_t first = random.below(size);
      const std::size_t end =
          std::min(size, first + random.below(std::size_t{1} << random.below(14)));
      for (std::size_t i = first; i < end; ++i) tree.set(i), clear.erase(i);
      const std::size_t bit = random.below(size);
      const auto next = clear.lower_bound(bit);
      const std::size_t found = tree.next_clear(bit);
      if (next == clear.end())
        ASSERT_GE(found, size);
      else
        ASSERT_EQ(found, *next);
      const auto behind = clear.upper_bound(bit);
      ASSERT_EQ(tree.previous_clear(bit),
                behind == clear.begin() ? Bit_Tree::none : *std::prev(behind));
    }
  });
}

// ---- the run ------------------------------------------------------------------------------------

template <class T>
Zeroed_Memory memory_of(const std::vector<T>& values) {
  Zeroed_Memory memory;
  memory.grow(values.size() * sizeof(T));
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(memory.data()));
  return memory;
}

// Slices of numbers are distances from about the smallest one, in 4 bytes if that separates enough
// of them.
template <class Id>
void check_run(Random& random, std::size_t size) {
  const std::size_t different = 1 + random.below(2 * size + 1);
  const int shift = random.flip() ? 0 : static_cast<int>(random.below(40));
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < size; ++i)
    keys.push_back((random.below(different) << shift) + random.below(16));
  std::vector<Id> ids(size);
  std::iota(ids.begin(), ids.end(), Id{0});
  const Key_Coder coder = Key_Coder::of_numbers(keys);
  for (std::size_t n = random.below(6); n > 0; --n) keys[random.below(size)] = ~std::uint64_t{0};
  Zeroed_Memory sorted_keys = memory_of(keys), sorted_ids = memory_of(ids);
  Index_Run::sort<Id>(sorted_keys, sorted_ids, size);
  Index_Run run(coder, std::move(sorted_keys), std::move(sorted_ids), size, sizeof(Id) == 8);

  std::vector<std::pair<std::uint64_t, index_t>> by_key;
  for (std::size_t i = 0; i < size; ++i) by_key.emplace_back(keys[i], static_cast<index_t>(i));
  std::sort(by_key.begin(), by_key.end());
  std::vector<std::uint64_t> slices;
  std::set<std::size_t> live;
  for (std::size_t i = 0; i < size; ++i) {
    slices.push_back(run.coder().encode({by_key[i].first}).value);
    live.insert(live.end(), i);
    ASSERT_EQ(run.slice(i), slices[i]);
    ASSERT_EQ(run.id(i), by_key[i].second);
  }
  const auto place = [&](auto found) { return static_cast<std::size_t>(found - slices.begin()); };
  for (int step = 0; step < 100; ++step) {
    const std::size_t at = random.below(size + 1);
    const std::uint64_t near = at < size ? slices[at] + random.below(3) - 1 : random.next();
    const std::uint64_t slice = run.coder().is_wide() ? near : near & 0xffff'ffff;
    ASSERT_EQ(run.lower_bound(slice), place(std::lower_bound(slices.begin(), slices.end(), slice)));
    if (at < size) {
      ASSERT_EQ(run.end_of_equal(at),
                place(std::upper_bound(slices.begin(), slices.end(), slices[at])));
    }
    for (std::size_t n = random.below(1 + size / 10), i = at; n > 0 && i < size; --n, ++i)
      if (live.erase(i) > 0) run.mark(i);
    ASSERT_EQ(run.live_count(), live.size());
    const auto next = live.lower_bound(at);
    ASSERT_EQ(run.next_live(at), next == live.end() ? size : *next);
    ASSERT_EQ(run.previous_live(at), next == live.begin() ? Index_Run::none : *std::prev(next));
  }
}

TEST(Index_Run_Property, FindsSlicesAndWhatHasNotLeft) {
  testing::expect_property(
      [](std::uint64_t seed) {
        Random random(seed);
        constexpr std::size_t sizes[] = {1, 15, 16, 17, 64, 65, 255, 256, 257, 4096, 4097, 5000};
        const std::size_t size = sizes[random.below(std::size(sizes))];
        random.flip() ? check_run<std::uint32_t>(random, size)
                      : check_run<std::uint64_t>(random, size);
      },
      60);
}

TEST(Index_Run, OfNothingHasNothing) {
  const Index_Run run;
  EXPECT_EQ(run.lower_bound(0), 0u);
  EXPECT_EQ(run.next_live(0), 0u);
  EXPECT_EQ(run.previous_live(0), Index_Run::none);
  const Index_Run built(Key_Coder::of_numbers({}), {}, {}, 0, false);
  EXPECT_EQ(built.lower_bound(~std::uint64_t{0}), 0u);
  EXPECT_EQ(built.next_live(0), 0u);
}

// ---- run and tree -------------------------------------------------------------------------------

constexpr Table_Id table{1};
constexpr Field_Id text{1}, number{2};

const std::vector<Index_Definition> definitions{{"by_text", table, {text}},
                                                {"by_text_and_number", table, {text, number}},
                                                {"number_unique", table, {number}, true}};

// A table with indexes, only in memory.
class Rows {
 public:
  explicit Rows(std::vector<Index_Definition> indexes = definitions) {
    for (Index_Definition& index : indexes) database.add_index(std::move(index));
    database(Create_Table{"row"});
    database(Add_Field{table, "text", {Type_Code::string, {}}});
    database(Add_Field{table, "number", {Type_Code::int64, {}}});
  }
  // Builds the runs from the current records. Later records are in the trees.
  void finish_loading() { database.remove_limits(); }
  void add(std::string_view value, std::int64_t n) {
    const Record_Id id(rows().records().next_free());
    database(Insert{table, id});
    database(Update<std::string_view>{table, id, text, value});
    database(Update<std::int64_t>{table, id, number, n});
  }
  Table& rows() { return database.table(table); }
  Index& index(std::size_t i = 0) { return *rows().indexes()[i]; }

  // Checks the first two indexes against models built from the columns: in both directions, and by
  // searches.
  void expect_right() {
    for (const std::size_t parts : {std::size_t{1}, std::size_t{2}}) {
      std::multimap<Key_Of_Model, index_t> model;
      const auto& texts = rows().column<std::string_view>(text);
      const auto& numbers = rows().column<std::int64_t>(number);
      for (index_t id = 0; id < rows().records().size(); ++id)
        if (rows().is_used(Record_Id(id)))
          model.emplace(Key_Of_Model(texts.get(id), parts == 1 ? 0 : numbers.get(id)), id);
      expect_same(index(parts - 1), model, parts);
    }
  }

  Database database{Deleted_Values::reset};

 private:
  using Key_Of_Model = std::pair<std::string, std::int64_t>;
  static void expect_same(const Index& index, const std::multimap<Key_Of_Model, index_t>& model,
                          std::size_t parts) {
    const auto id_at = [&](auto entry) {
      return entry == model.end() ? Record_Id() : Record_Id(entry->second);
    };
    auto forward = index.begin(), backward = index.end();
    for (const auto& [value, id] : model) {
      const std::array all{part_of(value.first), key_part(value.second)};
      const Key key = Key(all).first(parts);
      ASSERT_EQ(forward.record(), Record_Id(id));
      forward.next();
      ASSERT_EQ(index.lower_bound(key).record(), id_at(model.lower_bound(value)));
      ASSERT_EQ(index.upper_bound(key).record(), id_at(model.upper_bound(value)));
      ASSERT_EQ(index.find(key), id_at(model.lower_bound(value)));
      ASSERT_EQ(index.at(Record_Id(id)).record(), Record_Id(id));
    }
    ASSERT_EQ(forward, index.end());
    for (auto entry = model.rbegin(); entry != model.rend(); ++entry) {
      backward.previous();
      ASSERT_EQ(backward.record(), Record_Id(entry->second));
    }
    ASSERT_EQ(index.size(), model.size());
  }
};

// Each text is in the run and in the tree. Then some records are erased, and inserted again.
TEST(Index_Of_Run_And_Tree, OrdersTextsThatDifferLate) {
  const std::string long_one(100, 'x'), random = "q8Zk3~Wm!07+Rt";
  const std::vector<std::string> cases[] = {
      {long_one + "a", long_one + "b", long_one, long_one + "ab", "x", "y", ""},
      {random + long_one + "1", random + long_one + "2", random, "q8", "zz", "0"},
      {"", std::string(1, '\0'), std::string(2, '\0'), std::string("\0a", 2), "a",
       std::string("a\0", 2), std::string("a\0b", 3), "\xff", std::string("\xff\0", 2)},
      {"", "", ""},
      {"only"},
      {}};
  for (const auto& texts : cases) {
    Rows rows;
    std::int64_t n = 0;
    const auto add_all = [&] {
      for (int i = 0; i < 40 && !texts.empty(); ++i)
        rows.add(texts[static_cast<std::size_t>(i * 7) % texts.size()], n++);
    };
    add_all();
    rows.finish_loading();
    rows.expect_right();
    add_all();
    rows.expect_right();
    for (index_t id = 0; id < rows.rows().records().size(); id += 3) {
      rows.database(Update<std::string_view>{table, Record_Id(id), text, texts.back()});
      if (id % 2 == 0) rows.database(Delete{table, Record_Id(id)});
    }
    rows.expect_right();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Index_Of_Run_And_Tree, CanBeEmptiedFromEitherEnd) {
  for (const bool from_beginning : {true, false}) {
    Rows rows;
    for (int i = 0; i < 20'000; ++i) rows.add(std::to_string(i * 7919 % 20'000), i);
    rows.finish_loading();
    for (int i = 0; i < 10; ++i) rows.add(std::to_string(i * 1999), 20'000 + i);
    const Index& index = rows.index();
    std::string last;
    for (std::size_t left = index.size(); left > 0; --left) {
      auto end = index.end();
      end.previous();
      const Record_Id id = from_beginning ? index.begin().record() : end.record();
      const std::string value(rows.rows().column<std::string_view>(text).get(id.value()));
      ASSERT_TRUE(last.empty() || (from_beginning ? last <= value : value <= last));
      last = value;
      rows.database(Delete{table, id});
      ASSERT_EQ(index.size(), left - 1);
    }
    EXPECT_EQ(index.begin(), index.end());
    rows.add("again", 1);
    rows.expect_right();
  }
}

// The saved size of an index is its size in memory.
TEST(Index_Of_Run_And_Tree, TakesLessThan10BytesARecordWhereSlicesOf4BytesDo) {
  constexpr std::int64_t count = 100'000;
  const auto bytes_per_record = [](std::int64_t distance) {
    Rows rows({{"number_unique", table, {number}, true}});
    // Groups of 100 consecutive numbers, `distance` apart.
    for (std::int64_t i = 0; i < count; ++i) rows.add({}, i / 100 * distance + i % 100);
    rows.finish_loading();
    Items saved;
    rows.index().save(saved);
    return static_cast<double>(saved.section_bytes()) / count;
  };
  EXPECT_LT(bytes_per_record(100), 10);
  EXPECT_LT(bytes_per_record(std::int64_t{1} << 50), 14) << "of 8 bytes";
  EXPECT_GT(bytes_per_record(std::int64_t{1} << 50), 13);
}

// ---- hostile bytes ------------------------------------------------------------------------------

void damage(Items& saved, Random& random) {
  for (std::size_t n = std::size_t{1} << random.below(8); n > 0; --n) {
    Item& item = saved.items[random.below(saved.items.size())];
    const std::uint64_t value = random.next() >> random.below(64);
    if (item.kind == 'n' && random.below(20) == 0) item.number = static_cast<std::int64_t>(value);
    if (item.bytes.empty()) continue;
    const std::size_t at = random.below(item.bytes.size());
    item.bytes[at] = static_cast<char>(value);
    if (item.bytes.size() - at >= 8 && random.flip()) store(item.bytes.data() + at, value);
  }
}

TEST(Index_Property, RestoresAnyBytesAsAnOrderOfRecordsInUse) {
  Rows original;
  for (int i = 0; i < 700; ++i)
    original.add((i % 3 == 0 ? "a long beginning " : "") + std::to_string(i * 7919 % 1000), i * i);
  original.finish_loading();
  for (index_t id = 5; id < 600; id += 9) original.database(Delete{table, Record_Id(id)});
  std::size_t restored = 0, all = 0;
  testing::expect_property([&](std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      Items saved;
      original.index(i).save(saved);
      damage(saved, random);
      Index index(definitions[i], original.rows());
      index.defer();
      index.insert_waiting();
      ++all;
      try {
        index.restore(saved);
      } catch (const Corruption_Error&) {
        continue;
      }
      ++restored;
      std::size_t left = static_cast<std::size_t>(original.rows().records().size()) + 1;
      for (auto place = index.begin(); place != index.end(); place.next(), --left) {
        ASSERT_TRUE(original.rows().is_used(place.record()));
        ASSERT_GT(left, 0u);
      }
      left = static_cast<std::size_t>(original.rows().records().size()) + 1;
      for (auto place = index.end(); left > 0; --left) place.previous();
      for (index_t id = 0; id < original.rows().records().size(); ++id) {
        index.at(Record_Id(id)).next();
        if (!original.rows().is_used(Record_Id(id))) continue;
        index.erase(Record_Id(id));
        if (id % 2 == 0) index.insert_again(Record_Id(id));
      }
      index.find(std::array{part_of("a long beginning 7"), key_part(7)});
      Items again;
      index.save(again);
    }
  });
  EXPECT_GT(restored, all / 2);
}

}  // namespace
}  // namespace joedb::index_run_test
