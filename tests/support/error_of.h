#ifndef JOEDB_TESTS_SUPPORT_ERROR_OF_H
#define JOEDB_TESTS_SUPPORT_ERROR_OF_H

#include <string>

#include "joedb/base/error.h"

namespace joedb::testing {

// Returns the message of the Error that f throws; "no error" if it throws none.
template <class Error = Exception, class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace joedb::testing

#endif
