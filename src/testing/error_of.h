#ifndef TESTING_ERROR_OF_H
#define TESTING_ERROR_OF_H

#include <exception>
#include <string>

namespace joedb::testing {

// What the exception that f throws says; "no error" if it throws none.
template <class Error = std::exception, class F>
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
