#ifndef JOEDB_SRC_KERNEL_IO_UNPACKED_FILE_H
#define JOEDB_SRC_KERNEL_IO_UNPACKED_FILE_H

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"
#include "kernel/io/unnamed_file.h"

namespace joedb::inline v1 {

// A decompressor, which unpacks an archive sequentially.
class Unpacker {
 public:
  virtual ~Unpacker() = default;

  struct Step {
    std::size_t taken;  // number of bytes consumed from `packed`
    std::size_t given;  // number of bytes written to `out`
  };
  // Unpacks as many bytes as possible. Throws Exception if the bytes are not a valid archive.
  virtual Step step(std::string_view packed, std::span<char> out) = 0;
  // True if an archive may end here.
  virtual bool is_at_end() const = 0;
  // Prepares for a new archive: the next call of step() begins an archive.
  virtual void restart() = 0;
};

// The content of a compressed file, as a read-only file. Not thread-safe: although pread is const,
// it changes the window.
//
// The constructor unpacks the whole archive once. So if the archive is truncated or damaged, and
// this can be detected, none of its content can be read. Later, bytes are unpacked again on demand,
// sequentially, with a few megabytes of memory. If they are not read sequentially, they are
// unpacked to a temporary file.
class Unpacked_File final : public Readonly_File {
 public:
  struct Settings {
    // Limit on the size of the content, because a small archive can unpack to terabytes. 0 means 1
    // GiB or 1000 times the size of the archive, whichever is greater.
    Offset max_size = 0;
    // If true, unpacks to a temporary file at once, so that the archive is read only once.
    bool reads_once = false;
    // Called with the offset up to which the archive has been read.
    std::function<void(Offset)> report = [](Offset) {};
  };
  // Throws Io_Error, Corruption_Error with an offset in the archive, and Exception if the content
  // is larger than max_size.
  Unpacked_File(std::unique_ptr<Abstract_File> packed, std::unique_ptr<Unpacker> unpacker,
                Settings settings);

  Offset get_size() const override { return size_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;

 private:
  // How often the archive is unpacked again before the content is unpacked to a temporary file.
  static constexpr int max_restarts = 3;
  // Number of bytes before the end of the window that can always be read without unpacking again.
  static constexpr std::size_t window_size = std::size_t{1} << 20;
  static constexpr std::size_t input_size = std::size_t{1} << 17;

  Offset window_end() const { return window_start_ + static_cast<Offset>(window_.size()); }
  std::size_t read_window(char* data, std::size_t size, Offset offset) const;
  bool advance() const;
  bool refill() const;
  std::ptrdiff_t head_end() const;
  void unpack_all() const;
  void go_back() const;
  void keep_temporary() const;
  void require_allowed_size() const;
  [[noreturn]] void fail(const std::string& what) const;

  const std::unique_ptr<Abstract_File> packed_;
  const std::unique_ptr<Unpacker> unpacker_;
  const Settings settings_;
  Offset max_size_ = 0;
  Offset size_ = 0;

  // State that pread changes.
  mutable std::vector<char> head_;
  mutable std::vector<char> input_;
  mutable std::size_t input_begin_ = 0;
  mutable Offset packed_offset_ = 0;  // offset of the first byte after input_
  mutable std::vector<char> window_;  // the bytes unpacked last
  mutable Offset window_start_ = 0;
  mutable int restarts_ = 0;
  mutable std::unique_ptr<Unnamed_File> temporary_;
};

}  // namespace joedb::inline v1

#endif
