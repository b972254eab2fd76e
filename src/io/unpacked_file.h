#ifndef JOEDB_SRC_IO_UNPACKED_FILE_H
#define JOEDB_SRC_IO_UNPACKED_FILE_H

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/temporary_file.h"
#include "joedb/io/source_file.h"

namespace joedb::inline v1 {

// A way to compress. Unpacks from the beginning to the end.
class Unpacker {
 public:
  virtual ~Unpacker() = default;

  struct Step {
    std::size_t taken;  // bytes of `packed`
    std::size_t given;  // bytes in `out`
  };
  // Unpacks what it can. Throws Exception for bytes that are no archive.
  virtual Step step(std::string_view packed, std::span<char> out) = 0;
  // Whether an archive may end here.
  virtual bool is_at_end() const = 0;
  // The next step is the first one again.
  virtual void restart() = 0;
};

// What is in a compressed file, to be read.
//
// The constructor unpacks everything once, so that nothing is shown of an archive that was cut or
// has changed (as far as it can tell). Then the bytes are unpacked again as they are asked for,
// from the beginning to the end; a few megabytes of memory are used. If they are asked for in
// another order, they are put in a temporary file.
class Unpacked_File final : public Source_File {
 public:
  struct Settings {
    // No more is unpacked. 0: 1 GiB, or 1000 times the size of the archive if that is more. A few
    // bytes can stand for terabytes.
    Offset max_size = 0;
    // Puts the bytes in a temporary file from the beginning: the archive is only read once.
    bool reads_once = false;
    // Hears how far the archive has been read.
    std::function<void(Offset)> report = [](Offset) {};
  };
  // Throws Corruption_Error, with a position in the archive; Exception for one that is too large;
  // Io_Error.
  Unpacked_File(std::unique_ptr<Abstract_File> packed, std::unique_ptr<Unpacker> unpacker,
                Settings settings);

  Offset get_size() const override { return size_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;

 private:
  // How often the archive is unpacked again before this goes to a temporary file.
  static constexpr int most_restarts = 3;
  // At least so many bytes before the last one can be read without unpacking again.
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

  // Reading changes these.
  mutable std::vector<char> head_;
  mutable std::vector<char> input_;
  mutable std::size_t input_begin_ = 0;
  mutable Offset packed_offset_ = 0;  // behind input_
  mutable std::vector<char> window_;  // the last bytes
  mutable Offset window_start_ = 0;
  mutable int restarts_ = 0;
  mutable std::unique_ptr<Temporary_File> temporary_;
};

}  // namespace joedb::inline v1

#endif
