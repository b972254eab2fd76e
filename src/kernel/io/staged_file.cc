#include "kernel/io/staged_file.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

void Staged_File::append(std::string_view bytes) {
  if (!file_ && !fits_into_memory(bytes.size())) {
    file_ = make_file_();
    file_->pwrite(memory_.data(), memory_.size(), 0);
    memory_ = {};
  }
  if (file_)
    file_->pwrite(bytes.data(), bytes.size(), end_ - start_);
  else
    memory_.append(bytes);
  end_ += static_cast<Offset>(bytes.size());
}

void Staged_File::drop_after(Offset end) {
  assert(end >= start_ && end <= end_);
  end_ = end;
  if (!file_) memory_.resize(static_cast<std::size_t>(end - start_));
}

std::size_t Staged_File::pread(char* data, std::size_t size, Offset offset) const {
  if (offset < start_ || offset >= end_) return 0;
  const std::size_t n = std::min(size, static_cast<std::size_t>(end_ - offset));
  if (file_) return file_->pread(data, n, offset - start_);
  std::memcpy(data, memory_.data() + (offset - start_), n);
  return n;
}

}  // namespace joedb::inline v1
