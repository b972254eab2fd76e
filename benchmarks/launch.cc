// launch RESULT COMMAND...: runs a command, and writes to the file RESULT what it took: seconds,
// seconds of the processor in the program and in the system, and kilobytes of memory at the peak.
// The system counts the memory of who starts a process as its own: hence a small program does it.

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>

static double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto start = std::chrono::steady_clock::now();
  pid_t child;
  int status;
  rusage usage;
  if (posix_spawnp(&child, argv[2], nullptr, nullptr, argv + 2, environ) != 0 ||
      wait4(child, &status, 0, &usage) != child)
    return 1;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::FILE* const result = std::fopen(argv[1], "w");
  if (!result) return 1;
  std::fprintf(result, "%.6f %.6f %.6f %ld\n", time.count(), seconds(usage.ru_utime),
               seconds(usage.ru_stime), usage.ru_maxrss);
  std::fclose(result);
  return status == 0 ? 0 : 1;
}
