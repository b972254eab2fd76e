#ifndef JOEDB_IO_MAPPED_FILE_H
#define JOEDB_IO_MAPPED_FILE_H

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A file whose end is mapped to memory, for an exclusive writer: appended bytes are copied to the
// map, without a system call. A soft checkpoint takes some nanoseconds, and survives a killed
// process like any other soft checkpoint. A sync is an ordinary sync of the file.
//
//   joedb::Mapped_File file("cities.joedb");
//   my::Writable_Database db(file);
//
// The file is preallocated with zeros, in steps of `step` bytes, because a store to a page for
// which the disk has no room would kill the process. The object hides these zeros, and truncates
// them when it is destroyed. After a crash the zeros remain; the next writer truncates them.
//
// A file is mapped only on file systems where mapping is safe: ext4, XFS, overlayfs and tmpfs.
// Network file systems are not among them. On other file systems, and after the first failure to
// preallocate, the object works like a plain File without preallocation, and its writes throw the
// errors of File.
//
// Thread safety is that of File.
//
// Base is File, or a test double that has map_page, map, unmap and store.
template <class Base>
class Mapped : public Base {
 public:
  // `base` is passed to the constructor of Base: for File, a name and a mode. `step` must be in 1 …
  // 2^30 bytes. Throws the exceptions of the constructor of Base, and Exception if the step is out
  // of range or the mode is not exclusive (read_existing, shared_write).
  template <class... Arguments>
  explicit Mapped(Offset step, Arguments&&... base)
      : Base(std::forward<Arguments>(base)...), step_(step), size_(Base::get_size()) {
    if (this->is_readonly() || this->is_shared())
      throw Exception(this->get_name() + ": only a file that is opened alone can be mapped");
    if (step < 1 || step > max_step)
      throw Exception("a mapped file grows by 1 to " + std::to_string(max_step) +
                      " bytes at a time, not " + std::to_string(step));
    allocated_ = size_;
  }

  // If the zeros cannot be truncated, logs a warning to Destructor_Logger.
  ~Mapped() override {
    if (this->is_inherited()) return;
    try {
      cut_to(size_);
    } catch (const std::exception& error) {  // the zeros remain, as after a crash
      Destructor_Logger::warning(error.what());
    }
  }

  // Excludes the preallocated zeros.
  Offset get_size() const override { return size_; }
  bool has_slow_growth() const override { return false; }  // this object preallocates already

  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    const Offset rest = std::max<Offset>(size_ - offset, 0);
    return Base::pread(data, std::min(size, static_cast<std::size_t>(rest)), offset);
  }

  void pwrite(const char* data, std::size_t size, Offset offset) override {
    const Offset end = offset + static_cast<Offset>(size);
    const bool is_mapped = offset >= map_start_ && end <= map_end_;
    this->require_own_process();
    if (is_mapped || (offset > 0 && offset >= size_ && map_from(offset, end))) [[likely]] {
      this->store(data, size, offset);
    } else {
      write(data, size, offset);
      allocated_ = std::max(allocated_, end);
    }
    size_ = std::max(size_, end);
  }

  // If the removed bytes are in the map, overwrites them with zeros instead, so that the map can
  // stay.
  bool truncate(Offset size) override {
    this->require_own_process();
    if (size >= map_start_ && size < size_ && size_ <= map_end_) {
      const std::vector<char> zeros(static_cast<std::size_t>(size_ - size));
      this->store(zeros.data(), zeros.size(), size);
    } else {
      cut_to(size);
    }
    size_ = size;
    return true;
  }

 private:
  static constexpr Offset max_step = Offset{1} << 30;

  // After a failure, sets size_ to the end of the part that was written, because the writer will
  // truncate this part.
  void write(const char* data, std::size_t size, Offset offset) {
    try {
      Base::pwrite(data, size, offset);
    } catch (const Io_Error&) {
      const Offset found = Base::get_size();
      if (found > allocated_) size_ = allocated_ = found;
      throw;
    }
  }

  // Maps [offset, end), where offset is at or past the end of the content. Returns false if the
  // disk is full or the file cannot be mapped. The caller then writes without the map; if the disk
  // is full, that write throws the error.
  bool map_from(Offset offset, Offset end) {
    unmap();
    if (!is_mappable_) return false;
    const Offset start = offset / Base::map_page * Base::map_page;
    const Offset new_end = (end / step_ + 1) * step_;
    try {
      grow_to(new_end);
      is_mappable_ = this->map(start, new_end);
    } catch (const Io_Error&) {
      is_mappable_ = false;
    }
    if (!is_mappable_) {
      cut_to(size_);
      return false;
    }
    map_start_ = offset;  // excludes the header, whose words store_words stores
    map_end_ = new_end;
    return true;
  }

  // Writes zeros instead of only reserving blocks: with reserved blocks, the next sync would take
  // longer.
  void grow_to(Offset end) {
    const std::vector<char> zeros(std::size_t{1} << 18);
    while (allocated_ < end) {
      const auto size = std::min<Offset>(static_cast<Offset>(zeros.size()), end - allocated_);
      Base::pwrite(zeros.data(), static_cast<std::size_t>(size), allocated_);
      allocated_ += size;
    }
  }

  void cut_to(Offset size) {
    unmap();
    if (allocated_ > size) Base::truncate(size);
    allocated_ = size;
  }

  void unmap() {
    this->Base::unmap();
    map_start_ = map_end_ = 0;
  }

  const Offset step_;
  Offset size_;           // without the preallocated zeros
  Offset allocated_ = 0;  // with the preallocated zeros
  Offset map_start_ = 0;
  Offset map_end_ = 0;
  bool is_mappable_ = true;
};

// A mapped file of the operating system. It is opened like a File (posix_file.h), in an exclusive
// mode. `step` is the number of bytes to preallocate and map at a time.
class Mapped_File : public Mapped<File> {
 public:
  // 16 MiB.
  static constexpr Offset default_step = Offset{1} << 24;

  explicit Mapped_File(const std::string& name,
                       Open_Mode mode = Open_Mode::write_existing_or_create_new,
                       Offset step = default_step)
      : Mapped(step, name, mode) {}
};

}  // namespace joedb::inline v1

#endif
