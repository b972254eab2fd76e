#ifndef JOEDB_SRC_KERNEL_IO_READ_MAP_H
#define JOEDB_SRC_KERNEL_IO_READ_MAP_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

class Guarded_Map;

// A file mapped to memory, for reading without copying while other processes write to it, append to
// it, or truncate it.
//
// If the file is truncated, reading a missing page would kill the process (SIGBUS). The first
// object installs a process-wide handler for this signal. If an address is in such a map, the
// handler replaces the missing pages by zeros, and require_intact throws. All other SIGBUS signals
// go to the previous handler; so a program must install its own handlers before. If the handler
// cannot be installed, the constructor throws Exception.
//
// Different objects may be used by different threads.
class Read_Map {
 public:
  // Throws Io_Error.
  explicit Read_Map(const std::string& name);
  ~Read_Map();
  Read_Map(const Read_Map&) = delete;
  Read_Map& operator=(const Read_Map&) = delete;

  // Returns the bytes [offset, offset + size), but not past size(). The bytes stay valid, at the
  // same address, for the lifetime of this object.
  std::string_view view(Offset offset, std::size_t size) const;

  // Sets size() to the current size of the file, and returns it. Throws Io_Error.
  Offset refresh();
  Offset size() const { return size_; }

  // Throws Io_Error if an access through the map has encountered a truncation or a read error.
  void require_intact() const;

 private:
  struct Range {
    char* start;
    std::size_t size;
    Guarded_Map* guard;
  };
  const std::string name_;
  int descriptor_ = -1;
  Offset size_ = 0;
  std::vector<Range> ranges_;  // the last one maps the whole file; views may refer to any
};

}  // namespace joedb::inline v1

#endif
