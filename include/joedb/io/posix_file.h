#ifndef JOEDB_IO_POSIX_FILE_H
#define JOEDB_IO_POSIX_FILE_H

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file that has a name in a directory. The first sync also syncs the directory: otherwise a power
// cut could lose the name of a new file, and so all its content.
//
// The first sync of every writable object does this, even if the object has not created the file:
// the process that created the file may have ended before its own first sync.
class Named_File : public Abstract_File {
 public:
  using Abstract_File::Abstract_File;

  void sync() override {
    sync_content();
    sync_name();
  }
  void datasync() override {
    datasync_content();
    sync_name();
  }

  bool is_inherited() const override { return process_.is_inherited(); }

 protected:
  // For derived classes: sync_content and datasync_content are sync and datasync without the
  // directory; sync_directory syncs only the directory. They throw Io_Error. If the directory could
  // not be synced, the next sync tries again.
  virtual void sync_content() = 0;
  virtual void datasync_content() = 0;
  virtual void sync_directory() = 0;

  // Makes the next sync include the directory, because the file may be new or have a new name.
  void set_new_name() { has_new_name_ = true; }
  void sync_name() {
    if (!has_new_name_) return;
    sync_directory();
    has_new_name_ = false;
  }

 private:
  const Process_Mark process_;
  bool has_new_name_ = false;
};

// How long a file waits for a lock, unless the program says otherwise. Transactions usually take
// less than a second; a holder that is stopped, or hangs, should be noticed soon.
inline constexpr System::Duration default_busy_timeout = std::chrono::seconds(5);

