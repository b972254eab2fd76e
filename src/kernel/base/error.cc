#include "joedb/base/error.h"

#include <cerrno>
#include <system_error>

namespace joedb::inline v1 {

static std::string message(std::string_view action, std::string_view path, Offset offset, int code,
                           std::string_view advice) {
  std::string text(action);
  text.append(" ").append(path);
  if (offset >= 0) text.append(" at offset ").append(std::to_string(offset));
  text.append(": ").append(std::generic_category().message(code));
  return advice.empty() ? text : text.append(". ").append(advice);
}

Corruption_Error Corruption_Error::in_file(std::string_view file, std::string_view reason,
                                           Offset at) {
  std::string text(file);
  text.append(": ").append(reason);
  Corruption_Error error(text, at, file);
  error.reason_start_ = file.size() + 2;
  return error;
}

Io_Error::Io_Error(std::string_view what_for, std::string_view file, Offset at, int errno_value,
                   std::string_view advice)
    : Exception(message(what_for, file, at, errno_value, advice)),
      action(what_for),
      path(file),
      offset(at),
      code(errno_value) {}

void throw_io_error(std::string_view action, std::string_view file, Offset at, int errno_value,
                    std::string_view advice) {
  if (errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG)
    throw Disk_Full(action, file, at, errno_value, advice);
  throw Io_Error(action, file, at, errno_value, advice);
}

Write_Disabled::Write_Disabled(std::string_view file, std::string_view first_failure)
    : Exception(std::string(file) + " is not written to any more, after an earlier failure: " +
                std::string(first_failure) + ". Close it and open it again."),
      path(file),
      failure(first_failure) {}

File_Replaced::File_Replaced(std::string_view file, std::string_view what_happened)
    : Exception(std::string(file) + ' ' + std::string(what_happened) + ": open it again"),
      path(file),
      reason(what_happened) {}

Inherited_Object::Inherited_Object(std::string_view object)
    : Exception(std::string(object) +
                " was opened before fork(), by the parent of this process: open it again here"),
      name(object) {}

}  // namespace joedb::inline v1
