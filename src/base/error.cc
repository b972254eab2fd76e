#include "joedb/base/error.h"

#include <system_error>

namespace joedb::inline v1 {

static std::string message(std::string_view action, std::string_view path, Offset offset,
                           int code) {
  std::string text(action);
  text.append(" ").append(path);
  if (offset >= 0) text.append(" at offset ").append(std::to_string(offset));
  return text.append(": ").append(std::generic_category().message(code));
}

Io_Error::Io_Error(std::string_view action, std::string_view file, Offset at, int errno_value)
    : Exception(message(action, file, at, errno_value)),
      path(file),
      offset(at),
      code(errno_value) {}

}  // namespace joedb::inline v1
