#ifndef JOEDB_IO_STREAM_FILE_H
#define JOEDB_IO_STREAM_FILE_H

#include <streambuf>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file in a C++ stream buffer, such as a std::stringbuf or std::filebuf. Its name in messages is
// "stream".
//
// Locks do nothing. A sync calls pubsync(), which passes the bytes to the operating system: a hard
// checkpoint survives a killed process, but not a power cut. The file cannot be truncated, so a
// writer cannot roll back flushed entries.
//
// Only one thread at a time may use it, even for syncs, because reading and writing share one
// position. Group commit is therefore not supported.
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
