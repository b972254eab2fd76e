#ifndef JOEDB_IO_READ_MAP_H
#define JOEDB_IO_READ_MAP_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

class Guarded_Map;

// A file mapped to memory, to be read without copying, while others may write to it, append to it,
// or cut it.
//
// Bytes that are read where somebody has cut the file would kill the process (SIGBUS). The first
// object installs a handler of this signal for the whole process, for addresses in such maps only:
// then there are zeros, and require_intact throws. The handler that was there before gets all other
// signals. Install handlers of your own before.
//
// Different objects may be used by different threads.
class Read_Map {
 public:
  // Throws Io_Error.
  explicit Read_Map(const std::string& name);
  ~Read_Map();
  Read_Map(const Read_Map&) = delete;
  Read_Map& operator=(const Read_Map&) = delete;

  // The bytes [offset, offset + size), fewer only at the end of the file as it was at the last
  // refresh. They stay where they are as long as this object lives.
  std::string_view view(Offset offset, std::size_t size) const;

  // Looks how long the file is now. Returns it.
  Offset refresh();
  Offset size() const { return size_; }

  // Throws Io_Error if the file was cut where it had been read.
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
  std::vector<Range> ranges_;  // the last one shows the whole file
};

}  // namespace joedb::inline v1

#endif
