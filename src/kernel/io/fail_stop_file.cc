#include "joedb/io/fail_stop_file.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace joedb::inline v1 {

void Recent_Bytes::keep(std::size_t size) {
  const Mutex_Lock lock(mutex_);
  size_ = size;
  bytes_ = {};
}

void Recent_Bytes::cut(Offset end) {
  const auto left = static_cast<std::size_t>(std::max(end - start_, Offset{0}));
  bytes_.resize(std::min(left, bytes_.size()));
}

void Recent_Bytes::drop_first(std::size_t count) {
  count = std::min(count, bytes_.size());
  bytes_.erase(0, count);
  start_ += static_cast<Offset>(count);
}

void Recent_Bytes::forget_from(Offset offset) {
  if (size_ == 0) return;
  const Mutex_Lock lock(mutex_);
  cut(offset);
}

void Recent_Bytes::forget_before(Offset offset) {
  if (size_ == 0) return;
  const Mutex_Lock lock(mutex_);
  if (offset > start_) drop_first(static_cast<std::size_t>(offset - start_));
}

void Recent_Bytes::add(const char* data, std::size_t size, Offset offset) {
  if (size_ == 0) return;
  const Mutex_Lock lock(mutex_);
  if (offset > start_ + static_cast<Offset>(bytes_.size())) bytes_.clear();
  cut(offset);
  const std::size_t kept = size_;
  const std::size_t left_out = size > kept ? size - kept : 0;
  if (left_out > 0) bytes_.clear();
  if (bytes_.empty()) start_ = offset + static_cast<Offset>(left_out);
  // The first bytes are dropped rarely, because the others are then moved.
  if (bytes_.size() + size > 2 * kept && !bytes_.empty()) drop_first(bytes_.size() + size - kept);
  bytes_.append(data + left_out, size - left_out);
}

bool Recent_Bytes::read(char* data, std::size_t size, Offset offset) const {
  if (size_ == 0) return false;
  const Mutex_Lock lock(mutex_);
  if (size == 0 || offset < start_ || offset > start_ + static_cast<Offset>(bytes_.size()))
    return false;
  const auto from = static_cast<std::size_t>(offset - start_);
  if (size > bytes_.size() - from) return false;
  std::memcpy(data, bytes_.data() + from, size);
  return true;
}

void Fail_Stop_File::require_no_failure() const {
  if (!has_failed_) return;
  const Mutex_Lock lock(mutex_);
  throw Write_Disabled(get_name(), failure_);
}

// Holds the mutex until failure_ is set: so if another thread calls require_no_failure, it waits
// until failure_ is set.
void Fail_Stop_File::fail(const char* what) {
  const Mutex_Lock lock(mutex_);
  if (has_failed_) return;
  has_failed_ = true;
  on_failure_();
  recent_.keep(0);
  failure_ = what;
}

template <class F>
auto Fail_Stop_File::guard(F f) {
  require_no_failure();
  try {
    return f();
  } catch (const std::exception& error) {
    fail(error.what());
    throw;
  } catch (...) {
    fail("unknown");
    throw;
  }
}

void Fail_Stop_File::pwrite(const char* data, std::size_t size, Offset offset) {
  guard([&] { file_.pwrite(data, size, offset); });
  recent_.add(data, size, offset);
}

void Fail_Stop_File::store_words(std::span<const std::int64_t> words, Offset offset) {
  guard([&] { file_.store_words(words, offset); });
  recent_.forget_before(offset + static_cast<Offset>(words.size_bytes()));
}

void Fail_Stop_File::sync() {
  guard([&] { file_.sync(); });
}

void Fail_Stop_File::datasync() {
  guard([&] { file_.datasync(); });
}

bool Fail_Stop_File::truncate(Offset size) {
  recent_.forget_from(size);
  return guard([&] { return file_.truncate(size); });
}

}  // namespace joedb::inline v1
