#include <cstdint>

#include "fuzz/fuzzers.h"
#include "support/file_uses.h"

// The entry point of every fuzz target; the build defines JOEDB_FUZZED, the function to call.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joedb::testing::JOEDB_FUZZED({reinterpret_cast<const char*>(data), size});
  return 0;
}
