#ifndef BENCHMARKS_LOG_ENTRY_H
#define BENCHMARKS_LOG_ENTRY_H

#include <cstring>
#include <string_view>

#include "command_line.h"

// The entry that is appended to a log: 1,000 bytes, different each time.
class Log_Entry {
 public:
  Log_Entry() {
    for (std::size_t i = 0; i < sizeof bytes_; ++i)
      bytes_[i] = static_cast<char>(mix(static_cast<std::int64_t>(i)));
  }
  std::string_view text(std::int64_t number) {
    std::memcpy(bytes_, &number, sizeof number);
    return {bytes_, sizeof bytes_};
  }

 private:
  char bytes_[1000];
};

#endif
