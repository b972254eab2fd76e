#ifndef JOEDB_IO_MEMORY_FILE_H
#define JOEDB_IO_MEMORY_FILE_H

#include <cstddef>
#include <streambuf>
#include <string_view>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file in memory. Its content is lost when the object is destroyed. Locks and syncs do nothing:
// writers and readers of the same object must be in the same thread, except that another thread may
// call sync. The mode is only the value that get_mode() returns; reads and writes do not depend on
// it.
//
//     joedb::Memory_File file;
//     city::Writable_Database db(file);
//
// A write throws std::bad_alloc if memory is exhausted; then nothing has been written.
class Memory_File : public Abstract_File {
 public:
  // Makes an empty file named "memory".
  explicit Memory_File(Open_Mode mode = Open_Mode::create_new);

  // The content of the file. A program may assign it before a journal is opened on the file. While
  // a journal is open, the content is complete only after a flush() of the journal or a checkpoint.
  std::vector<char>& get_data() { return data_; }
  const std::vector<char>& get_data() const { return data_; }

  Offset get_size() const override { return static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // A write past the end fills the gap with zeros.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  // A larger size appends zeros. Always returns true.
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  std::vector<char> data_;
};

// A read-only file (mode read_existing) whose bytes are in memory that the caller owns, such as a
// database that is compiled into the program. The bytes are not copied. They must outlive this
// object, and must not change. Several threads may read.
class Readonly_Memory_File : public Readonly_File {
 public:
  Readonly_Memory_File(const void* data, std::size_t size);
  explicit Readonly_Memory_File(std::string_view data);
  explicit Readonly_Memory_File(const std::vector<char>& data);
  // `data` is stored at offset `start` of the file. The bytes before `start` cannot be read.
  Readonly_Memory_File(std::string_view data, Offset start);

  Offset get_size() const override { return start_ + static_cast<Offset>(data_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;

 private:
  const std::string_view data_;
  const Offset start_ = 0;
};

// A Memory_File for servers: one thread may write while other threads read. get_data() does not
// lock the mutex.
class Locked_Memory_File final : public Memory_File {
 public:
  using Memory_File::Memory_File;

  Offset get_size() const override {
    const Mutex_Lock lock(mutex_);
    return Memory_File::get_size();
  }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    const Mutex_Lock lock(mutex_);
    return Memory_File::pread(data, size, offset);
  }
  void pwrite(const char* data, std::size_t size, Offset offset) override {
    const Mutex_Lock lock(mutex_);
    Memory_File::pwrite(data, size, offset);
  }
  bool truncate(Offset size) override {
    const Mutex_Lock lock(mutex_);
    return Memory_File::truncate(size);
  }

 private:
  mutable Mutex mutex_;
};

// A file whose content is in a C++ stream buffer, such as a std::stringbuf or std::filebuf. Its
// name in messages is "stream".
//
// Locks do nothing. A sync calls pubsync(), which passes the bytes to the operating system: a hard
// checkpoint survives a killed process, but not a power cut. The file cannot be truncated, so a
// writer cannot roll back flushed entries.
//
// Only one thread at a time may use the file, even for syncs, because all functions share the
// position of the stream buffer. Group commit is therefore not supported.
class Stream_File : public Abstract_File {
 public:
  // The stream buffer must outlive the file, and be seekable. A std::stringbuf must be open for
  // reading and writing (std::ios::in | std::ios::out), even if `mode` is read_existing; a
  // std::filebuf must be in binary mode on systems where that matters.
  Stream_File(std::streambuf& buffer, Open_Mode mode)
      : Abstract_File("stream", mode), buffer_(buffer) {}

  // This and the following functions throw Io_Error (EIO) if the buffer cannot seek.
  Offset get_size() const override;
  // A read error of the buffer is indistinguishable from the end of the file.
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override;
  void datasync() override { sync(); }
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  std::streambuf& buffer_;
};

}  // namespace joedb::inline v1

#endif
