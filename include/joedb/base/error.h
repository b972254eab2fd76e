#ifndef JOEDB_BASE_ERROR_H
#define JOEDB_BASE_ERROR_H

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// The base of all exceptions of this library. Each function that throws documents the state after
// the failure. Other exceptions that may leave a function are those of the standard library, such
// as std::bad_alloc, and those of functions that the program passes to the library.
class Exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A system call on `path` failed, at `offset` (-1 if the call has no offset). `action` describes
// the call, such as "opening" or "locking". `code` is an errno value. The text is "ACTION PATH at
// offset N: MESSAGE", followed by ". ADVICE" if `advice` is not empty.
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

// The file was not opened or locked, because another open file holds a lock of it. Nothing has
// changed. `code` is EAGAIN. `holder` is a text such as "process 1234 (shop)" or "this process",
// and `process` is the process id of the holder. If the holder is unknown, `holder` is empty and
// `process` is 0: processes of other users, in other containers and on other machines are not
// found. `reason` is the text without the name of the file and without the advice.
class File_Locked : public Io_Error {
 public:
  // For a file that cannot be opened exclusively, because another writer has it open.
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

// The disk is full, or a quota or the limit on file sizes is reached. Bytes written earlier are not
// lost. As after any failed write, a journal accepts no more writes: free some space, and open the
// file again.
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

// Another program has replaced, removed, truncated or restored an open file: the name of the file
// now refers to another file or to none, or the file has lost bytes. Writes to the open file would
// be lost. Close the file, and open it again. `reason` is the cause, such as "was removed".
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

// The bytes of a file are invalid. `offset` is the position of the damage. `path` is empty if the
// bytes do not come from a file, or come from more than one file.
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

// An operation or a value is invalid: for example, the table is unknown, or the record is already
// in use. The operation has changed nothing. If the bytes of a file are invalid, reading throws
// Corruption_Error instead.
class Data_Error : public Exception {
 public:
  using Exception::Exception;
};

// The connection to another machine or process was lost, or could not be established. A
// reconnection may help. The last request may or may not have been executed.
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
