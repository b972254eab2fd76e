#include "joedb/io/fail_stop_file.h"

namespace joedb::inline v1 {

void Preallocator::set_step(Offset step) {
  if (step < 0 || step > max_step)
    throw Exception(file_.get_name() + ": a file is preallocated in steps of 0 to " +
                    std::to_string(max_step) + " bytes, not " + std::to_string(step));
  step_ = step;
}

bool Preallocator::reserve(Offset start, Offset content_end) {
  if (step_ == 0 || content_end <= end_) return true;
  guard_.require_no_failure();
  const Offset new_end = (content_end / step_ + 1) * step_;
  try {
    file_.write_zeros(start, new_end);
    end_ = new_end;
  } catch (const Io_Error&) {
    stop();
    return false;
  }
  return true;
}

}  // namespace joedb::inline v1
