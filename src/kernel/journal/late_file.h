#ifndef JOEDB_SRC_KERNEL_JOURNAL_LATE_FILE_H
#define JOEDB_SRC_KERNEL_JOURNAL_LATE_FILE_H

#include <memory>
#include <string>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/file_identity.h"

namespace joedb::inline v1 {

// A journal file that is not there yet. Until it is, it is read as a database without entries,
// which is kept in memory. A journal that is about to append, or takes the write lock, makes the
// file (ensure_exists), whole and synced under its name: a process that is killed before leaves
// nothing.
//
// Another process may make the file meanwhile. In the modes shared_write and read_existing, that
// file is used from the next lock on. An exclusive writer has not seen its content, and cannot
// write any more: ensure_exists throws.
class Late_File final : public Abstract_File, public Has_Identity {
 public:
  // Throws Io_Error, as the creation would, if there is no folder, or it cannot be written to. With
  // the mode read_existing, this object never makes the file; a file that reopen() returns may.
  Late_File(const std::string& name, Open_Mode mode,
            System::Duration busy_timeout = default_busy_timeout);

  // Returns the file of the operating system that `file` is, or has made. Null if there is none.
  static File* find_file(Abstract_File& file);

  // Throws Exception if this is an exclusive writer, and there is a file by now; Corruption_Error
  // if another program has made a file that is no joedb file. So do the functions that lock.
  void ensure_exists() override;

  Offset get_size() const override { return current().get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    return current().pread(data, size, offset);
  }
  bool pread_cached(char* data, std::size_t size, Offset offset) const override {
    return current().pread_cached(data, size, offset);
  }
  // Writes to the header do not make the file; others do.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void store_words(std::span<const std::int64_t> words, Offset offset) override {
    current().store_words(words, offset);
  }
  void load_words(std::span<std::int64_t> words, Offset offset) const override {
    current().load_words(words, offset);
  }
  void sync() override { current().sync(); }
  void datasync() override { current().datasync(); }
  void start_writeback(Offset start, Offset end) noexcept override {
    current().start_writeback(start, end);
  }
  bool has_slow_growth() const override { return true; }
  bool truncate(Offset size) override { return current().truncate(size); }
  void shared_lock(Offset start, Offset size) override;
  void exclusive_lock(Offset start, Offset size) override;
  void unlock(Offset start, Offset size) noexcept override { current().unlock(start, size); }
  bool try_exclusive_lock(Offset start, Offset size) override;
  void set_busy_timeout(System::Duration timeout) override;

  std::unique_ptr<Abstract_Directory> beside() const override { return current().beside(); }
  // A mode that writes makes the file. Returns null for read_existing if there is none.
  std::unique_ptr<Abstract_File> reopen(Open_Mode mode) const override;
  bool is_replaced() const override { return current().is_replaced(); }
  void require_not_replaced() const override { current().require_not_replaced(); }
  bool is_inherited() const override { return current().is_inherited(); }
  std::optional<File_Identity> identity() const override { return identity_of(current()); }

 private:
  Abstract_File& current() { return file_ ? *file_ : static_cast<Abstract_File&>(draft_); }
  const Abstract_File& current() const {
    return file_ ? *file_ : static_cast<const Abstract_File&>(draft_);
  }
  void open_if_there();

  System::Duration busy_timeout_;
  Memory_File draft_;  // the header
  std::unique_ptr<File> file_;
};

}  // namespace joedb::inline v1

#endif
