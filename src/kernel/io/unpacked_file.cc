#include "kernel/io/unpacked_file.h"

#include <algorithm>

namespace joedb::inline v1 {

Unpacked_File::Unpacked_File(std::unique_ptr<Abstract_File> packed,
                             std::unique_ptr<Unpacker> unpacker, Settings settings)
    : Readonly_File(packed->get_name()),
      packed_(std::move(packed)),
      unpacker_(std::move(unpacker)),
      settings_(std::move(settings)),
      max_size_(settings_.max_size) {
  constexpr Offset always_allowed = Offset{1} << 30;
  constexpr Offset factor = 1000;
  if (max_size_ == 0) max_size_ = std::max(always_allowed, factor * packed_->get_size());
  window_.reserve(2 * window_size);
  if (settings_.reads_once)
    keep_temporary();
  else
    unpack_all();
  size_ = window_end();
}

// ---- unpacking ----------------------------------------------------------------------------------

void Unpacked_File::fail(const std::string& what) const {
  const Offset offset = packed_offset_ - static_cast<Offset>(input_.size() - input_begin_);
  throw Corruption_Error::in_file(
      get_name(), "damaged archive: " + what + " at offset " + std::to_string(offset), offset);
}

// Returns false at the end of the archive.
bool Unpacked_File::refill() const {
  input_.resize(input_size);
  input_begin_ = 0;
  input_.resize(packed_->pread(input_.data(), input_.size(), packed_offset_));
  packed_offset_ += static_cast<Offset>(input_.size());
  settings_.report(packed_offset_);
  return !input_.empty();
}

// Adds bytes to the window. Returns false at the end of the file, if an archive may end there.
bool Unpacked_File::advance() const {
  constexpr std::size_t step_size = std::size_t{1} << 17;
  if (window_.size() + step_size > 2 * window_size) {
    const std::size_t surplus = window_.size() - window_size;
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(surplus));
    window_start_ += static_cast<Offset>(surplus);
  }
  const std::size_t old_size = window_.size();
  for (;;) {
    const bool has_input = input_begin_ < input_.size() || refill();
    if (!has_input && unpacker_->is_at_end()) return false;
    window_.resize(old_size + step_size);
    Unpacker::Step step;
    try {
      step = unpacker_->step({input_.data() + input_begin_, input_.size() - input_begin_},
                             std::span(window_).subspan(old_size));
    } catch (const Exception& error) {
      window_.resize(old_size);
      fail(error.what());
    }
    input_begin_ += step.taken;
    window_.resize(old_size + step.given);
    if (step.given > 0) {
      require_allowed_size();
      return true;
    }
    if (!has_input) fail("it ends too early,");
  }
}

void Unpacked_File::require_allowed_size() const {
  if (window_end() <= max_size_) return;
  throw Exception(get_name() + ": unpacks to more than " + std::to_string(max_size_) +
                  " bytes, and has " + std::to_string(packed_->get_size()) +
                  ". If you trust it: --max-size BYTES");
}

// Returns the size of the head. The head is kept in memory, because every reader reads first the
// head and then the end of the file.
std::ptrdiff_t Unpacked_File::head_end() const {
  constexpr std::size_t head_size = std::size_t{1} << 16;
  return static_cast<std::ptrdiff_t>(std::min(window_.size(), head_size));
}

void Unpacked_File::unpack_all() const {
  while (advance()) {
    if (head_.empty()) head_.assign(window_.begin(), window_.begin() + head_end());
    if (temporary_) {
      const Offset end = temporary_->get_size();
      const std::size_t done = static_cast<std::size_t>(end - window_start_);
      temporary_->pwrite(window_.data() + done, window_.size() - done, end);
    }
  }
}

void Unpacked_File::go_back() const {
  unpacker_->restart();
  input_.clear();
  input_begin_ = 0;
  packed_offset_ = 0;
  window_.clear();
  window_start_ = 0;
}

void Unpacked_File::keep_temporary() const {
  go_back();
  temporary_ = std::make_unique<Unnamed_File>("a temporary file for " + get_name());
  unpack_all();
}

// ---- reading ------------------------------------------------------------------------------------

std::size_t Unpacked_File::read_window(char* data, std::size_t size, Offset offset) const {
  const auto start = static_cast<std::size_t>(offset - window_start_);
  const std::size_t n = std::min(size, window_.size() - start);
  std::copy_n(window_.data() + start, n, data);
  return n;
}

std::size_t Unpacked_File::pread(char* data, std::size_t size, Offset offset) const {
  if (offset < 0 || offset >= size_) return 0;
  size = std::min(size, static_cast<std::size_t>(size_ - offset));
  std::size_t done = 0;
  while (done < size) {
    const Offset position = offset + static_cast<Offset>(done);
    if (temporary_) {
      temporary_->read_exactly(data + done, size - done, position);
      return size;
    }
    if (position < static_cast<Offset>(head_.size())) {
      const std::size_t n =
          std::min(size - done, head_.size() - static_cast<std::size_t>(position));
      std::copy_n(head_.data() + position, n, data + done);
      done += n;
    } else if (position < window_start_) {
      if (++restarts_ > max_restarts)
        keep_temporary();
      else
        go_back();
    } else if (position < window_end()) {
      done += read_window(data + done, size - done, position);
    } else if (!advance()) {
      throw Exception(get_name() + ": has changed while it was read");
    }
  }
  return done;
}

}  // namespace joedb::inline v1
