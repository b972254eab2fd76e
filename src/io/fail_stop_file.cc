#include "joedb/io/fail_stop_file.h"

#include <exception>

namespace joedb::inline v1 {

void Fail_Stop_File::require_no_failure() const {
  if (!has_failed_) return;
  const std::lock_guard lock(mutex_);
  throw Exception(get_name() + " is not written to any more, after an earlier failure: " +
                  failure_ + ". Close it and open it again.");
}

void Fail_Stop_File::fail(const char* what) {
  const std::lock_guard lock(mutex_);
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
