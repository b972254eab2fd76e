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

Io_Error::Io_Error(const std::string& text, std::string_view what_for, std::string_view file,
                   Offset at, int errno_value)
    : Exception(text), action(what_for), path(file), offset(at), code(errno_value) {}

File_Locked::File_Locked(const std::string& text, std::string_view file, int holder_process,
                         std::string_view holder_text, std::string_view why)
    : Io_Error(text, "locking", file, -1, EAGAIN),
      process(holder_process),
      holder(holder_text),
      reason(why) {}

static std::string reason_of_lock(std::string_view holder) {
  if (holder == "this process") return "this process writes it already, through another object";
  return "another program writes it" + (holder.empty() ? "" : ": " + std::string(holder));
}

File_Locked::File_Locked(std::string_view file, int holder_process, std::string_view holder_text)
    : File_Locked(std::string(file) + ": " + reason_of_lock(holder_text) +
                      ". Open_Mode::write_lock waits for that. Several can write the file if all "
                      "open it with File_Client, or Open_Mode::shared_write",
                  file, holder_process, holder_text, reason_of_lock(holder_text)) {}

// Returns a text such as "0.25 seconds".
static std::string seconds_text(Lock_Timeout::Duration duration) {
  std::string text = std::to_string(std::chrono::duration<double>(duration).count());
  text.erase(text.find('.') + 3);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + (text == "1" ? " second" : " seconds");
}

Lock_Timeout::Lock_Timeout(std::string_view file, int holder_process, std::string_view holder_text,
                           Duration time_waited)
    : Lock_Timeout(file, holder_process, holder_text, time_waited,
                   "is locked by " +
                       std::string(holder_text.empty() ? "somebody else" : holder_text) +
                       ": waited " + seconds_text(time_waited) + " (busy timeout)") {}

Lock_Timeout::Lock_Timeout(std::string_view file, int holder_process, std::string_view holder_text,
                           Duration time_waited, const std::string& why)
    : File_Locked(std::string(file) + " " + why, file, holder_process, holder_text, why),
      waited(time_waited) {}

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
