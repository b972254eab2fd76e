#ifndef JOEDB_SRC_WAL_SOURCE_H
#define JOEDB_SRC_WAL_SOURCE_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/read_map.h"

namespace joedb::inline v1::wal {

// The interface through which a Reader gets the bytes of a file.
class Source {
 public:
  virtual ~Source() = default;
  // Returns the bytes [offset, offset + size), or fewer at the end of the file. They are valid at
  // least until the next call, and may be out of date until refresh() is called.
  virtual std::string_view view(Offset offset, std::size_t size) = 0;
  // Updates the size of the file, and drops cached bytes. Returns the size.
  virtual Offset refresh() = 0;
  // Size of the file at the last refresh.
  virtual Offset size() const = 0;
  // Throws Io_Error if bytes returned by view() were lost because the file was truncated.
  virtual void require_intact() const = 0;
  virtual const Abstract_File& file() const = 0;
};

// Reads blocks of a file into memory.
class File_Source : public Source {
 public:
  explicit File_Source(const Abstract_File& file) : file_(file) {}
  explicit File_Source(std::unique_ptr<Abstract_File> file)
      : owned_(std::move(file)), file_(*owned_) {}

  std::string_view view(Offset offset, std::size_t size) override;
  Offset refresh() override;
  Offset size() const override { return size_; }
  void require_intact() const override {}
  const Abstract_File& file() const override { return file_; }

 private:
  static constexpr std::size_t block_size = std::size_t{1} << 18;
  const std::unique_ptr<Abstract_File> owned_;
  const Abstract_File& file_;
  std::vector<char> buffer_;
  Offset start_ = 0;      // offset of the buffer in the file
  std::size_t used_ = 0;  // number of valid bytes in the buffer
  Offset size_ = 0;
};

// Maps the file: view() copies nothing.
class Map_Source : public Source {
 public:
  explicit Map_Source(const std::string& name)
      : file_(name, Open_Mode::read_existing), map_(name) {}

  std::string_view view(Offset offset, std::size_t size) override {
    return map_.view(offset, size);
  }
  Offset refresh() override { return map_.refresh(); }
  Offset size() const override { return map_.size(); }
  void require_intact() const override { map_.require_intact(); }
  const Abstract_File& file() const override { return file_; }

 private:
  File file_;
  Read_Map map_;
};

}  // namespace joedb::inline v1::wal

#endif
