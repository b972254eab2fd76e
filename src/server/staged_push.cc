#include "server/staged_push.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "joedb/base/error.h"
#include "joedb/io/posix_file.h"

namespace joedb::server {

Staged_Push::Staged_Push(Offset start, std::string path)
    : Source_File("push"), start_(start), path_(std::move(path)), end_(start) {}

void Staged_Push::append(std::string_view bytes) {
  if (!file_ && !fits_into_memory(bytes.size())) {
    std::error_code ignored;
    // A server that was killed just after making it has left it.
    std::filesystem::remove(path_, ignored);
    file_ = std::make_unique<File>(path_, Open_Mode::create_new);
    std::filesystem::remove(path_, ignored);  // nobody needs the name
    file_->pwrite(memory_.data(), memory_.size(), 0);
    memory_ = {};
  }
  if (file_)
    file_->pwrite(bytes.data(), bytes.size(), end_ - start_);
  else
    memory_.append(bytes);
  end_ += static_cast<Offset>(bytes.size());
}

std::size_t Staged_Push::pread(char* data, std::size_t size, Offset offset) const {
  if (offset < start_ || offset >= end_) return 0;
  const std::size_t n = std::min(size, static_cast<std::size_t>(end_ - offset));
  if (file_) return file_->pread(data, n, offset - start_);
  std::memcpy(data, memory_.data() + (offset - start_), n);
  return n;
}

}  // namespace joedb::server
