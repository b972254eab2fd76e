#ifndef JOEDB_NETWORK_CHANNEL_READER_H
#define JOEDB_NETWORK_CHANNEL_READER_H

#include <cstdint>
#include <vector>

#include "joedb/network/channel.h"

namespace joedb::inline v1 {

// Reads from a channel through a buffer. All functions block until their bytes have arrived, and
// throw Connection_Lost. The channel must outlive the reader.
class Channel_Reader {
 public:
  explicit Channel_Reader(Channel& channel) : channel_(channel), buffer_(std::size_t{1} << 16) {}

  void read_exactly(char* data, std::size_t size);
  char read_byte();
  // Reads a signed 64-bit little-endian number.
  std::int64_t read_number();

 private:
  Channel& channel_;
  std::vector<char> buffer_;
  std::size_t taken_ = 0;   // number of bytes of buffer_ that have been read
  std::size_t filled_ = 0;  // number of bytes in buffer_
};

}  // namespace joedb::inline v1

#endif
