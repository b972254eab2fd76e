#include <cstdint>
#include <cstring>

#include "joedb/format/header.h"
#include "sim/lab/random.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Sets words to values close to meaningful ones, and often to equal ones.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  constexpr std::size_t full = joedb::header_size + 2;
  joedb::testing::Random random(seed);
  if (size < full || random.below(4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::uint16_t left = 0;
  std::memcpy(&left, data + joedb::header_size, sizeof left);
  const std::int64_t near[] = {0, joedb::journal_start, joedb::journal_start + left,
                               std::int64_t{1} << (40 + random.below(23))};
  std::int64_t word = near[random.below(4)] + static_cast<std::int64_t>(random.below(5)) - 2;
  if (random.flip()) word = -word;
  const std::size_t place = random.below(4);
  std::memcpy(data + 8 * place, &word, sizeof word);
  if (random.flip()) std::memcpy(data + 8 * (place ^ 1), &word, sizeof word);
  return full;
}
