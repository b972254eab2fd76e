#include "wal/source.h"

#include <algorithm>

namespace joedb::inline v1::wal {

std::string_view File_Source::view(Offset offset, std::size_t size) {
  const Offset end = offset + static_cast<Offset>(size);
  if (offset < start_ || end > start_ + static_cast<Offset>(used_)) {
    const auto left = static_cast<std::size_t>(std::max<Offset>(size_ - offset, 0));
    const std::size_t wanted = std::min(std::max(size, block_size), left);
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    used_ = 0;
    start_ = offset;
    used_ = file_.pread(buffer_.data(), wanted, offset);
  }
  const auto at = static_cast<std::size_t>(offset - start_);
  return {buffer_.data() + at, std::min(size, used_ - at)};
}

Offset File_Source::refresh() {
  used_ = 0;
  return size_ = file_.get_size();
}

}  // namespace joedb::inline v1::wal
