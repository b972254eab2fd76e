#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/fuzzers.h"
#include "joedb/base/types.h"
#include "sim/lab/random.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace joedb;
using testing::Random;
using testing::snapshot_page;

// ---- the directory ------------------------------------------------------------------------------

struct Item {
  char tag;
  std::string text = {};     // of a text item; the name of a group
  std::uint64_t number = 0;  // the offset of a section
  std::uint64_t size = 0;    // of a section
};

// position in the header of the offset of the directory
constexpr std::size_t directory_word = 9 * 8;

// Returns the items before the first invalid one, group by group.
std::vector<Item> items_of(std::string_view bytes) {
  std::vector<Item> items;
  bool is_good = true;
  const auto take = [&](std::uint64_t size) {
    is_good = is_good && size <= bytes.size();
    const std::string_view taken = bytes.substr(0, is_good ? size : 0);
    bytes.remove_prefix(taken.size());
    return std::string(taken);
  };
  const auto word = [&] {
    const std::string taken = take(8);
    return is_good ? load<std::uint64_t>(taken.data()) : 0;
  };
  while (!bytes.empty() && is_good) {
    Item item{take(1)[0]};
    if (item.tag == 't' || item.tag == 'g') item.text = take(word());
    if (item.tag == 'n' || item.tag == 's' || item.tag == 'g') item.number = word();
    if (item.tag == 's') item.size = word();
    if (is_good) items.push_back(std::move(item));
  }
  return items;
}

void add_word(std::string& bytes, std::uint64_t word) {
  bytes.append(8, '\0');
  store(bytes.data() + bytes.size() - 8, word);
}

std::string directory_of(const std::vector<Item>& items) {
  std::string bytes;
  std::size_t group = 0;
  const auto end_group = [&] {
    if (group > 0) store(bytes.data() + group - 8, std::uint64_t{bytes.size() - group});
  };
  for (const Item& item : items) {
    if (item.tag == 'g') end_group();
    bytes += item.tag;
    if (item.tag == 't' || item.tag == 'g') add_word(bytes, item.text.size());
    bytes += item.text;
    if (item.tag == 'n' || item.tag == 's' || item.tag == 'g') add_word(bytes, item.number);
    if (item.tag == 's') add_word(bytes, item.size);
    if (item.tag == 'g') group = bytes.size();
  }
  end_group();
  return bytes;
}

// ---- changes ------------------------------------------------------------------------------------

// Returns a number near zero, near the largest signed or unsigned one, near `old`, or near a power
// of two.
std::uint64_t any_number(Random& random, std::uint64_t old) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  const std::uint64_t near[] = {0, old, half, std::uint64_t{1} << random.below(64)};
  return random.below(8) == 0 ? random.next() : near[random.below(4)] + random.below(5) - 2;
}

// Returns a random item with this tag; null if there is none.
Item* pick(std::vector<Item>& items, char tag, Random& random) {
  std::vector<Item*> all;
  for (Item& item : items)
    if (item.tag == tag) all.push_back(&item);
  return all.empty() ? nullptr : all[random.below(all.size())];
}

void change_text(std::string& text, Random& random) {
  const std::size_t old = text.size(), most = old + 16;
  text.resize(most);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), old, most));
  if (random.flip()) text.resize(old);
}

void change_directory(std::vector<Item>& items, Random& random) {
  if (items.empty()) return;
  Item* const number = pick(items, 'n', random);
  Item* const text = pick(items, 't', random);
  Item* const section = pick(items, 's', random);
  const Item* const other = pick(items, 's', random);
  const auto place = [&] {
    return items.begin() + static_cast<std::ptrdiff_t>(random.below(items.size()));
  };
  const std::size_t what = random.below(16);
  if (what < 8 && number != nullptr) {
    number->number = any_number(random, number->number);
  } else if (what < 11 && text != nullptr) {
    change_text(text->text, random);
  } else if (what == 11 && section != nullptr) {
    section->number = random.flip() ? other->number : any_number(random, section->number);
  } else if (what == 12 && section != nullptr) {
    section->size = random.flip() ? other->size : any_number(random, section->size);
  } else if (what == 13) {
    items.erase(place());
  } else if (what == 14) {
    const Item copy = *place();
    items.insert(place(), copy);
  } else {
    std::swap(*place(), *place());
  }
}

template <class T>
void change_word(std::string& bytes, const Item& section, Random& random) {
  char* const start = bytes.data() + section.number;
  const std::size_t count = static_cast<std::size_t>(section.size) / sizeof(T);
  if (count == 0) return;
  char* const word = start + sizeof(T) * random.below(count);
  const char* const other = start + sizeof(T) * random.below(count);
  const T old = load<T>(word);
  if (random.flip())
    store(word, static_cast<T>(any_number(random, old)));
  else
    store(word, static_cast<T>(load<T>(other) + (random.flip() ? random.below(3) : 0)));
}

void change_section(std::string& bytes, const Item& section, Random& random) {
  if (section.number > bytes.size() || section.size > bytes.size() - section.number) return;
  const std::size_t width = random.below(3);
  if (width == 0) return change_word<std::uint8_t>(bytes, section, random);
  if (width == 1) return change_word<std::uint32_t>(bytes, section, random);
  change_word<std::uint64_t>(bytes, section, random);
}

}  // namespace

// Mutates decoded sections and items of the directory, not bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  if (random.below(16) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string input(reinterpret_cast<const char*>(data), size);
  if (size <= snapshot_page) input = '\1' + testing::valid_snapshot(random.next());
  if (random.below(16) == 0) input[0] = static_cast<char>(random.below(16));
  std::string bytes = input.substr(1);
  std::uint64_t start = load<std::uint64_t>(bytes.data() + directory_word);
  start = std::min<std::uint64_t>(start, bytes.size());
  if (random.below(8) == 0) {
    char* const word = bytes.data() + 8 * random.below(14);
    store(word, any_number(random, load<std::uint64_t>(word)));
    input[0] = '\2';
  }
  std::vector<Item> items = items_of(std::string_view(bytes).substr(start));
  for (std::size_t n = std::size_t{1} << random.below(6); n > 0; --n) {
    const Item* const section = pick(items, 's', random);
    if (random.below(4) == 0 || section == nullptr)
      change_directory(items, random);
    else
      change_section(bytes, *section, random);
  }
  const std::string result = input[0] + bytes.substr(0, start) + directory_of(items);
  if (result.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, result.data(), result.size());
  return result.size();
}
