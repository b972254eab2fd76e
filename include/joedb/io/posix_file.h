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
// cut could lose the name of a new file, and with the name all content of the file.
//
// This is so even if this object has not created the file, because the process that created the
// file may have ended before its own first sync.
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

// How long a file waits for a lock by default. The time is longer than most transactions, which
// take less than a second; yet a holder that is stopped or hangs is noticed soon.
inline constexpr System::Duration default_busy_timeout = std::chrono::seconds(5);

// A file of the operating system (Linux).
//
// Locks are open-file-description locks (F_OFD_SETLK). They belong to this object, so a process may
// open the same file twice. An exclusive writer holds the tail lock from the constructor to the
// destructor. Each open file holds the presence lock, shared.
//
// Pipes and devices are refused at once. If the name is a symbolic link to a file that does not
// exist, modes that create files, except create_new, create the file where the link points.
//
// If another file gets the name while the constructor waits for a lock (joedb_pack --in-place), the
// constructor opens the other file instead.
//
// A file waits for locks in the constructor, when a journal is opened, and at each transaction. If
// a wait takes longer than the busy timeout of the file, it ends with Lock_Timeout, which names the
// holder. With a busy timeout of System::Duration::max(), the file waits for ever; with 0, it does
// not wait. For locks that are needed to write a checkpoint, the timeout is at least
// default_busy_timeout, because a failure would disable writing.
//
// The directory of the file stays open, too. So files beside this file are found even if the
// current directory of the process has changed.
//
// A sync throws File_Replaced if another program has removed, replaced or truncated the file: see
// require_not_replaced. For a file that is not shared, a sync also throws if another program has
// changed the last bytes that were written before the previous sync.
//
// Functions throw Io_Error if a system call fails, and Disk_Full if there is no space. If a signal
// interrupts a system call, the call is retried, unless it is a sync.
//
// A write past the limit on file sizes (RLIMIT_FSIZE) throws Disk_Full (EFBIG), and does not raise
// SIGXFSZ, unless the program lowers its limit while it writes.
class File : public Named_File {
 public:
  // A new file gets the permissions 0644 minus the umask. Throws Io_Error ("opening NAME: …"),
  // File_Locked if another writer has the file open and the mode does not wait, and Lock_Timeout.
  // To wait for a lock, the file calls system.sleep() again and again, for up to 1 ms; an exception
  // of sleep() ends the wait. `system` must outlive the file.
  File(const std::string& name, Open_Mode mode,
       System::Duration busy_timeout = default_busy_timeout, System& system = System::real());
  ~File() override;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  bool pread_cached(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  // On file systems where mapping is safe, words in the first page of the file are stored and
  // loaded through a memory map.
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

  // True if another open file, in this process or another, holds the tail lock: it may be appending
  // now.
  bool is_being_written() const;
  bool is_replaced() const override;
  void require_not_replaced() const override;
  // In a child process, the directory's functions that rename or remove files throw
  // Inherited_Object.
  std::unique_ptr<Abstract_Directory> beside() const override;

  // Maps [offset, offset + size) privately (copy-on-write) at `address`, where the caller has
  // reserved addresses up to the next multiple of 4096. `address` and `offset` are multiples of
  // 4096. Returns false if the file cannot be mapped.
  bool map_privately(char* address, std::size_t size, Offset offset) const;
  // Like map_privately, but the map is shared: changes reach the file and all other maps of it.
  // From then on, this object no longer checks whether other programs change the bytes of the file.
  bool map_shared(char* address, std::size_t size, Offset offset);

  // Sets the modification time of the file to now, for programs that watch the file.
  void touch();

 protected:
  // Opens the file at `path`, relative to the open directory `directory` (AT_FDCWD means the
  // current directory). A new file gets the owner and permissions of the open file `model`, if the
  // system allows it. If `model` is -1, a new file gets `permissions` minus the umask.
  File(const std::string& name, Open_Mode mode, int directory, const std::string& path,
       unsigned permissions = 0644, int model = -1,
       System::Duration busy_timeout = default_busy_timeout, System& system = System::real(),
       bool is_device = false);

  // Called after the file was renamed to get_name(), in the same directory.
  void set_own_name();
  // Called when the file has no name any more.
  void forget_name() { own_name_.clear(); }
  int descriptor() const { return descriptor_; }
  friend struct File_Access;  // internal to module io

  void sync_content() override;
  void datasync_content() override;
  void sync_directory() override;

  // Returns the offset of the end of a file or device. Throws Io_Error.
  Offset find_end() const;

  // For the class Mapped. map() maps [start, end) of the file, and returns false if this file
  // cannot be mapped. `start` must be a multiple of map_page, and the file must not end before
  // `end`. store() writes to the map.
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
  // The last part of get_name(). It differs from own_name_ until a New_File is published.
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
  mutable unsigned locks_ = 0;  // number of calls that take the tail lock, including attempts
  int descriptor_ = -1;
  std::shared_ptr<const Descriptor> directory_;
  std::string own_name_;  // name in the directory; empty if it has none
  bool can_sync_directory_ = false;
  bool may_map_words_ = true;            // if words past words_end_ are used, try to map them
  std::atomic<Offset> allowed_end_ = 0;  // writes up to here are within RLIMIT_FSIZE
  char* map_ = nullptr;
  Offset map_start_ = 0;
  std::size_t map_size_ = 0;
  std::int64_t* words_ = nullptr;  // map of the first page of the file
  Offset words_end_ = 0;           // end of the part of the map that is used

  // State for detecting changes by others. A sync may run in another thread.
  bool is_watched_ = false;  // true if only this object may write to the file
  mutable Mutex written_mutex_;
  Offset end_ JOEDB_GUARDED_BY(written_mutex_) = 0;     // lower bound of the file size
  unsigned cuts_ JOEDB_GUARDED_BY(written_mutex_) = 0;  // number of truncations by this object
  Written recent_ JOEDB_GUARDED_BY(written_mutex_);     // end of the last write
  // End of the last write before the last sync.
  Written synced_ JOEDB_GUARDED_BY(written_mutex_);
};

// A read-only part of an open file, for example a database that is embedded in another file. Its
// name in messages is "slice". Several threads may read at the same time.
class File_Slice : public Readonly_File {
 public:
  // The part is [start, start + size) of the file with this descriptor. The descriptor must stay
  // open during the lifetime of this object. The destructor does not close it.
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
  // Throws Exception if the mode is create_new, and Io_Error if the device does not exist. The mode
  // write_existing_or_create_new means write_existing.
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
