#ifndef BENCHMARKS_RAW_FILE_H
#define BENCHMARKS_RAW_FILE_H

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

inline void require(bool condition) {
  if (!condition) throw std::runtime_error(std::strerror(errno));
}

// System calls without a library.
class Raw_File {
 public:
  Raw_File(const char* name, int flags) : descriptor_(open(name, flags, 0644)) {
    require(descriptor_ >= 0);
  }
  ~Raw_File() { close(descriptor_); }
  Raw_File(const Raw_File&) = delete;
  Raw_File& operator=(const Raw_File&) = delete;

  void write(const void* data, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      const ssize_t n = ::write(descriptor_, static_cast<const char*>(data) + done, size - done);
      require(n > 0);
      done += static_cast<std::size_t>(n);
    }
  }
  void read(void* data, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      const ssize_t n = ::read(descriptor_, static_cast<char*>(data) + done, size - done);
      require(n > 0);
      done += static_cast<std::size_t>(n);
    }
  }
  void pwrite(const void* data, std::size_t size, off_t offset) {
    require(::pwrite(descriptor_, data, size, offset) == static_cast<ssize_t>(size));
  }
  void truncate() { require(ftruncate(descriptor_, 0) == 0); }
  void sync() { require(fsync(descriptor_) == 0); }
  void datasync() { require(fdatasync(descriptor_) == 0); }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

#endif
