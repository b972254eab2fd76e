#ifndef JOEDB_IO_UPGRADABLE_FILE_H
#define JOEDB_IO_UPGRADABLE_FILE_H

#include <utility>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Lets a file that can only be read be opened by a Writable_Database: what is written goes nowhere.
// So a program can read a file with an older schema, upgraded in memory, and leave it as it is:
//
//     joedb::Upgradable_File<joedb::Readonly_Memory_File> file(data);
//     city::Writable_Database db(file);
//
// What is written cannot be read back: neither blobs, nor what a rollback to a new checkpoint
// needs.
template <class Parent>
class Upgradable_File : public Parent {
 public:
  template <class... Arguments>
  explicit Upgradable_File(Arguments&&... arguments)
      : Parent(std::forward<Arguments>(arguments)...) {
    this->set_mode(Open_Mode::write_existing);
  }

  // The file does not grow with what is written.
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
