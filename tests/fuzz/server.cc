#include <cstdint>

#include "sim/testing/fuzzers.h"

// Input: the requests of clients. The corpus is the recorded sessions of tests/network, and more.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joedb::testing::fuzz_server({reinterpret_cast<const char*>(data), size});
  return 0;
}
