#ifndef JOEDB_TESTS_SUPPORT_GOLDEN_H
#define JOEDB_TESTS_SUPPORT_GOLDEN_H

#include <string_view>

namespace joedb::testing {

// Fails the running test if `text` is not the content of tests/golden/NAME. With
// JOEDB_UPDATE_GOLDEN=1 in the environment (./dev golden --update), writes that file instead.
void expect_golden(std::string_view name, std::string_view text);

}  // namespace joedb::testing

#endif
