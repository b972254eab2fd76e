#ifndef JOEDB_BASE_MAIN_WRAPPER_H
#define JOEDB_BASE_MAIN_WRAPPER_H

#include <exception>
#include <iostream>
#include <string_view>
#include <type_traits>

namespace joedb::inline v1 {

// The words of a command line; [0] is the name of the program. Refers to the array of main without
// copying it. Valid indexes are 0 … size() - 1; they are not checked.
class Arguments {
 public:
  Arguments(int argc, const char* const* argv) : words_(argv), size_(argc) {}

  int size() const { return size_; }
  std::string_view operator[](int i) const { return words_[i]; }
  const char* const* begin() const { return words_; }
  const char* const* end() const { return words_ + size_; }

 private:
  const char* const* words_;
  int size_;
};

// The body of a main function: calls function(Arguments&), and returns the int that the function
// returns, or 0 if the function returns void. If the function throws a std::exception, writes
// "Exception caught: WHAT" to standard error, and returns 1. Exceptions of other types pass
// through.
template <class Function>
int main_wrapper(Function function, int argc, char** argv) {
  try {
    Arguments arguments(argc, argv);
    if constexpr (std::is_void_v<std::invoke_result_t<Function, Arguments&>>)
      return function(arguments), 0;
    else
      return function(arguments);
  } catch (const std::exception& error) {
    std::cerr << "Exception caught: " << error.what() << '\n';
    return 1;
  }
}

// The older form: calls function(argc, argv).
template <class Function>
int main_exception_catcher(Function function, int argc, char** argv) {
  return main_wrapper([&](Arguments&) { return function(argc, argv); }, argc, argv);
}

}  // namespace joedb::inline v1

#endif
