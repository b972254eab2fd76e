#include "kernel/journal/past_file.h"

#include <algorithm>
#include <cstring>

namespace joedb::inline v1 {

static std::array<char, header_size> header_at(Offset end) {
  Header header;
  header.checkpoints = {end, end, journal_start, journal_start};
  return encode_header(header);
}

Past_File::Past_File(std::shared_ptr<Abstract_File> file, Offset end)
    : Readonly_File(file->get_name()), file_(std::move(file)), end_(end), header_(header_at(end)) {}

namespace {

class Readonly_Directory final : public Abstract_Directory {
 public:
  explicit Readonly_Directory(std::unique_ptr<Abstract_Directory> files)
      : files_(std::move(files)) {}

  const std::string& get_name() const override { return files_->get_name(); }
  std::vector<std::string> list() const override { return files_->list(); }
  // The empty name means the journal itself, which has the current state and not the past state.
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    if (name.empty() || mode != Open_Mode::read_existing) return nullptr;
    return files_->open(name, mode);
  }
  void remove(const std::string&) override {}
  void rename(const std::string&, const std::string&) override {}
  void remove_durably(const std::string&) override {}

 private:
  const std::unique_ptr<Abstract_Directory> files_;
};

}  // namespace

std::unique_ptr<Abstract_Directory> Past_File::beside() const {
  return std::make_unique<Readonly_Directory>(file_->beside());
}

std::size_t Past_File::pread(char* data, std::size_t size, Offset offset) const {
  if (offset >= end_) return 0;
  size = std::min(size, static_cast<std::size_t>(end_ - offset));
  std::size_t done = 0;
  if (offset < journal_start) {
    const auto first = static_cast<std::size_t>(offset);
    done = std::min(size, header_size - first);
    std::memcpy(data, header_.data() + first, done);
  }
  if (done < size)
    done += file_->pread(data + done, size - done, offset + static_cast<Offset>(done));
  return done;
}

bool Past_File::pread_cached(char* data, std::size_t size, Offset offset) const {
  if (offset < journal_start) return pread(data, size, offset) == size;
  return static_cast<Offset>(size) <= end_ - offset && file_->pread_cached(data, size, offset);
}

}  // namespace joedb::inline v1
