#ifndef JOEDB_IO_FILE_H
#define JOEDB_IO_FILE_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"
#include "joedb/base/types.h"

namespace joedb::inline v1 {

// How to open a file. "Exclusive": this object is the only writer; other processes may read the
// file at the same time. write_existing_or_create_new, shared_write and write_lock create the file
// if it does not exist.
enum class Open_Mode {
  read_existing,
  write_existing,                // exclusive: fails if another writer has the file open
  create_new,                    // exclusive; fails if the file exists
  write_existing_or_create_new,  // exclusive
  shared_write,                  // many processes; each takes the write lock for a transaction
  write_lock                     // exclusive: waits, within the busy timeout, for other writers
};

class Abstract_Directory;

// One open file. Offsets are absolute: there is no cursor, so readers never disturb the writer.
//
// Only one thread at a time may use an object, except for sync() and datasync(). To implement
// another kind of file, derive from this class; only get_size, pread, pwrite, sync, datasync and
// the locks are required.
class Abstract_File {
 public:
  // `name` is used in messages.
  explicit Abstract_File(std::string name = "file", Open_Mode mode = Open_Mode::create_new)
      : name_(std::move(name)), mode_(mode) {}
  virtual ~Abstract_File() = default;
  Abstract_File(const Abstract_File&) = delete;
  Abstract_File& operator=(const Abstract_File&) = delete;

  const std::string& get_name() const { return name_; }
  Open_Mode get_mode() const { return mode_; }
  bool is_readonly() const { return mode_ == Open_Mode::read_existing; }
  bool is_shared() const { return mode_ == Open_Mode::shared_write; }

  static constexpr Offset unknown_size = -1;

  // Returns the number of bytes, or unknown_size if the end of the content cannot be found from the
  // size of the file (a raw device). Throws Io_Error.
  virtual Offset get_size() const = 0;

  // Reads the bytes [offset, offset + size) into `data`. Returns the number of bytes read, which is
  // less than `size` only at the end of the file. Throws Io_Error.
  virtual std::size_t pread(char* data, std::size_t size, Offset offset) const = 0;

  // Reads [offset, offset + size) if this does not have to wait for a disk. Returns false, and may
  // have changed `data`, if it would have to wait or if the file ends before offset + size. The
  // default implementation calls pread.
  virtual bool pread_cached(char* data, std::size_t size, Offset offset) const {
    return pread(data, size, offset) == size;
  }

  // Writes all bytes or throws Io_Error; after an error any part may have been written. Until
  // sync() returns, a power cut may preserve all, some or none of the bytes, or only the new size
  // with zeros in place of the bytes.
  virtual void pwrite(const char* data, std::size_t size, Offset offset) = 0;

  // Stores 8-byte words that other processes may load concurrently. Each word is stored atomically,
  // in order, and after all earlier writes: a killed process leaves a prefix of the words, and no
  // reader sees a word before the data it refers to. `offset` is a multiple of 8. The default
  // implementations use pwrite and pread.
  virtual void store_words(std::span<const std::int64_t> words, Offset offset);
  // Throws Corruption_Error if the file ends before the last word.
  virtual void load_words(std::span<std::int64_t> words, Offset offset) const;

  // sync returns when every earlier write and the size would survive a power cut; datasync may omit
  // metadata that is not needed to read the data back. Both throw Io_Error. After a failure, the
  // state of the earlier writes is unknown, and a later successful sync does not make them durable.
  // One thread may sync while another thread calls other functions; bytes written during a sync may
  // or may not be durable after it.
  virtual void sync() = 0;
  virtual void datasync() = 0;

  // A hint that the bytes [start, end), which have been written, will not change soon: the disk may
  // start to write them now, so that the next sync has less to do. The next sync reports an error
  // of this writing.
  virtual void start_writeback(Offset /*start*/, Offset /*end*/) noexcept {}

