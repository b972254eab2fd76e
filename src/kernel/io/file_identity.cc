#include "kernel/io/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// Returns a time as a number of nanoseconds. The number wraps around only after 584 years.
static std::uint64_t number_of(const struct statx_timestamp& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

struct File_Access {
  static int descriptor(const File& file) { return file.descriptor(); }
};

std::optional<File_Identity> identity_of(const Abstract_File& file) {
  if (const auto* const other = dynamic_cast<const Has_Identity*>(&file)) return other->identity();
  const auto* const plain = dynamic_cast<const File*>(&file);
  struct statx status;
  constexpr unsigned wanted = STATX_INO | STATX_CTIME | STATX_BTIME;
  if (plain == nullptr ||
      ::statx(File_Access::descriptor(*plain), "", AT_EMPTY_PATH, wanted, &status) != 0)
    return std::nullopt;
  // The name must still refer to this file.
  if (plain->is_replaced()) return std::nullopt;
  const std::uint64_t birth =
      (status.stx_mask & STATX_BTIME) != 0 ? number_of(status.stx_btime) : 0;
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // spreads the bits of small numbers
  return File_Identity{status.stx_ino * factor ^ birth, number_of(status.stx_ctime)};
}

}  // namespace joedb::inline v1
