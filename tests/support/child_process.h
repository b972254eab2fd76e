#ifndef JOEDB_TESTS_SUPPORT_CHILD_PROCESS_H
#define JOEDB_TESTS_SUPPORT_CHILD_PROCESS_H

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>

namespace joedb::testing {

// Calls f() in a child process made by fork(). Returns the text that f() returns there, or the
// message of the exception that it throws. The child exits without running destructors. A child
// that hangs is killed after 20 seconds.
template <class F>
std::string in_child(F f) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned max_seconds = 20;
    ::alarm(max_seconds);
    std::string text;
    try {
      text = f();
    } catch (const std::exception& error) {
      text = error.what();
    }
    const bool is_written =
        ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(is_written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char bytes[256];
  for (ssize_t n; (n = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) text += "killed by signal " + std::to_string(WTERMSIG(status));
  return text;
}

}  // namespace joedb::testing

#endif
