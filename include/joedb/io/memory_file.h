#ifndef JOEDB_IO_MEMORY_FILE_H
#define JOEDB_IO_MEMORY_FILE_H

#include <cstddef>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file in memory, which is lost with the object. Locks and syncs do nothing: writers and readers
// of the same object must not be in different threads, except that one may be in a sync. The mode
// is only what get_mode() says: it is not checked by reads and writes.
//
//     joedb::Memory_File file;
//     city::Writable_Database db(file);
//
// A write throws std::bad_alloc without memory; nothing has been written then.
class Memory_File : public Abstract_File {
 public:
  // An empty file. Its name is "memory".
  explicit Memory_File(Open_Mode mode = Open_Mode::create_new);

  // The content. It may be assigned before a journal is opened on the file; the bytes of a journal
  // that is open are not complete before its flush() or a checkpoint.
  std::vector<char>& get_data() { return data_; }
  const std::vector<char>& get_data() const { return data_; }

  Offset get_size() const override { return static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Behind the end, fills the gap with zeros.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  // A larger size adds zeros. Always true.
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  std::vector<char> data_;
};

// Bytes in memory of the caller, as a file in mode read_existing: a database in the program itself,
// for example. They are not copied, and must outlive this object and not change. Several threads
// may read.
class Readonly_Memory_File : public Abstract_File {
 public:
  Readonly_Memory_File(const void* data, std::size_t size);
  explicit Readonly_Memory_File(std::string_view data);
  explicit Readonly_Memory_File(const std::vector<char>& data);
  // The bytes stand at `start` of the file. What is before them cannot be read.
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
