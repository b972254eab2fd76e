#include "joedb/io/file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "kernel/base/zeros.h"
#include "kernel/io/file_pieces.h"

namespace joedb::inline v1 {

static constexpr std::size_t copy_buffer_size = std::size_t{1} << 16;

void Abstract_File::read_exactly(char* data, std::size_t size, Offset offset) const {
  const std::size_t n = pread(data, size, offset);
  if (n == size) return;
  Offset end = offset + static_cast<Offset>(n);
  if (n == 0 && get_size() != unknown_size) end = std::min(end, get_size());
  throw Corruption_Error("Trying to read past the end of file: " + name_ + " ends at offset " +
                             std::to_string(end) + ", " + std::to_string(size) +
                             " bytes are needed at offset " + std::to_string(offset),
                         offset, name_);
}

std::string Abstract_File::read_blob(Blob blob, std::int64_t max_size) const {
  std::int64_t size = blob.get_size();
  if (max_size >= 0) size = std::min(size, max_size);
  if (size < 0 || blob.get_position() < 0)
    throw Corruption_Error(
        "Trying to read past the end of file: " + name_ + ": negative blob position or size",
        blob.get_position(), name_);
  // Memory is allocated piece by piece as bytes are read, so that a wrong size causes an error, and
  // does not exhaust the memory of the machine.
  std::string result;
  const auto wanted = static_cast<std::size_t>(size);
  while (result.size() < wanted) {
    const std::size_t start = result.size();
    const std::size_t n = std::min(wanted - start, std::max(copy_buffer_size, start));
    result.resize(start + n);
    read_exactly(result.data() + start, n, blob.get_position() + static_cast<Offset>(start));
  }
  return result;
}

void Abstract_File::copy_to(Abstract_File& destination) const { copy_end(*this, 0, destination); }

void Abstract_File::copy_to(Abstract_File& destination, Offset start, Offset size) const {
  for_each_piece(*this, start, start + size, copy_buffer_size,
                 [&](std::string_view bytes, Offset offset) {
                   destination.pwrite(bytes.data(), bytes.size(), offset);
                 });
}

Offset copy_end(const Abstract_File& file, Offset start, Abstract_File& destination) {
  const auto buffer = std::make_unique<char[]>(copy_buffer_size);
  Offset offset = start;
  while (const std::size_t n = file.pread(buffer.get(), copy_buffer_size, offset)) {
    destination.pwrite(buffer.get(), n, offset - start);
    offset += static_cast<Offset>(n);
  }
  return offset - start;
}

bool is_zero(const Abstract_File& file, Offset start, Offset end) {
  const auto buffer = std::make_unique<char[]>(copy_buffer_size);
  while (start < end) {
    const auto wanted = std::min(copy_buffer_size, static_cast<std::size_t>(end - start));
    const std::size_t n = file.pread(buffer.get(), wanted, start);
    if (n < wanted || !are_zeros({buffer.get(), n})) return false;
    start += static_cast<Offset>(n);
  }
  return true;
}

namespace {

class No_Directory final : public Abstract_Directory {
 public:
  const std::string& get_name() const override { return name_; }
  std::vector<std::string> list() const override { return {}; }
  std::unique_ptr<Abstract_File> open(const std::string&, Open_Mode) override { return nullptr; }
  void remove(const std::string&) override {}
  void rename(const std::string&, const std::string&) override {}
  void remove_durably(const std::string&) override {}

 private:
  const std::string name_;
};

}  // namespace

std::unique_ptr<Abstract_Directory> Abstract_File::beside() const {
  return std::make_unique<No_Directory>();
}

std::unique_ptr<Abstract_File> Abstract_File::reopen(Open_Mode mode) const {
  return beside()->open("", mode);
}

// Words in a file are little-endian, like the machine (base/types.h).
void Abstract_File::store_words(std::span<const std::int64_t> words, Offset offset) {
  pwrite(reinterpret_cast<const char*>(words.data()), words.size_bytes(), offset);
}

void Abstract_File::load_words(std::span<std::int64_t> words, Offset offset) const {
  read_exactly(reinterpret_cast<char*>(words.data()), words.size_bytes(), offset);
}

void Abstract_File::write_zeros(Offset start, Offset end) {
  constexpr Offset most = Offset{1} << 18;
  const std::vector<char> zeros(static_cast<std::size_t>(std::clamp<Offset>(end - start, 0, most)));
  while (start < end) {
    const auto n = std::min(zeros.size(), static_cast<std::size_t>(end - start));
    pwrite(zeros.data(), n, start);
    start += static_cast<Offset>(n);
  }
}

bool Abstract_File::equal_to(const Abstract_File& other, Offset start, Offset end) const {
  const auto a = std::make_unique<char[]>(copy_buffer_size);
  const auto b = std::make_unique<char[]>(copy_buffer_size);
  while (start < end) {
    const auto n = std::min(copy_buffer_size, static_cast<std::size_t>(end - start));
    read_exactly(a.get(), n, start);
    other.read_exactly(b.get(), n, start);
    if (std::memcmp(a.get(), b.get(), n) != 0) return false;
    start += static_cast<Offset>(n);
  }
  return true;
}

std::size_t Blob_Reader::read(char* data, std::size_t size) {
  const auto n = static_cast<std::size_t>(
      std::min(static_cast<std::int64_t>(std::min(size, std::size_t{1} << 30)), remaining()));
  file_.read_exactly(data, n, position_);
  position_ += static_cast<Offset>(n);
  return n;
}

}  // namespace joedb::inline v1
