#ifndef JOEDB_IO_POSIX_FILE_H
#define JOEDB_IO_POSIX_FILE_H

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "joedb/base/mutex.h"
#include "joedb/io/named_file.h"

namespace joedb::inline v1 {

// A file of the operating system (Linux).
//
// Locks are open-file-description locks (F_OFD_SETLK): they belong to this object, so the same file
// may be opened twice in one process. A writer that is alone holds the tail lock from the
// constructor to the destructor. All open files hold the presence lock, shared.
//
// A file may get its name from another one while the constructor waits for a lock (joedb_pack
// --in-place): then the one that has the name is opened.
//
// The directory of the file stays open, too: files beside it are opened there, whatever the current
// directory of the process is by then.
//
// A sync throws File_Replaced if another program has removed, replaced or cut the file: see
// require_not_replaced. A file that is not shared also notices there that others have changed the
// bytes which it had written last before the sync before.
//
// Functions throw Io_Error if a system call fails, Disk_Full if there is no room. A system call
// that a signal has interrupted is repeated, but not a sync.
class File : public Named_File {
 public:
  // New files get the permissions 0644, less the umask. Throws Io_Error: "opening NAME: …", or
  // "locking NAME: Resource temporarily unavailable" (EAGAIN) if another writer has the file and
  // the mode does not wait.
  File(const std::string& name, Open_Mode mode);
  ~File() override;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  bool pread_cached(char* data, std::size_t size, Offset offset) const override;
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
  bool is_replaced() const override;
  void require_not_replaced() const override;
  // Files with the name of this one and the suffix.
  std::unique_ptr<Abstract_File> open_beside(const std::string& suffix,
                                             Open_Mode mode) const override;
  void rename_beside(const std::string& from, const std::string& to) const override;
  void remove_beside(const std::string& suffix) const override;
  std::vector<std::string> list_beside(const std::string& prefix) const override;
  bool map_privately(char* address, std::size_t size, Offset offset) const override;
  // The same, but changes reach the file, and all who map it.
  bool map_shared(char* address, std::size_t size, Offset offset);

  // Sets the modification time to now, for programs that watch the file.
  void touch();

 protected:
  // A file that is at `path`, from the open directory `directory` on (AT_FDCWD: the current one). A
  // new one gets the owner and permissions of the open file `model` where that is possible, or, if
  // that is -1, `permissions` less the umask.
  File(const std::string& name, Open_Mode mode, int directory, const std::string& path,
       unsigned permissions = 0644, int model = -1);

  // The file has been given the name get_name(), in the directory in which it is.
  void set_own_name();
  // The file has no name any more.
  void forget_name() { own_name_.clear(); }
  int directory() const { return directory_; }
  int descriptor() const { return descriptor_; }
  friend struct File_Access;  // of io

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
  friend class Directory;
  // The last bytes of a write.
  struct Written {
    Offset offset = -1;  // -1: none
    std::array<char, 8> bytes{};
    bool operator==(const Written&) const = default;
  };

  void close() noexcept;
  void open_directory_of(int directory, const std::string& path);
  bool open(unsigned permissions);
  std::string beside(const std::string& suffix) const;
  void note_written(const char* data, std::size_t size, Offset offset);
  void forget_written(Offset start, Offset end);
  void sync_by(int (*call)(int));
  void watch();
  void lock_at_opening();
  bool has_name() const;
  bool try_lock(int command, short type, Lock_Range range) const;
  void lock(int command, short type, Offset start, Offset size) const;
  void map_words(Offset end);
  void unmap_words();

  int descriptor_ = -1;
  int directory_ = -1;
  std::string own_name_;  // in the directory; empty if it has none
  bool can_sync_directory_ = false;
  bool may_map_words_ = true;  // where words are stored behind words_end_
  char* map_ = nullptr;
  Offset map_start_ = 0;
  std::size_t map_size_ = 0;
  std::int64_t* words_ = nullptr;  // the first page of the file
  Offset words_end_ = 0;           // up to there it is used

  // To find out that others have changed the file. A sync may run in another thread.
  bool is_watched_ = false;  // nobody else may write to it
  mutable Mutex written_mutex_;
  Offset end_ JOEDB_GUARDED_BY(written_mutex_) = 0;     // of the file, or before
  unsigned cuts_ JOEDB_GUARDED_BY(written_mutex_) = 0;  // how often this object has cut it
  Written recent_ JOEDB_GUARDED_BY(written_mutex_);     // by the last write
  Written synced_ JOEDB_GUARDED_BY(written_mutex_);     // by the last write before the last sync
};

// A part of an open file, to be read: a database that is packed in another file. Its name in
// messages is "slice". Locks do nothing. Several threads may read.
class File_Slice : public Abstract_File {
 public:
  // Bytes [start, start + size) of a file descriptor, which must stay open as long as this object,
  // and is not closed by it.
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

// A file or block device of fixed size, which does not say where the journal ends: only the
// checkpoint does. A database is created on it only if its first 41 bytes are zeros.
class Device_File : public File {
 public:
  // The device must exist. Throws Exception for create_new, Io_Error for other modes if there is no
  // such device; write_existing_or_create_new means write_existing.
  Device_File(const std::string& name, Open_Mode mode);
  Offset get_size() const override { return unknown_size; }
  bool has_slow_growth() const override { return false; }
  // A write beyond the end of the device throws Disk_Full, before anything is written.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  bool truncate(Offset) override { return false; }
  std::unique_ptr<Abstract_File> open_beside(const std::string&, Open_Mode) const override {
    return nullptr;
  }
  void rename_beside(const std::string&, const std::string&) const override {}
  void remove_beside(const std::string&) const override {}
  std::vector<std::string> list_beside(const std::string&) const override { return {}; }

 private:
  const Offset capacity_;
};

}  // namespace joedb::inline v1

#endif
