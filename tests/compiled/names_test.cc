// A program whose headers define macros with the names of fields. Not part of a unity build.

#include <complex.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cassert>
#include <climits>
#include <cstdio>
#include <string>
#include <type_traits>

#include "hard_names.h"

namespace test::hard_names {
void(Writable_Database::assert)(Writable_Database&) {}
}  // namespace test::hard_names

namespace names_test {
namespace {

using namespace test::hard_names;

TEST(Compiled_Names, MayBeMacros) {
  Memory_Database db;
  const id_of_macro id = db.new_macro(1, "a", 2, 3.0, 4, true, 5, 6, 7, 8, 9);
  EXPECT_EQ(db.get_NULL(id), 1);
  EXPECT_EQ(db.get_EOF(id), "a");
  db.set_INT_MAX(id, 10);
  EXPECT_EQ(db.get_INT_MAX(id), 10);
  EXPECT_EQ(db.find_M_PI(1, "a", 3.0, 8).size(), 1u);
  EXPECT_EQ(db.get_major(db.new_macro({.assert = 1, .major = 2})), 2);
  const auto seek = db.new_SEEK_SET();
  db.set_BUFSIZ(seek, seek);
  EXPECT_EQ(db.get_BUFSIZ(seek), seek);
}

TEST(Compiled_Names, MayBeMacrosInIntrospection) {
  std::string names;
#define JOEDB_INTROSPECTION(type, name) names += std::is_same_v<type, int> ? "" : #name " "
#include "hard_names/tables/macro_introspection.h"
  EXPECT_EQ(names, "EOF INT_MAX I st_atime stdin ");
}

TEST(Compiled_Names, LeaveMacrosAsTheyWere) {
  static_assert(EOF == -1 && INT_MAX > 0 && BUFSIZ > 0);
  EXPECT_EQ(static_cast<void*>(NULL), nullptr);
  assert(major(makedev(8, 1)) == 8);
#if defined(update)
  FAIL();
#endif
}

}  // namespace
}  // namespace names_test
