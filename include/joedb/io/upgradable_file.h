#ifndef JOEDB_IO_UPGRADABLE_FILE_H
#define JOEDB_IO_UPGRADABLE_FILE_H

#include <utility>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Lets a Writable_Database open a read-only file: written bytes are discarded. A program can thus
// read a file with an older schema, which is upgraded in memory, while the file does not change:
//
//     joedb::Upgradable_File<joedb::Readonly_Memory_File> file(data);
//     city::Writable_Database db(file);
//
// Written bytes cannot be read back. So new blobs cannot be read, and rolling back to a checkpoint
// that was written through this object fails.
template <class Parent>
class Upgradable_File : public Parent {
 public:
  template <class... Arguments>
  explicit Upgradable_File(Arguments&&... arguments)
      : Parent(std::forward<Arguments>(arguments)...) {
    this->set_mode(Open_Mode::write_existing);
  }

  // unknown_size, because the file does not grow when bytes are written.
  Offset get_size() const override { return Abstract_File::unknown_size; }
  void pwrite(const char*, std::size_t, Offset) override {}
  void store_words(std::span<const std::int64_t>, Offset) override {}
  void sync() override {}
  void datasync() override {}
  bool truncate(Offset) override { return false; }
  void exclusive_lock(Offset start, Offset size) override { this->shared_lock(start, size); }
  bool try_exclusive_lock(Offset start, Offset size) override {
    this->shared_lock(start, size);
    return true;
  }
};

}  // namespace joedb::inline v1

#endif
