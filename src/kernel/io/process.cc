#include "kernel/io/process.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"

namespace joedb::inline v1 {

std::string process_name() {
  std::string name = "process " + std::to_string(::getpid());
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) name += " on " + std::string(host.data());
  return name;
}

// /proc/PID/statm (proc(5)) has numbers of pages: total size, resident, resident file pages. On
// kernels with per-CPU counters, the numbers may be off by some hundred kB.
std::size_t private_memory() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0, resident = 0, file_backed = 0;
  if (!(statm >> size >> resident >> file_backed) || file_backed > resident) return 0;
  return (resident - file_backed) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Called only if necessary, because a filter of systemd may end processes that set limits.
std::size_t raise_file_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

// ---- child processes (joedb/base/threads.h) ----------------------------------------------------

constinit std::atomic<unsigned> Process_Mark::forks = 0;

// Runs in each child, before fork() returns there.
[[maybe_unused]] const int Process_Mark::is_counting =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

void Process_Mark::refuse(std::string_view name) { throw Inherited_Object(name); }

// The list is allocated and never destroyed, because a static object would be destroyed at exit. It
// needs no mutex, because a child of fork() has one thread.
void keep_until_exit(std::shared_ptr<void> object) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  kept->push_back(std::move(object));
}

std::size_t terminal_width() noexcept {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace joedb::inline v1
