#include "joedb/io/read_map.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

// A map, as the handler of the signal finds it. Ranges are never freed, only used again.
struct Read_Map::Range {
  std::atomic<char*> start = nullptr;
  std::atomic<std::size_t> size = 0;
  std::atomic<bool> is_used = false;
  std::atomic<bool> was_cut = false;
  Range* next = nullptr;

  static inline std::atomic<Range*> all = nullptr;
  static inline struct sigaction earlier {};
  static inline std::size_t page = 0;

  static Range* take() {
    for (Range* range = all; range != nullptr; range = range->next) {
      bool is_used = false;
      if (range->is_used.compare_exchange_strong(is_used, true)) return range;
    }
    auto* const range = new Range;
    range->is_used = true;
    range->next = all;
    while (!all.compare_exchange_weak(range->next, range)) {
    }
    return range;
  }

  void release() {
    char* const begin = start.exchange(nullptr);  // before somebody else gets the addresses
    ::munmap(begin, size);
    size = 0;
    was_cut = false;
    is_used = false;
  }

  // Puts pages of zeros from the address to the end of the map: what it shows of the file before
  // stays.
  bool cover(char* address) {
    char* const begin = start;
    if (begin == nullptr || address < begin || address >= begin + size) return false;
    char* const from = begin + static_cast<std::size_t>(address - begin) / page * page;
    const auto rest = static_cast<std::size_t>(begin + size - from);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (::mmap(from, rest, PROT_READ, flags, -1, 0) == MAP_FAILED) return false;
    was_cut = true;
    return true;
  }

  // mmap is a system call and nothing else on Linux, so that a handler may call it.
  static void handle(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const bool is_access = info->si_code > 0;  // nobody has sent it
    for (Range* range = all; is_access && range != nullptr; range = range->next)
      if (range->cover(static_cast<char*>(info->si_addr))) {
        errno = error;
        return;
      }
    if ((earlier.sa_flags & SA_SIGINFO) != 0)
      earlier.sa_sigaction(signal, info, context);
    else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
      earlier.sa_handler(signal);
    else
      ::sigaction(signal, &earlier, nullptr);  // it comes again, and does what it did without us
  }

  static void install_handler() {
    static std::once_flag once;
    std::call_once(once, [] {
      page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
      struct sigaction action {};
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      if (::sigaction(SIGBUS, &action, &earlier) != 0)
        throw Exception("cannot install a handler of SIGBUS");
    });
  }
};

Read_Map::Read_Map(const std::string& name)
    : name_(name), descriptor_(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw_io_error("opening", name_, -1, errno);
  try {
    Range::install_handler();
    refresh();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Read_Map::~Read_Map() {
  for (Range* range : ranges_) range->release();
  ::close(descriptor_);
}

// A map reaches far beyond the end of the file, so that it need not be made again soon.
Offset Read_Map::refresh() {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) throw_io_error("reading the size of", name_, -1, errno);
  const auto wanted = static_cast<std::size_t>(status.st_size);
  if (wanted > (ranges_.empty() ? 0 : ranges_.back()->size.load())) {
    constexpr std::size_t least = std::size_t{1} << 26;
    const std::size_t size = std::max(2 * wanted, least);
    ranges_.reserve(ranges_.size() + 1);
    Range* const range = Range::take();
    void* const start =
        ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
    if (start == MAP_FAILED) {
      const int error = errno;
      range->is_used = false;
      throw_io_error("mapping", name_, -1, error);
    }
    range->size = size;
    range->start = static_cast<char*>(start);
    ranges_.push_back(range);
  }
  return size_ = status.st_size;
}

std::string_view Read_Map::view(Offset offset, std::size_t size) const {
  if (offset < 0 || offset >= size_) return {};
  const auto left = static_cast<std::size_t>(size_ - offset);
  return {ranges_.back()->start + offset, std::min(size, left)};
}

void Read_Map::require_intact() const {
  for (const Range* range : ranges_)
    if (range->was_cut)
      throw_io_error("reading through a map (it was cut, or cannot be read)", name_, -1, EIO);
}

}  // namespace joedb::inline v1
