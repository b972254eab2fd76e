#include "joedb/io/fail_stop_file.h"

#include <exception>

namespace joedb {

template <class F>
auto Fail_Stop_File::guard(F f) {
  if (has_failed())
    throw Exception(get_name() + " is not written to any more, after an earlier failure: " +
                    failure_ + ". Close it and open it again.");
  try {
    return f();
  } catch (const std::exception& error) {
    failure_ = error.what();
    if (failure_.empty()) failure_ = "unknown error";
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

}  // namespace joedb
