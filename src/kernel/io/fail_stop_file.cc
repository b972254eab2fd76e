#include "joedb/io/fail_stop_file.h"

#include <exception>

namespace joedb::inline v1 {

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
}

void Fail_Stop_File::store_words(std::span<const std::int64_t> words, Offset offset) {
  guard([&] { file_.store_words(words, offset); });
}

void Fail_Stop_File::sync() {
  guard([&] { file_.sync(); });
}

void Fail_Stop_File::datasync() {
  guard([&] { file_.datasync(); });
}

bool Fail_Stop_File::truncate(Offset size) {
  return guard([&] { return file_.truncate(size); });
}

}  // namespace joedb::inline v1
