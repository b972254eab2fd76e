#ifndef JOEDB_IO_LOCKED_MEMORY_FILE_H
#define JOEDB_IO_LOCKED_MEMORY_FILE_H

#include "joedb/base/mutex.h"
#include "joedb/io/memory_file.h"

namespace joedb::inline v1 {

// A Memory_File that one thread may write while others read, for servers. get_data() is not locked.
class Locked_Memory_File final : public Memory_File {
 public:
  using Memory_File::Memory_File;

  Offset get_size() const override {
    const Mutex_Lock lock(mutex_);
    return Memory_File::get_size();
  }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    const Mutex_Lock lock(mutex_);
    return Memory_File::pread(data, size, offset);
  }
  void pwrite(const char* data, std::size_t size, Offset offset) override {
    const Mutex_Lock lock(mutex_);
    Memory_File::pwrite(data, size, offset);
  }
  bool truncate(Offset size) override {
    const Mutex_Lock lock(mutex_);
    return Memory_File::truncate(size);
  }

 private:
  mutable Mutex mutex_;
};

}  // namespace joedb::inline v1

#endif
