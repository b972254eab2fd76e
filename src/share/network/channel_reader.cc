#include "joedb/network/channel.h"

#include <algorithm>

#include "share/network/protocol.h"

namespace joedb::inline v1 {

void Channel_Reader::read_exactly(char* data, std::size_t size) {
  while (size > 0) {
    std::size_t n;
    if (taken_ < filled_) {
      n = std::min(size, filled_ - taken_);
      std::copy_n(buffer_.data() + taken_, n, data);
      taken_ += n;
    } else if (size >= buffer_.size()) {
      n = channel_.read_some(data, size);
    } else {
      filled_ = channel_.read_some(buffer_.data(), buffer_.size());
      taken_ = 0;
      continue;
    }
    data += n;
    size -= n;
  }
}

char Channel_Reader::read_byte() {
  char c;
  read_exactly(&c, 1);
  return c;
}

std::int64_t Channel_Reader::read_number() {
  char bytes[8];
  read_exactly(bytes, sizeof bytes);
  return network::number_at({bytes, sizeof bytes}, 0);
}

}  // namespace joedb::inline v1
