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

#include "joedb/base/blob.h"
#include "joedb/base/error.h"

namespace joedb::inline v1 {

// How a file is opened. "Alone": one writer; readers may read meanwhile.
enum class Open_Mode {
  read_existing,
  write_existing,                // alone: fails if another writer has the file
  create_new,                    // fails if the file exists
  write_existing_or_create_new,  // alone
  shared_write,                  // many processes; each takes the write lock for a transaction
  write_lock                     // alone: waits for another writer to leave
};

// One open file. Offsets are absolute: there is no cursor, so readers never disturb the writer.
//
// An object is used by one thread at a time, except for its syncs. To make another kind of file,
// derive from this class; only get_size, pread, pwrite, sync, datasync and the locks must be
// implemented.
class Abstract_File {
 public:
  // `name` is for messages, and for open_beside. The default mode is that of a writer.
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

  // Number of bytes, or unknown_size where the size does not say how long the content is (a raw
  // device). Throws Io_Error.
  virtual Offset get_size() const = 0;

  // Reads into data[0, size) what stands at `offset`. Returns the number of bytes read; fewer than
  // `size` only at the end of the file. Throws Io_Error.
  virtual std::size_t pread(char* data, std::size_t size, Offset offset) const = 0;

  // Reads [offset, offset + size) if that needs no waiting for a disk. False otherwise, or if the
  // file ends before: `data` may have changed then. A file of your own may leave this to pread.
  virtual bool pread_cached(char* data, std::size_t size, Offset offset) const {
    return pread(data, size, offset) == size;
  }

  // Writes everything or throws Io_Error, in which case any part may have been written. Until
  // sync() returns, a power cut may keep all of it, a part, nothing, or the new size with zeros for
  // bytes.
  virtual void pwrite(const char* data, std::size_t size, Offset offset) = 0;

  // Words of 8 bytes that other processes may load meanwhile. Each is stored as a whole, in their
  // order, and after everything that was written before: a process that is killed leaves the first
  // of them, and nobody sees a word before what it refers to. `offset` is a multiple of 8. A file
  // of your own may leave this to pwrite and pread.
  virtual void store_words(std::span<const std::int64_t> words, Offset offset);
  // Throws Corruption_Error if the file ends before.
  virtual void load_words(std::span<std::int64_t> words, Offset offset) const;

  // sync returns only when every earlier write and the size would survive a power cut; datasync may
  // leave out what is not needed to read the data back. After a failure nothing is known of the
  // earlier writes, and a later success proves nothing about them. One thread may be in here while
  // another one calls other functions; what it writes meanwhile may be durable afterwards, or not.
  virtual void sync() = 0;
  virtual void datasync() = 0;

  // These bytes, which have been written, will not change soon: the disk may begin with them now,
  // so that it has less to do in the next sync. What fails then, fails again there.
  virtual void start_writeback(Offset /*start*/, Offset /*end*/) noexcept {}

  // Whether a sync takes longer if the file has grown: a writer that syncs often preallocates then
  // (Journal_Options).
  virtual bool has_slow_growth() const { return false; }

  // Cuts the file to `size` bytes. False if this kind of file cannot be cut: it has not changed.
  // Throws Io_Error.
  virtual bool truncate(Offset /*size*/) { return false; }

  // Byte-range locks between open files, in this and other processes; they wait. A lock belongs to
  // this object, and an exclusive one replaces a shared one on the same range.
  virtual void shared_lock(Offset start, Offset size) = 0;
  virtual void exclusive_lock(Offset start, Offset size) = 0;
  virtual void unlock(Offset start, Offset size) noexcept = 0;
  // The same as exclusive_lock, but returns false instead of waiting. Without an implementation of
  // its own, a kind of file waits.
  virtual bool try_exclusive_lock(Offset start, Offset size) {
    exclusive_lock(start, size);
    return true;
  }

  // Reads exactly [offset, offset + size) or throws Corruption_Error.
  void read_exactly(char* data, std::size_t size, Offset offset) const;

