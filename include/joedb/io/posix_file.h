#ifndef JOEDB_IO_POSIX_FILE_H
#define JOEDB_IO_POSIX_FILE_H

#include <cstring>
#include <memory>
#include <string>

#include "joedb/io/named_file.h"

namespace joedb::inline v1 {

// A file of the operating system.
//
// Locks are open-file-description locks (Linux F_OFD_SETLK): they belong to this object, so the
// same file may be opened twice in one process. A writer that is alone holds the tail lock from the
// constructor to the destructor.
class File : public Named_File {
 public:
  // Throws Io_Error: "opening NAME: …", or "locking NAME: Resource temporarily unavailable" where
  // another writer has the file and the mode does not wait.
  File(const std::string& name, Open_Mode mode);
  ~File() override;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  // Words in the first page of the file are mapped to memory, where that is safe.
  void store_words(std::span<const std::int64_t> words, Offset offset) override;
  void load_words(std::span<std::int64_t> words, Offset offset) const override;
  void start_writeback(Offset start, Offset end) noexcept override;
  bool has_slow_growth() const override { return true; }
  bool truncate(Offset size) override;
  void shared_lock(Offset start, Offset size) override;
  void exclusive_lock(Offset start, Offset size) override;
  void unlock(Offset start, Offset size) noexcept override;
  bool try_exclusive_lock(Offset start, Offset size) override;

  // Whether another process, or object, may be appending to the file now: it holds the tail lock.
  bool is_being_written() const;
  std::unique_ptr<Abstract_File> open_beside(const std::string& suffix,
                                             Open_Mode mode) const override;

  // Sets the modification time to now, for those who watch the file.
  void touch();

 protected:
  // A file that is at `path`, in the directory of `name`.
  File(const std::string& name, Open_Mode mode, const std::string& path);

  // The file has a new name, or is perhaps new.
  void open_directory();

  void sync_content() override;
  void datasync_content() override;
  void sync_directory() override;

  // Where a file or device ends.
  Offset find_end() const;

  // For Mapped: one map of the file, from a multiple of map_page to `end`, where the file must not
  // end earlier. False if this file cannot be mapped. A store is a write in it.
  static constexpr Offset map_page = 4096;
  bool map(Offset start, Offset end);
  void unmap();
  void store(const char* data, std::size_t size, Offset offset) {
    std::memcpy(map_ + (offset - map_start_), data, size);
  }

 private:
  bool try_lock(int command, short type, Lock_Range range) const;
  void lock(int command, short type, Offset start, Offset size) const;
  void map_words(Offset end);
  void unmap_words();

  int descriptor_ = -1;
  int directory_ = -1;         // until it is synced
  bool may_map_words_ = true;  // where words are stored behind words_end_
  char* map_ = nullptr;
  Offset map_start_ = 0;
  std::size_t map_size_ = 0;
  std::int64_t* words_ = nullptr;  // the first page of the file
  Offset words_end_ = 0;           // up to there it is used
};

// A part of an open file, to be read: a database that is packed in another file. Locks do nothing.
class File_Slice : public Abstract_File {
 public:
  // Bytes [start, start + size) of a file descriptor, which must stay open.
  File_Slice(int descriptor, Offset start, Offset size)
      : Abstract_File("slice", Open_Mode::read_existing),
        descriptor_(descriptor),
        start_(start),
        size_(size) {}

  Offset get_size() const override { return size_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Throws Exception.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  const int descriptor_;
  const Offset start_;
  const Offset size_;
};

// A file or block device of fixed size whose size says nothing: the checkpoint alone tells where
// the journal ends. A database is created on it only if its first bytes are zeros.
class Device_File : public File {
 public:
  // Modes that would create a file are refused: the device must exist.
  Device_File(const std::string& name, Open_Mode mode);
  Offset get_size() const override { return unknown_size; }
  bool has_slow_growth() const override { return false; }
  // A write beyond the end of the device fails as on a full disk, before anything is written.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  bool truncate(Offset) override { return false; }
  std::unique_ptr<Abstract_File> open_beside(const std::string&, Open_Mode) const override {
    return nullptr;
  }

 private:
  const Offset capacity_;
};

}  // namespace joedb::inline v1

#endif
