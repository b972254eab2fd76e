#ifndef JOEDB_IO_STREAM_FILE_H
#define JOEDB_IO_STREAM_FILE_H

#include <streambuf>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file that is a stream buffer of C++, such as a std::stringbuf or std::filebuf. Locks do
// nothing; a sync hands the bytes to the stream's system, and no more. Not for group commit: there
// is one position for reading and writing, so that one thread at a time may use it, syncs included.
class Stream_File : public Abstract_File {
 public:
  // The stream buffer, which must be able to seek, must outlive the file.
  Stream_File(std::streambuf& buffer, Open_Mode mode)
      : Abstract_File("stream", mode), buffer_(buffer) {}

  Offset get_size() const override;
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
