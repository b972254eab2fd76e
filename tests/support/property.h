#ifndef JOEDB_TESTS_SUPPORT_PROPERTY_H
#define JOEDB_TESTS_SUPPORT_PROPERTY_H

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <utility>

#include "sim/lab/random.h"

namespace joedb::testing {

// Checks a RapidCheck property in the running test, with the same random cases in every run.
// JOEDB_TEST_SEED=N selects other cases.
template <class Testable>
void expect_property(Testable&& testable, int cases = 100) {
  rc::detail::TestParams parameters;
  parameters.seed = first_seed();
  parameters.maxSuccess = cases;
  const auto result = rc::detail::checkTestable(std::forward<Testable>(testable),
                                                rc::detail::TestMetadata(), parameters);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  ADD_FAILURE() << "seed " << parameters.seed << ": " << text.str();
}

}  // namespace joedb::testing

#endif
