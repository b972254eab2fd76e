#ifndef JOEDB_NETWORK_CHANNEL_READER_H
#define JOEDB_NETWORK_CHANNEL_READER_H

#include <cstdint>
#include <vector>

#include "joedb/network/channel.h"

namespace joedb::inline v1 {

// Reads from a channel through a buffer. All functions wait for their bytes, and throw
// Connection_Lost. The channel must outlive the reader.
class Channel_Reader {
 public:
  explicit Channel_Reader(Channel& channel) : channel_(channel), buffer_(std::size_t{1} << 16) {}

  void read_exactly(char* data, std::size_t size);
  char read_byte();
  // 64 bits, signed, little-endian.
  std::int64_t read_number();

 private:
  Channel& channel_;
  std::vector<char> buffer_;
  std::size_t taken_ = 0;   // of buffer_
  std::size_t filled_ = 0;  // of buffer_
};

}  // namespace joedb::inline v1

#endif
