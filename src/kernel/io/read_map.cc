#include "kernel/io/read_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "joedb/base/error.h"
#include "kernel/io/descriptor.h"
#include "kernel/io/guarded_map.h"

namespace joedb::inline v1 {

Read_Map::Read_Map(const std::string& name)
    : name_(name), descriptor_(open_descriptor(AT_FDCWD, name.c_str(), O_RDONLY)) {
  if (descriptor_ < 0) throw_io_error("opening", name_, -1, errno);
  try {
    refresh();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Read_Map::~Read_Map() {
  for (const Range& range : ranges_) {
    range.guard->release();
    ::munmap(range.start, range.size);
  }
  ::close(descriptor_);
}

// Maps far past the end of the file, so that growth rarely needs a new map.
Offset Read_Map::refresh() {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) throw_io_error("reading the size of", name_, -1, errno);
  const auto wanted = static_cast<std::size_t>(status.st_size);
  if (wanted > (ranges_.empty() ? 0 : ranges_.back().size)) {
    constexpr std::size_t least = std::size_t{1} << 26;
    const std::size_t size = std::max(2 * wanted, least);
    ranges_.reserve(ranges_.size() + 1);
    void* const start =
        ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
    if (start == MAP_FAILED) throw_io_error("mapping", name_, -1, errno);
    try {
      char* const bytes = static_cast<char*>(start);
      ranges_.push_back({bytes, size, Guarded_Map::add(bytes, size, PROT_READ)});
    } catch (...) {
      ::munmap(start, size);
      throw;
    }
  }
  return size_ = status.st_size;
}

std::string_view Read_Map::view(Offset offset, std::size_t size) const {
  if (offset < 0 || offset >= size_) return {};
  const auto left = static_cast<std::size_t>(size_ - offset);
  return {ranges_.back().start + offset, std::min(size, left)};
}

void Read_Map::require_intact() const {
  for (const Range& range : ranges_)
    if (range.guard->was_cut())
      throw_io_error("reading through a map (it was cut, or cannot be read)", name_, -1, EIO);
}

}  // namespace joedb::inline v1
