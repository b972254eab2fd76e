#include "kernel/io/guarded_map.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

static struct sigaction earlier_action {};
static std::size_t system_page_size = 0;

Guarded_Map* Guarded_Map::take() {
  for (Guarded_Map* map = all; map != nullptr; map = map->next_) {
    bool is_used = false;
    if (map->is_used_.compare_exchange_strong(is_used, true)) return map;
  }
  auto* const map = new Guarded_Map;
  map->is_used_ = true;
  map->next_ = all;
  while (!all.compare_exchange_weak(map->next_, map)) {
  }
  return map;
}

Guarded_Map* Guarded_Map::add(char* start, std::size_t size, int protection) {
  static std::once_flag once;
  std::call_once(once, install_handler);
  Guarded_Map* const map = take();
  map->size_ = size;
  map->protection_ = protection;
  map->start_ = start;
  return map;
}

void Guarded_Map::release() {
  start_ = nullptr;  // done first, because the addresses may be reused once the caller unmaps them
  size_ = 0;
  was_cut_ = false;
  is_used_ = false;
}

// Maps zero pages from the page of `address` to the end of the map. The pages before it still map
// the file.
bool Guarded_Map::cover(char* address) {
  char* const begin = start_;
  if (begin == nullptr || address < begin || address >= begin + size_) return false;
  char* const from =
      begin + static_cast<std::size_t>(address - begin) / system_page_size * system_page_size;
  const auto rest = static_cast<std::size_t>(begin + size_ - from);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(from, rest, protection_, flags, -1, 0) == MAP_FAILED) return false;
  was_cut_ = true;
  ++cuts;
  return true;
}

void Guarded_Map::install_handler() {
  system_page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  // The signal handler may call mmap, because on Linux mmap is only a system call.
  action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const bool is_access = info->si_code > 0;  // raised by a memory access, not sent by a process
    for (Guarded_Map* map = all; is_access && map != nullptr; map = map->next_)
      if (map->cover(static_cast<char*>(info->si_addr))) {
        errno = error;
        return;
      }
    if ((earlier_action.sa_flags & SA_SIGINFO) != 0)
      earlier_action.sa_sigaction(signal, info, context);
    else if (earlier_action.sa_handler != SIG_DFL && earlier_action.sa_handler != SIG_IGN)
      earlier_action.sa_handler(signal);
    else
      // When the handler returns, the access faults again, and the previous action handles the
      // signal.
      ::sigaction(signal, &earlier_action, nullptr);
  };
  // Runtimes with small stacks, such as Go, require that every handler has SA_ONSTACK.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGBUS, &action, &earlier_action) != 0)
    throw Exception("cannot install a handler of SIGBUS");
}

}  // namespace joedb::inline v1
