#ifndef JOEDB_IO_MEMORY_FILE_H
#define JOEDB_IO_MEMORY_FILE_H

#include <cstddef>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file in memory, which is lost with the object. Locks and syncs do nothing: writers and readers
// of the same object must be in the same thread, except that another thread may call sync. The mode
// is only the value of get_mode(): reads and writes do not check it.
//
//     joedb::Memory_File file;
//     city::Writable_Database db(file);
//
// A write throws std::bad_alloc if memory is exhausted; nothing has been written then.
class Memory_File : public Abstract_File {
 public:
  // Makes an empty file named "memory".
  explicit Memory_File(Open_Mode mode = Open_Mode::create_new);

  // The content. It may be assigned before a journal is opened on the file. While a journal is
  // open, the bytes are complete only after its flush() or a checkpoint.
  std::vector<char>& get_data() { return data_; }
  const std::vector<char>& get_data() const { return data_; }

  Offset get_size() const override { return static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // A write past the end fills the gap with zeros.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  // A larger size appends zeros. Always returns true.
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  std::vector<char> data_;
};

// A read-only file (mode read_existing) whose bytes are in memory of the caller, such as a database
// that is compiled into the program. They are not copied; they must outlive this object and not
// change. Several threads may read.
class Readonly_Memory_File : public Abstract_File {
 public:
  Readonly_Memory_File(const void* data, std::size_t size);
  explicit Readonly_Memory_File(std::string_view data);
  explicit Readonly_Memory_File(const std::vector<char>& data);
  // `data` is stored at offset `start` of the file. The bytes before it cannot be read.
  Readonly_Memory_File(std::string_view data, Offset start);

  Offset get_size() const override { return start_ + static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Throws Exception.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  const std::string_view data_;
  const Offset start_ = 0;
};

}  // namespace joedb::inline v1

#endif