  // The first max_size bytes of a blob (-1: all). A writer must have flushed them to the file.
  // Throws Corruption_Error if the file ends before, or the blob has a negative position or size.
  std::string read_blob(Blob blob, std::int64_t max_size = -1) const;

  // Copies the whole file. Bytes of `destination` behind its end stay.
  void copy_to(Abstract_File& destination) const { copy_end_to(destination, 0); }
  // Copies [start, start + size) to the same offsets of `destination`. Throws Corruption_Error if
  // this file ends before.
  void copy_to(Abstract_File& destination, Offset start, Offset size) const;

  // Copies the bytes from `start` to the end to the beginning of `destination`. Returns their
  // number. If a copy throws, any part may have been written to `destination`.
  Offset copy_end_to(Abstract_File& destination, Offset start) const;

  // Whether [start, end) is in the file, and zeros.
  bool is_zero(Offset start, Offset end) const;

  // Writes zeros to [start, end). Where it throws, any part may have been written.
  virtual void write_zeros(Offset start, Offset end);

  // Another file whose name is that of this one, then `suffix`, with its permissions if it is new.
  // Null where this kind of file has no place for another. Throws Io_Error.
  virtual std::unique_ptr<Abstract_File> open_beside(const std::string& suffix,
                                                     Open_Mode mode) const;

  // Whether another file has the name of this one now: joedb_pack --in-place gives it to a new
  // file. False where this is not known.
  virtual bool is_replaced() const { return false; }
  // Throws File_Replaced if writes to this open file would be lost: its name now means another file
  // or none, or the file is shorter than what this object has written. Does nothing for kinds of
  // files that cannot tell. A sync calls it.
  virtual void require_not_replaced() const {}

  // True in a child process that fork() has made after the file was opened, and that shares it with
  // the parent. Functions that write, sync, cut or lock such a file throw Inherited_Object; objects
  // that use it are destroyed without a word.
  virtual bool is_inherited() const { return false; }
  // Throws Inherited_Object if so.
  void require_own_process() const {
    if (is_inherited()) [[unlikely]]
      throw Inherited_Object(name_);
  }

  // For such files. The first gives what open_beside(from) opens the name of open_beside(to), in
  // one step, in place of what has that name; sync the file before. The second removes one; nothing
  // happens if there is none. When they return, a power cut does not take it back. The third lists
  // the suffixes that begin with `prefix`, in any order; that of a name with "/" is not found. They
  // throw Io_Error.
  virtual void rename_beside(const std::string& from, const std::string& to) const;
  virtual void remove_beside(const std::string& suffix) const;
  virtual std::vector<std::string> list_beside(const std::string& prefix) const;

  // Maps [offset, offset + size) at `address`, where the caller has reserved addresses up to the
  // next multiple of 4096: changes stay private. `address` and `offset` are multiples of 4096.
  // False where this kind of file cannot be mapped.
  virtual bool map_privately(char* /*address*/, std::size_t /*size*/, Offset /*offset*/) const {
    return false;
  }

  // Whether [start, end) holds the same bytes in both files. Throws Corruption_Error if one of them
  // ends before.
  bool equal_to(const Abstract_File& other, Offset start, Offset end) const;

 protected:
  // For a file that is to be used in another way than it was opened.
  void set_mode(Open_Mode mode) { mode_ = mode; }

 private:
  const std::string name_;
  Open_Mode mode_;
};

// The locks of a journal file. A process that may append holds the tail lock: an exclusive writer
// from opening to closing, other writers for a transaction. The head lock is held while checkpoints
// are read, and while a writer opens the file. Each open file holds the presence lock, shared; a
// writer that holds it exclusively knows that no other process has the file open. (joedb 10 has no
// presence lock.)
struct Lock_Range {
  Offset start;
  Offset size;
};
inline constexpr Lock_Range head_lock{0, 1};
inline constexpr Lock_Range tail_lock{std::numeric_limits<Offset>::max(), 1};
inline constexpr Lock_Range presence_lock{std::numeric_limits<Offset>::max() - 1, 1};

// Holds one lock while it lives. The file must outlive it. The constructor waits for the lock, and
// throws what the lock functions of the file throw.
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

}  // namespace joedb::inline v1

#endif