  // True if a sync takes longer when the file has grown since the last sync. A writer that makes
  // many hard checkpoints preallocates such a file (Journal_Options).
  virtual bool has_slow_growth() const { return false; }

  // Truncates the file to `size` bytes. Returns false, without a change, if this kind of file
  // cannot be truncated. Throws Io_Error.
  virtual bool truncate(Offset /*size*/) { return false; }

  // Byte-range locks. They exclude other open files, in this process and in others. The lock
  // functions wait for the lock, but not longer than the busy timeout of the file; then they throw
  // Lock_Timeout. A lock belongs to this object. An exclusive lock replaces a shared lock of this
  // object on the same range.
  virtual void shared_lock(Offset start, Offset size) = 0;
  virtual void exclusive_lock(Offset start, Offset size) = 0;
  virtual void unlock(Offset start, Offset size) noexcept = 0;
  // Like exclusive_lock, but returns false instead of waiting. The default implementation waits.
  virtual bool try_exclusive_lock(Offset start, Offset size) {
    exclusive_lock(start, size);
    return true;
  }
  // Sets the busy timeout of the next calls of the lock functions. Does nothing for kinds of files
  // whose locks do not wait.
  virtual void set_busy_timeout(System::Duration /*timeout*/) {}

  // Reads the bytes [offset, offset + size). Throws Io_Error, and Corruption_Error if the file ends
  // before offset + size.
  void read_exactly(char* data, std::size_t size, Offset offset) const;

  // Returns the first max_size bytes of a blob, or all bytes if max_size is -1. A writer must have
  // flushed these bytes to the file. Throws Corruption_Error if the file ends before the blob does,
  // or if the blob has a negative position or size.
  std::string read_blob(Blob blob, std::int64_t max_size = -1) const;

  // Copies the whole file. Does not truncate `destination`: if `destination` is longer than this
  // file, its last bytes stay. If copying throws, any part may have been written.
  void copy_to(Abstract_File& destination) const;
  // Copies [start, start + size) to the same offsets of `destination`. Throws Corruption_Error if
  // this file ends before start + size.
  void copy_to(Abstract_File& destination, Offset start, Offset size) const;

  // True if [start, end) holds the same bytes in both files. Throws Corruption_Error if one of the
  // files ends before `end`.
  bool equal_to(const Abstract_File& other, Offset start, Offset end) const;

  // Writes zeros to [start, end). If it throws, any part may have been written.
  virtual void write_zeros(Offset start, Offset end);

  // Returns a directory of the files beside this file: those whose names begin with the name of
  // this file. In the returned directory, a file is named by the rest of its name, such as
  // ".snapshot". A new file gets the permissions of this file. This file must outlive the
  // directory. If no files can be beside this kind of file, returns an empty directory, whose
  // open() returns null, and whose other functions do nothing.
  virtual std::unique_ptr<Abstract_Directory> beside() const;
  // Opens the file that has the name of this file now, which may be another file. Returns null if
  // this kind of file cannot be opened again. Throws Io_Error.
  virtual std::unique_ptr<Abstract_File> reopen(Open_Mode mode) const;

  // True if the name of this file now refers to another file, such as a file that joedb_pack
  // --in-place has made. False if unknown.
  virtual bool is_replaced() const { return false; }
  // Throws File_Replaced if writes to this open file would be lost: the name of the file now refers
  // to another file or to none, or the file ends before the last byte that this object has written.
  // Does nothing for kinds of files that cannot detect this. sync() and datasync() of a File call
  // this function.
  virtual void require_not_replaced() const {}

  // Creates the file, if it is a kind of file that is created only before its first change. A
  // journal calls this function before it takes the tail lock for a transaction, and before it
  // appends. Does nothing for a file that exists. Throws Io_Error.
  virtual void ensure_exists() {}

