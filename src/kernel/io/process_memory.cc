#include "kernel/io/process_memory.h"

#include <unistd.h>

#include <fstream>

namespace joedb::inline v1 {

// proc(5), /proc/PID/statm: numbers of pages: total size, resident, resident file pages. Kernels
// with per-CPU counters may be off by some hundred kB.
std::size_t private_memory() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0, resident = 0, file_backed = 0;
  if (!(statm >> size >> resident >> file_backed) || file_backed > resident) return 0;
  return (resident - file_backed) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace joedb::inline v1
