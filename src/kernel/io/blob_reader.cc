#include "joedb/io/file.h"

#include <algorithm>

namespace joedb::inline v1 {

std::size_t Blob_Reader::read(char* data, std::size_t size) {
  const auto n = static_cast<std::size_t>(
      std::min(static_cast<std::int64_t>(std::min(size, std::size_t{1} << 30)), remaining()));
  file_.read_exactly(data, n, position_);
  position_ += static_cast<Offset>(n);
  return n;
}

}  // namespace joedb::inline v1