  // True in a child process that was forked after the file was opened, and so shares the open file
  // with its parent. Functions that write, sync, truncate or lock such a file throw
  // Inherited_Object; destructors of objects that use such a file do nothing, silently.
  virtual bool is_inherited() const { return false; }
  // Throws Inherited_Object if is_inherited().
  void require_own_process() const {
    if (is_inherited()) [[unlikely]]
      throw Inherited_Object(name_);
  }

 protected:
  // Changes the mode. For derived classes that use the file in another mode than the mode in which
  // it was opened.
  void set_mode(Open_Mode mode) { mode_ = mode; }

 private:
  const std::string name_;
  Open_Mode mode_;
};

// Base class of files that can only be read. A derived class defines get_size and pread. pwrite
// throws Exception. Syncs and locks do nothing, because there is nothing to sync or to protect.
class Readonly_File : public Abstract_File {
 public:
  explicit Readonly_File(std::string name)
      : Abstract_File(std::move(name), Open_Mode::read_existing) {}

  void pwrite(const char*, std::size_t, Offset) override {
    throw Exception(get_name() + " can only be read");
  }
  void sync() override {}
  void datasync() override {}
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}
};

// The locks of a journal file. A process that may append holds the tail lock: an exclusive writer
// from opening to closing, a shared writer during a transaction. A reader holds the head lock,
// shared, while it reads the checkpoints. A writer holds the head lock exclusively while it opens
// the journal, and while File::store_words writes checkpoint words that are not mapped into memory.
// Each open file holds the presence lock, shared; a writer that holds the presence lock exclusively
// knows that no other process has the file open. A File that has waited long for the tail lock
// locks one more byte, and busy writers then let this File go first. (joedb 10 has only the head
// lock and the tail lock.)
struct Lock_Range {
  Offset start;
  Offset size;
};
inline constexpr Lock_Range head_lock{0, 1};
inline constexpr Lock_Range tail_lock{std::numeric_limits<Offset>::max(), 1};
inline constexpr Lock_Range presence_lock{std::numeric_limits<Offset>::max() - 1, 1};

// Holds one lock during its lifetime. `file` must outlive this object. The constructor waits for
// the lock, and throws the errors of the lock functions of the file.
class File_Lock {
 public:
  enum class Kind { shared, exclusive };
  File_Lock(Abstract_File& file, Lock_Range range, Kind kind) : file_(file), range_(range) {
    if (kind == Kind::shared)
      file_.shared_lock(range_.start, range_.size);
    else
      file_.exclusive_lock(range_.start, range_.size);
  }
  ~File_Lock() { file_.unlock(range_.start, range_.size); }
  File_Lock(const File_Lock&) = delete;
  File_Lock& operator=(const File_Lock&) = delete;

 private:
  Abstract_File& file_;
  const Lock_Range range_;
};

// Reads a blob sequentially, in pieces of any size. Not thread-safe.
//
//     joedb::Blob_Reader reader(file, blob);
//     while (const std::size_t n = reader.read(buffer, sizeof buffer)) out.write(buffer, n);
class Blob_Reader {
 public:
  // `file` must outlive the reader. A writer must have flushed the blob to the file.
  Blob_Reader(const Abstract_File& file, Blob blob)
      : file_(file), position_(blob.get_position()), end_(blob.get_end()) {}

  // Number of bytes not yet read.
  std::int64_t remaining() const { return end_ - position_; }

  // Reads the next `size` bytes, but at most 1 GiB, and not past the end of the blob. Returns the
  // number of bytes read; 0 at the end of the blob. Throws Io_Error, and Corruption_Error if the
  // file ends before the blob does.
  std::size_t read(char* data, std::size_t size);

 private:
  const Abstract_File& file_;
  Offset position_;
  const Offset end_;
};

