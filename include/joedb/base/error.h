#ifndef JOEDB_BASE_ERROR_H
#define JOEDB_BASE_ERROR_H

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// The base of all exceptions of this library. Each function that throws documents the state after
// the failure. Exceptions of the standard library (such as std::bad_alloc), and of functions and
// classes that the program passes to the library, do not derive from this class.
class Exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A system call on `path` failed, at `offset` (-1 if the call has no offset). `action` describes
// the call: "opening", "locking". `code` is an errno value. The text is "ACTION PATH at offset N:
// MESSAGE", followed by ". ADVICE" if there is some.
class Io_Error : public Exception {
 public:
  Io_Error(std::string_view what_for, std::string_view file, Offset at, int errno_value,
           std::string_view advice = "");
  const std::string action;
  const std::string path;
  const Offset offset;
  const int code;

 protected:
  // For derived classes with a text of their own.
  Io_Error(const std::string& text, std::string_view what_for, std::string_view file, Offset at,
           int errno_value);
};

// Somebody else holds a lock of the file, so it was not opened or locked: nothing has changed.
// `code` is EAGAIN. `holder` is a text such as "process 1234 (shop)" or "this process", and
// `process` the process id; they are empty and 0 if the holder is unknown: processes of other
// users, in other containers and on other machines are not found. `reason` is the text without the
// name of the file, and without advice.
class File_Locked : public Io_Error {
 public:
  // A file that another writer has open cannot be opened exclusively.
  File_Locked(std::string_view file, int holder_process, std::string_view holder_text);
  const int process;
  const std::string holder;
  const std::string reason;

 protected:
  File_Locked(const std::string& text, std::string_view file, int holder_process,
              std::string_view holder_text, std::string_view why);
};

// The lock was not released within the busy timeout of the file (io/posix_file.h). The call can be
// repeated.
class Lock_Timeout : public File_Locked {
 public:
  using Duration = std::chrono::steady_clock::duration;
  Lock_Timeout(std::string_view file, int holder_process, std::string_view holder_text,
               Duration time_waited);
  const Duration waited;

 private:
  Lock_Timeout(std::string_view file, int holder_process, std::string_view holder_text,
               Duration time_waited, const std::string& why);
};

// The disk, a quota or a limit on file sizes is reached. Bytes written are not lost. As after any
// failed write, a journal accepts no more writes: free some space, and open the file again.
class Disk_Full : public Io_Error {
 public:
  using Io_Error::Io_Error;
};

// Throws Disk_Full for ENOSPC, EDQUOT and EFBIG, Io_Error for all other values.
[[noreturn]] void throw_io_error(std::string_view action, std::string_view file, Offset at,
                                 int errno_value, std::string_view advice = "");

// Writing to a file is disabled, because an earlier write or sync has failed. The file can still be
// read; to write, close the file and open it again. `failure` is the text of the first error.
class Write_Disabled : public Exception {
 public:
  Write_Disabled(std::string_view file, std::string_view first_failure);
  const std::string path;
  const std::string failure;
};

// The name of an open file now refers to another file or to none, or the file has lost bytes:
// another program has replaced, removed, truncated or restored the file. Writes to the open file
// would be lost. Close the file, and open it again. `reason` is the cause, such as "was removed".
class File_Replaced : public Exception {
 public:
  File_Replaced(std::string_view file, std::string_view what_happened);
  const std::string path;
  const std::string reason;
};

// A child process has used an object that its parent made before fork(). The call had no effect.
// The child must make an object of its own.
class Inherited_Object : public Exception {
 public:
  explicit Inherited_Object(std::string_view object);
  const std::string name;  // name of the file or connection
};

// The bytes of a file are invalid. `offset` is the position of the damage; `path` is empty if no
// file was read, or more than one file.
class Corruption_Error : public Exception {
 public:
  // `what` names the file.
  Corruption_Error(const std::string& what, Offset at, std::string_view file = "")
      : Exception(what), path(file), offset(at) {}
  // The text is "FILE: REASON".
  static Corruption_Error in_file(std::string_view file, std::string_view reason, Offset at);

  // Returns the text without the leading name of the file.
  std::string reason() const { return std::string(what()).substr(reason_start_); }
  const std::string path;
  const Offset offset;

 private:
  std::size_t reason_start_ = 0;
};

// An operation or a value is invalid: an unknown table, for example, or a record in use. The
// operation has changed nothing. For invalid bytes of a file, reading throws Corruption_Error
// instead.
class Data_Error : public Exception {
 public:
  using Exception::Exception;
};

// The connection to another machine or process is lost, or could not be made. A reconnection may
// help. The last request may or may not have been executed.
class Connection_Lost : public Exception {
 public:
  using Exception::Exception;
};

// The other side of a connection refuses a request, or does not speak the protocol. A reconnection
// does not help.
class Disconnection : public Exception {
 public:
  using Exception::Exception;
};

}  // namespace joedb::inline v1

#endif
