#include "joedb/io/memory_file.h"

#include <algorithm>
#include <cstring>

namespace joedb::inline v1 {

static std::size_t read_from(std::string_view from, char* data, std::size_t size, Offset offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) >= from.size()) return 0;
  const std::string_view source = from.substr(static_cast<std::size_t>(offset), size);
  std::copy(source.begin(), source.end(), data);
  return source.size();
}

Memory_File::Memory_File(Open_Mode mode) : Abstract_File("memory", mode) {}

std::size_t Memory_File::pread(char* data, std::size_t size, Offset offset) const {
  return read_from({data_.data(), data_.size()}, data, size, offset);
}

void Memory_File::pwrite(const char* data, std::size_t size, Offset offset) {
  if (size == 0) return;
  const auto start = static_cast<std::size_t>(offset);
  if (data_.size() < start + size) data_.resize(start + size);
  std::memcpy(data_.data() + start, data, size);
}

bool Memory_File::truncate(Offset size) {
  data_.resize(static_cast<std::size_t>(size));
  return true;
}

Readonly_Memory_File::Readonly_Memory_File(const void* data, std::size_t size)
    : Readonly_Memory_File(std::string_view(static_cast<const char*>(data), size)) {}

Readonly_Memory_File::Readonly_Memory_File(std::string_view data) : Readonly_Memory_File(data, 0) {}

Readonly_Memory_File::Readonly_Memory_File(const std::vector<char>& data)
    : Readonly_Memory_File(std::string_view(data.data(), data.size())) {}

Readonly_Memory_File::Readonly_Memory_File(std::string_view data, Offset start)
    : Readonly_File("memory"), data_(data), start_(start) {}

std::size_t Readonly_Memory_File::pread(char* data, std::size_t size, Offset offset) const {
  return read_from(data_, data, size, offset - start_);
}

}  // namespace joedb::inline v1
