#include "support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace joedb::testing {

void expect_golden(std::string_view name, std::string_view text) {
  const auto path = std::filesystem::path(JOEDB_SOURCE_DIR) / "tests" / "golden" / name;
  const char* const update = std::getenv("JOEDB_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(expected, text) << "differs from " << path
                            << "; if the change is meant: ./dev golden --update";
}

}  // namespace joedb::testing
