#include "joedb/journal/writable_journal.h"

#include <algorithm>
#include <cstring>

namespace joedb::inline v1 {

static constexpr std::size_t first_size = std::size_t{1} << 12;
static constexpr std::size_t full_size = std::size_t{1} << 18;
static constexpr Offset much = Offset{1} << 14;
static constexpr Offset writeback_step = Offset{1} << 23;

Append_Buffer::Append_Buffer(Abstract_File& file, Fail_Stop_File& out)
    : file_(file), out_(out), preallocator_(file, out), memory_(prefix_size + first_size) {}

// Memory for an entry that fits in the buffer is reserved as a whole, before the entry is encoded.
// So this flush never splits such an entry.
void Append_Buffer::make_room(std::size_t size) {
  flush();
  const std::size_t old = memory_.size() - prefix_size;
  const std::size_t wanted = std::max(size, std::min(full_size, 4 * old));
  if (wanted > old) memory_.resize(prefix_size + wanted);
}

void Append_Buffer::append(const char* data, std::size_t size) {
  if (size < full_size) {
    char* const out = reserve(size);
    if (size > 0) std::memcpy(out, data, size);
    used_ += size;
  } else {
    flush();
    // If the bytes are hashed, they are written in pieces, so that each piece is still in the CPU
    // cache.
    while (size > 0) {
      const std::size_t n = hasher_.is_running() ? std::min(size, full_size) : size;
      write(data, n);
      data += n;
      size -= n;
    }
  }
}

std::string_view Append_Buffer::flush() {
  const std::string_view written = unwritten();
  if (used_ > 0) write(body(), used_);
  used_ = 0;
  return written;
}

void Append_Buffer::write(const char* data, std::size_t size) {
  const Offset end = flushed_ + static_cast<Offset>(size);
  out_.pwrite(data, size, flushed_);
  preallocate_behind(end);
  if (hasher_.is_running()) hash_written(data, end);
  flushed_ = end;
  // The disk may begin to write now, so that the next sync has less to do.
  if (flushed_ - sent_ >= writeback_step) {
    out_.start_writeback(sent_, flushed_);
    sent_ = flushed_;
  }
  if (data == body()) {
    std::memmove(memory_.data(), memory_.data() + size, prefix_size);
    has_prefix_ = has_prefix_ || size >= prefix_size;
  } else {
    has_prefix_ = false;
  }
}

void Append_Buffer::start_hash(Offset start) {
  assert(start >= flushed_ && start <= position());
  hasher_.start_at(start);
}

// Hashes the bytes [flushed_, end), which are at `data`, unless they are only a few.
void Append_Buffer::hash_written(const char* data, Offset end) {
  if (end - flushed_ < much) return;
  try {
    hash_file(flushed_);
  } catch (const Io_Error&) {  // the bytes have been written; hash_since() returns nullopt
    hasher_.stop();
    return;
  }
  const Offset start = hasher_.end();
  hasher_.add({data + (start - flushed_), static_cast<std::size_t>(end - start)});
}

void Append_Buffer::hash_file(Offset end) {
  char bytes[std::size_t{1} << 14];
  while (hasher_.end() < end) {
    const std::size_t size = std::min(static_cast<std::size_t>(end - hasher_.end()), sizeof bytes);
    file_.read_exactly(bytes, size, hasher_.end());
    hasher_.add({bytes, size});
  }
}

std::optional<std::uint64_t> Append_Buffer::hash_since(Offset start) {
  if (!hasher_.is_running() || hasher_.start() != start) return std::nullopt;
  hash_file(flushed_);
  hasher_.add(unwritten().substr(static_cast<std::size_t>(hasher_.end() - flushed_)));
  return hasher_.hash();
}

// Content is written before the zeros behind it, so that the file never has a hole, which a full
// disk could neither fill nor erase (Journal_Recovery::erase). If the disk has no room for all
// zeros, the zeros that were already written are removed again.
void Append_Buffer::preallocate_behind(Offset end) {
  if (!preallocator_.reserve(end, end)) truncate(end);
}

void Append_Buffer::drop_from(Offset position) noexcept {
  try {
    if (flushed_ > position && !out_.has_failed()) {
      out_.truncate(position);
      preallocator_.set_end(0);
      restart_at(position);
    }
  } catch (const std::exception&) {  // the caller throws an exception that is more specific
  }
  used_ = flushed_ <= position ? static_cast<std::size_t>(position - flushed_) : 0;
  if (position < hasher_.end()) hasher_.stop();
}

void Append_Buffer::restart_at(Offset position) noexcept {
  flushed_ = sent_ = position;
  used_ = 0;
  has_prefix_ = false;
  hasher_.stop();
}

void Append_Buffer::truncate(Offset position) {
  if (file_.get_size() != Abstract_File::unknown_size && !out_.truncate(position))
    throw Exception(file_.get_name() + " cannot be truncated");
  preallocator_.set_end(0);
}

std::string_view Append_Buffer::last_bytes() {
  assert(position() >= static_cast<Offset>(prefix_size));
  if (!has_prefix_ && used_ < prefix_size) {
    file_.read_exactly(memory_.data(), prefix_size, flushed_ - static_cast<Offset>(prefix_size));
    has_prefix_ = true;
  }
  return {memory_.data() + used_, prefix_size};
}

}  // namespace joedb::inline v1
