#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "joedb/format/header.h"
#include "sim/lab/random.h"
#include "support/entries.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace joedb;
using testing::Any_Entry;
using testing::Random;

// Returns the entries before the first invalid one.
std::vector<Any_Entry> entries_of(std::string_view bytes) {
  testing::Entry_Keeper keeper(bytes);
  Memory_Decoder_Input input(bytes);
  Context context;
  try {
    while (input.remaining() > 0) decode_entry(input, context, keeper);
  } catch (const Exception&) {
  }
  return keeper.entries();
}

std::int64_t any_number(Random& random) {
  const std::int64_t small = static_cast<std::int64_t>(random.below(6)) - 1;
  return random.below(8) > 0 ? small : static_cast<std::int64_t>(random.next() >> random.below(64));
}

template <class T>
void change_value(T& value, Random& random) {
  if constexpr (std::is_same_v<T, std::string_view>)
    value = testing::keep(std::string(random.below(40), static_cast<char>('a' + random.below(26))));
  else if constexpr (std::is_same_v<T, Record_Id>)
    value = Record_Id(any_number(random));
  else if constexpr (std::is_same_v<T, Blob>)
    value = Blob(any_number(random) + 41, any_number(random));
  else
    value = static_cast<T>(any_number(random));
}

// Changes one of the members that this entry has.
template <class Entry>
void change(Entry& entry, Random& random) {
  const std::size_t which = random.below(4);
  if constexpr (requires { entry.table; })
    if (which == 0) entry.table = Table_Id(static_cast<std::uint16_t>(random.below(5)));
  if constexpr (requires { entry.field; })
    if (which == 1) entry.field = Field_Id(static_cast<std::uint16_t>(random.below(5)));
  if constexpr (requires { entry.record; })
    if (which == 2) change_value(entry.record, random);
  if constexpr (requires { entry.size; })
    if (which == 3) change_value(entry.size, random);
  if constexpr (requires { entry.value; })
    if (which == 3) change_value(entry.value, random);
  if constexpr (requires { entry.name; })
    if (which == 3) change_value(entry.name, random);
  if constexpr (requires { entry.type; })
    if (which == 1) entry.type.code = static_cast<Type_Code>(1 + random.below(type_count));
  if constexpr (requires { entry.values.push_back(entry.values[0]); })
    if (which == 3) entry.values.resize(random.below(5));
}

void mutate(std::vector<Any_Entry>& entries, Random& random) {
  static const std::vector<Any_Entry> examples = testing::one_entry_of_each_kind();
  const auto place = [&](std::size_t more) {
    return entries.begin() + static_cast<std::ptrdiff_t>(random.below(entries.size() + more));
  };
  const std::size_t what = entries.empty() ? 0 : random.below(6);
  if (what == 0) {
    entries.insert(place(1), examples[random.below(examples.size())]);
  } else if (what == 1) {
    entries.erase(place(0));
  } else if (what == 2) {
    const Any_Entry copy = *place(0);
    entries.insert(place(1), copy);
  } else if (what == 3) {
    std::swap(*place(0), *place(0));
  } else {
    std::visit([&](auto& entry) { change(entry, random); }, place(0)->value());
  }
}

// Makes a header whose checkpoints cover the whole file, or a part of it.
std::string header_for(std::size_t size, Random& random) {
  const auto whole = static_cast<std::int64_t>(header_size + size);
  const auto part = static_cast<std::int64_t>(header_size + random.below(size + 1));
  Header header;
  const std::size_t kind = random.below(4);
  if (kind == 0)
    header.checkpoints = {whole, whole, journal_start, journal_start};
  else if (kind == 1)
    header.checkpoints = {part, part, whole, whole};
  else if (kind == 2)
    header.checkpoints = {part, part, -whole, -part};
  else
    header.checkpoints = {journal_start, journal_start, journal_start, -whole};
  const auto bytes = encode_header(header);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

// Mutates decoded entries, not bytes, so that the journal stays readable past the first few
// entries.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  if (size < header_size || random.below(4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  auto entries =
      entries_of({reinterpret_cast<const char*>(data) + header_size, size - header_size});
  for (std::size_t i = 0; i <= random.below(4); ++i) mutate(entries, random);
  std::string body;
  Context context;
  for (const Any_Entry& entry : entries) append_any(body, context, entry);
  const std::string file = header_for(body.size(), random) + body;
  if (file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, file.data(), file.size());
  return file.size();
}
