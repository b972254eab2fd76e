#include <cstdint>

#include "testing/file_uses.h"

// A file of any bytes, read and written; the corpus is the small files of tests/conformance.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joedb::testing::use_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
