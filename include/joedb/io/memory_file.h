#ifndef JOEDB_IO_MEMORY_FILE_H
#define JOEDB_IO_MEMORY_FILE_H

#include <cstddef>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file in memory. Locks and syncs do nothing.
class Memory_File : public Abstract_File {
 public:
  explicit Memory_File(Open_Mode mode = Open_Mode::create_new);

  // The content; what is put here is what will be read.
  std::vector<char>& get_data() { return data_; }
  const std::vector<char>& get_data() const { return data_; }

  Offset get_size() const override { return static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  std::vector<char> data_;
};

// Bytes that stay where they are, and must outlive this object. Writing throws.
class Readonly_Memory_File : public Abstract_File {
 public:
  Readonly_Memory_File(const void* data, std::size_t size);
  explicit Readonly_Memory_File(std::string_view data);
  explicit Readonly_Memory_File(const std::vector<char>& data);

  Offset get_size() const override { return static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  const std::string_view data_;
};

}  // namespace joedb::inline v1

#endif