// Lets a Writable_Database open a read-only file: written bytes are discarded. A program can thus
// read a file with an older schema. The schema is upgraded in memory, and the file does not change:
//
//     joedb::Upgradable_File<joedb::Readonly_Memory_File> file(data);
//     city::Writable_Database db(file);
//
// Written bytes cannot be read back. So new blobs cannot be read, and a rollback fails if the last
// checkpoint was written through this object.
template <class Parent>
class Upgradable_File : public Parent {
 public:
  template <class... Arguments>
  explicit Upgradable_File(Arguments&&... arguments)
      : Parent(std::forward<Arguments>(arguments)...) {
    this->set_mode(Open_Mode::write_existing);
  }

  // Returns unknown_size, because the file does not grow when bytes are written.
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

// A directory, or the files beside a file (Abstract_File::beside). Derive from this class to
// simulate a directory; a segmented log needs neither rename nor remove_durably. Not thread-safe.
// Functions throw Io_Error.
class Abstract_Directory {
 public:
  virtual ~Abstract_Directory() = default;
  virtual const std::string& get_name() const = 0;
  // Returns the names of the files in the directory, without its path, in any order.
  virtual std::vector<std::string> list() const = 0;
  // Opens a file in the directory. The name of a new file is durable after the first sync of the
  // file.
  virtual std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) = 0;
  // Like open, but a new file gets the owner and permissions of the file `model`, if this kind of
  // directory has them and the system allows it.
  virtual std::unique_ptr<Abstract_File> open_like(const std::string& /*model*/,
                                                   const std::string& name, Open_Mode mode) {
    return open(name, mode);
  }
  // Throws File_Replaced if the directory was removed, or if its name now refers to another
  // directory. Does nothing for kinds of directories that cannot detect this.
  virtual void require_not_replaced() const {}
  // Removes a file; does nothing if the file does not exist. The removal is not durable: a power
  // cut may undo it.
  virtual void remove(const std::string& name) = 0;

  // The effect of these functions is durable when they return. rename is atomic, and replaces the
  // file `to` if it exists. Sync the file `from` before it is renamed. The default implementations
  // throw Exception.
  virtual void rename(const std::string& from, const std::string& to);
  virtual void remove_durably(const std::string& name);
};

class Descriptor;
class File;

// A directory of the operating system. It is kept open: renaming it, or changing the current
// directory of the process, does not affect this object.
class Directory : public Abstract_Directory {
 public:
  // Creates the directory, and its parents, if they do not exist. Throws Io_Error.
  static Directory make(const std::string& path);
  // Does not throw if the directory does not exist; list, open, open_like and remove throw Io_Error
  // until the directory exists.
  explicit Directory(std::string path);

  const std::string& get_name() const override { return path_; }
  std::vector<std::string> list() const override;
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override;
  std::unique_ptr<Abstract_File> open_like(const std::string& model, const std::string& name,
                                           Open_Mode mode) override;
  void require_not_replaced() const override;
  void remove(const std::string& name) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove_durably(const std::string& name) override;

 private:
  friend class File;
  explicit Directory(const File& file);  // the files beside it

  // Throws Io_Error, "ACTION NAME: …", if the directory does not exist.
  std::shared_ptr<const Descriptor> descriptor(const char* action, const std::string& name) const;
  std::string path_of(const std::string& name) const { return path_prefix_ + name; }
  std::string entry_of(const std::string& name) const { return entry_prefix_ + name; }
  std::unique_ptr<Abstract_File> open_with(const std::string& name, Open_Mode mode, int model);
  void require_own_process() const;
  bool remove_entry(const std::string& name);
  Descriptor open_to_sync() const;
  void sync(const Descriptor& opened) const;

  std::string path_;
  std::string path_prefix_;                      // prefix of all names in messages
  std::string entry_prefix_;                     // prefix of all names in the directory
  std::string absolute_path_;                    // for require_not_replaced; empty if unknown
  std::shared_ptr<const Descriptor> directory_;  // null if it did not exist
  const File* owner_ = nullptr;                  // not null: these are the files beside owner_
};

}  // namespace joedb::inline v1

#endif
