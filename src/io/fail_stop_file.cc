#include "joedb/io/fail_stop_file.h"

#include <exception>
#include <type_traits>

namespace joedb::inline v1 {

void Fail_Stop_File::require_no_failure() const {
  if (has_failed_)
    throw Exception(get_name() + " is not written to any more, after an earlier failure: " +
                    failure_ + ". Close it and open it again.");
}

template <class F>
auto Fail_Stop_File::guard(F f) {
  require_no_failure();
  has_failed_ = true;  // unless f returns
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      has_failed_ = false;
    } else {
      const auto result = f();
      has_failed_ = false;
      return result;
    }
  } catch (const std::exception& error) {
    on_failure_();
    failure_ = error.what();
    throw;
  } catch (...) {
    on_failure_();
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
