#include <cstdint>

#include "sim/testing/fuzzers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joedb::testing::fuzz_sql({reinterpret_cast<const char*>(data), size});
  return 0;
}
