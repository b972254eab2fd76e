#ifndef JOEDB_SRC_KERNEL_IO_SOURCE_FILE_H
#define JOEDB_SRC_KERNEL_IO_SOURCE_FILE_H

#include <string>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A read-only file whose bytes come from elsewhere: derive from it, and define get_size and pread.
// Writes and syncs throw Exception; locks do nothing.
class Source_File : public Abstract_File {
 public:
  explicit Source_File(std::string name)
      : Abstract_File(std::move(name), Open_Mode::read_existing) {}

  void pwrite(const char*, std::size_t, Offset) override { refuse(); }
  void sync() override { refuse(); }
  void datasync() override { refuse(); }
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  [[noreturn]] void refuse() const { throw Exception(get_name() + " can only be read"); }
};

}  // namespace joedb::inline v1

#endif