// A file of the operating system (Linux).
//
// Locks are open-file-description locks (F_OFD_SETLK): they belong to this object, so one process
// may open the same file twice. An exclusive writer holds the tail lock from the constructor to the
// destructor. All open files hold the presence lock, shared.
//
// A pipe or a device is refused at once. A name that is a link to nothing is followed: a mode that
// creates files, other than create_new, creates the file where the link points.
//
// If another file gets the name while the constructor waits for a lock (joedb_pack --in-place), the
// constructor opens the other file instead.
//
// Each wait for a lock ends after the busy timeout of the file, with Lock_Timeout, which names the
// holder: in the constructor, when a journal is opened, and at each transaction. With
// System::Duration::max(), the file waits for ever; with 0, it does not wait. A wait while a
// checkpoint is written takes at least default_busy_timeout, because a failure would disable
// writing.
//
// The directory of the file stays open, too: files beside this file are opened in this directory
// even if the current directory of the process has changed.
//
// A sync throws File_Replaced if another program has removed, replaced or truncated the file: see
// require_not_replaced. For a file that is not shared, a sync also throws if another program has
// changed the last bytes that were written before the previous sync.
//
// Functions throw Io_Error if a system call fails, and Disk_Full if there is no space. A system
// call that a signal interrupts is retried, except a sync.
//
// A write past the limit on file sizes (RLIMIT_FSIZE) throws Disk_Full (EFBIG), and does not raise
// SIGXFSZ, unless the program lowers its limit while it writes.
class File : public Named_File {
 public:
  // A new file gets the permissions 0644 minus the umask. Throws Io_Error: "opening NAME: …";
  // File_Locked if another writer has the file open and the mode does not wait; and Lock_Timeout.
  // The file waits by calling system.sleep(), for up to 1 ms at a time; an exception of sleep()
  // ends the wait. `system` must outlive the file.
  File(const std::string& name, Open_Mode mode,
       System::Duration busy_timeout = default_busy_timeout, System& system = System::real());
  ~File() override;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  bool pread_cached(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  // Words in the first page of the file are mapped to memory on file systems where that is safe.
  void store_words(std::span<const std::int64_t> words, Offset offset) override;
  void load_words(std::span<std::int64_t> words, Offset offset) const override;
  void start_writeback(Offset start, Offset end) noexcept override;
  bool has_slow_growth() const override { return true; }
  bool truncate(Offset size) override;
  void shared_lock(Offset start, Offset size) override;
  void exclusive_lock(Offset start, Offset size) override;
  void unlock(Offset start, Offset size) noexcept override;
  bool try_exclusive_lock(Offset start, Offset size) override;
  void set_busy_timeout(System::Duration timeout) override { busy_timeout_ = timeout; }

  // True if another process or object holds the tail lock, and so may be appending to the file now.
  bool is_being_written() const;
  bool is_replaced() const override;
  void require_not_replaced() const override;
  // Renaming and removing throw Inherited_Object in a child process.
  std::unique_ptr<Abstract_Directory> beside() const override;

  // Maps [offset, offset + size) privately (copy-on-write) at `address`, where the caller has
  // reserved addresses up to the next multiple of 4096. `address` and `offset` are multiples of
  // 4096. Returns false if the file cannot be mapped.
  bool map_privately(char* address, std::size_t size, Offset offset) const;
  // Like map_privately, but shared: changes reach the file and all its other maps. From then on,
  // this object no longer checks whether other programs change its bytes.
  bool map_shared(char* address, std::size_t size, Offset offset);

  // Sets the modification time to now, for programs that watch the file.
  void touch();

 protected:
  // Opens the file at `path`, relative to the open directory `directory` (AT_FDCWD: the current
  // directory). A new file gets the owner and permissions of the open file `model` if the system
  // allows it; if `model` is -1, it gets `permissions` minus the umask.
  File(const std::string& name, Open_Mode mode, int directory, const std::string& path,
       unsigned permissions = 0644, int model = -1,
       System::Duration busy_timeout = default_busy_timeout, System& system = System::real(),
       bool is_device = false);

  // Call this when the file has been renamed to get_name(), in the same directory.
  void set_own_name();
  // Call this when the file has no name any more.
  void forget_name() { own_name_.clear(); }
  int descriptor() const { return descriptor_; }
  friend struct File_Access;  // internal to module io

  void sync_content() override;
  void datasync_content() override;
  void sync_directory() override;

  // Returns the offset of the end of a file or device. Throws Io_Error.
  Offset find_end() const;

  // For Mapped: a map of the file from `start`, a multiple of map_page, to `end`; the file must not
  // end earlier. map returns false if this file cannot be mapped. store writes to the map.
  static constexpr Offset map_page = 4096;
  bool map(Offset start, Offset end);
  void unmap();
  void store(const char* data, std::size_t size, Offset offset) {
    std::memcpy(map_ + (offset - map_start_), data, size);
  }

 private:
  friend class Directory;
  // The last 8 bytes of a write.
  struct Written {
    Offset offset = -1;  // -1: none
    std::array<char, 8> bytes{};
    bool operator==(const Written&) const = default;
  };

  void close() noexcept;
  std::size_t allowed(std::size_t size, Offset offset);
  void open_directory_of(int directory, const std::string& path);
  bool open(unsigned permissions);
  void require_file(bool may_be_device) const;
  // Derived from get_name(): it differs from own_name_ until a New_File is published.
  std::string base_name() const { return get_name().substr(get_name().rfind('/') + 1); }
  void note_written(const char* data, std::size_t size, Offset offset);
  void forget_written(Offset start, Offset end);
  void sync_by(int (*call)(int));
  void watch();
  void lock_at_opening();
  bool has_name() const;
  bool try_lock(short type, Lock_Range range) const;
  void lock(short type, Lock_Range range, System::Duration patience) const;
  void give_way() const;
  void map_words(Offset end);
  void unmap_words();

  System::Duration busy_timeout_;
  System& system_;
  mutable unsigned locks_ = 0;  // number of waits for the tail lock, or attempts
  int descriptor_ = -1;
  std::shared_ptr<const Descriptor> directory_;
  std::string own_name_;  // name in the directory; empty if it has none
  bool can_sync_directory_ = false;
  bool may_map_words_ = true;            // try to map words past words_end_
  std::atomic<Offset> allowed_end_ = 0;  // writes up to here are within RLIMIT_FSIZE
  char* map_ = nullptr;
  Offset map_start_ = 0;
  std::size_t map_size_ = 0;
  std::int64_t* words_ = nullptr;  // map of the first page of the file
  Offset words_end_ = 0;           // end of the part of the map that is used

  // State for detecting changes by others. A sync may run in another thread.
  bool is_watched_ = false;  // true if only this object may write to it
  mutable Mutex written_mutex_;
  Offset end_ JOEDB_GUARDED_BY(written_mutex_) = 0;     // lower bound of the file size
  unsigned cuts_ JOEDB_GUARDED_BY(written_mutex_) = 0;  // number of truncations by this object
  Written recent_ JOEDB_GUARDED_BY(written_mutex_);     // end of the last write
  // End of the last write before the last sync.
  Written synced_ JOEDB_GUARDED_BY(written_mutex_);
};

// A read-only part of an open file, such as a database that is packed into another file. Its name
// in messages is "slice". Several threads may read.
class File_Slice : public Readonly_File {
 public:
  // The bytes [start, start + size) of a file descriptor. The descriptor must stay open during the
  // lifetime of this object, which does not close it.
  File_Slice(int descriptor, Offset start, Offset size)
      : Readonly_File("slice"), descriptor_(descriptor), start_(start), size_(size) {}

  Offset get_size() const override { return size_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;

 private:
  const int descriptor_;
  const Offset start_;
  const Offset size_;
};

// A file or block device of fixed size. The end of the journal is known only from the checkpoint,
// not from the size of the file. A database is created on a device only if its first 41 bytes are
// zeros.
class Device_File : public File {
 public:
  // The device must exist. Throws Exception for create_new, and Io_Error for other modes if the
  // device does not exist. write_existing_or_create_new means write_existing.
  Device_File(const std::string& name, Open_Mode mode,
              System::Duration busy_timeout = default_busy_timeout);
  Offset get_size() const override { return unknown_size; }
  bool has_slow_growth() const override { return false; }
  // A write past the end of the device throws Disk_Full before anything is written.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  bool truncate(Offset) override { return false; }
  std::unique_ptr<Abstract_Directory> beside() const override { return Abstract_File::beside(); }

 private:
  const Offset capacity_;
};

}  // namespace joedb::inline v1

#endif
