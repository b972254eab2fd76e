#ifndef JOEDB_BASE_ERROR_H
#define JOEDB_BASE_ERROR_H

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

// The base of all exceptions of this library. What is true after a failure is said at the function
// that throws. Exceptions of the standard library (std::bad_alloc, for example), and of functions
// and classes that the program passes, are not of this type.
class Exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A system call on `path` failed, at `offset` (-1 if it has none). `code` is an errno value. The
// text is "ACTION PATH at offset N: MESSAGE".
class Io_Error : public Exception {
 public:
  Io_Error(std::string_view action, std::string_view file, Offset at, int errno_value);
  const std::string path;
  const Offset offset;
  const int code;
};

// The disk, or a quota, is full. What was written before is still there. A journal is not written
// any more after this, as after any failed write: free some space, and open the file again.
class Disk_Full : public Io_Error {
 public:
  using Io_Error::Io_Error;
};

// Throws Disk_Full for ENOSPC and EDQUOT, Io_Error for all other values.
[[noreturn]] void throw_io_error(std::string_view action, std::string_view file, Offset at,
                                 int errno_value);

// A file is not written to any more, because an earlier write or sync has failed. It must be closed
// and opened again; until then it can be read. `failure` is the text of that first error.
class Write_Disabled : public Exception {
 public:
  Write_Disabled(std::string_view file, std::string_view first_failure);
  const std::string path;
  const std::string failure;
};

// The name of an open file leads to another file now, or to none, or the file has lost bytes:
// another program has replaced, removed, truncated or restored it. What is written to the open file
// would be lost. Close it, and open it again. `reason` says what has happened, as "was removed".
class File_Replaced : public Exception {
 public:
  File_Replaced(std::string_view file, std::string_view what_happened);
  const std::string path;
  const std::string reason;
};

// A child process uses an object that its parent made before fork(). Nothing was done. The child
// makes an object of its own instead.
class Inherited_Object : public Exception {
 public:
  explicit Inherited_Object(std::string_view object);
  const std::string name;  // of the file or connection
};

// The bytes of a file are not what they should be. `offset` is where the trouble is; `path` is
// empty where no file was read, or more than one.
class Corruption_Error : public Exception {
 public:
  // `what` names the file.
  Corruption_Error(const std::string& what, Offset at, std::string_view file = "")
      : Exception(what), path(file), offset(at) {}
  // The text is "FILE: REASON".
  static Corruption_Error in_file(std::string_view file, std::string_view reason, Offset at);

  // The text, without the name of the file in front of it.
  std::string reason() const { return std::string(what()).substr(reason_start_); }
  const std::string path;
  const Offset offset;

 private:
  std::size_t reason_start_ = 0;
};

// A file that is opened for writing has bytes behind its checkpoint: a process was killed, or
// ended, in a transaction. Nothing has been changed. Journal_Options::recovery says what to do with
// them.
class Unfinished_Transaction : public Exception {
 public:
  Unfinished_Transaction(std::string_view file, Offset checkpoint_position, Offset file_size);
  const std::string path;
  const Offset checkpoint;
  const Offset size;  // of the file
};

// An operation that does not fit the content of the database: an unknown table, a record in use.
// It has changed nothing. If an entry of a journal does not fit, replaying throws Corruption_Error
// instead.
class Data_Error : public Exception {
 public:
  using Exception::Exception;
};

// A row would have a key that another row of a unique index has already. Loading a journal throws
// this, too, after its last entry: then the tables have been changed (table/load.h).
class Unique_Violation : public Data_Error {
 public:
  Unique_Violation(const std::string& what, std::string_view index_name, Record_Id new_record,
                   Record_Id old_record)
      : Data_Error(what), index(index_name), record(new_record), other(old_record) {}
  const std::string index;
  const Record_Id record;  // that would have the key
  const Record_Id other;   // that has it
};

// The schema of a file is neither that of the program nor an older one. Both are given as commands
// of joedbi, one on a line.
class Schema_Mismatch : public Exception {
 public:
  Schema_Mismatch(const std::string& what, std::string file_schema, std::string program_schema)
      : Exception(what), in_file(std::move(file_schema)), in_program(std::move(program_schema)) {}
  const std::string in_file;
  const std::string in_program;
};

// A read-only database whose file has an older schema than the program. Opening the file for
// writing upgrades it.
class Out_Of_Date : public Exception {
 public:
  using Exception::Exception;
};

// The connection to another machine or process is lost, or was never made. It may work again after
// a reconnection; what was asked for may have been done or not.
class Connection_Lost : public Exception {
 public:
  using Exception::Exception;
};

// The other side of a connection refuses, or does not speak the protocol: a reconnection does not
// help.
class Disconnection : public Exception {
 public:
  using Exception::Exception;
};

// Two journals that should have the same bytes in [start, end) differ there: they are not copies of
// each other, or have diverged. `path` is the local one. Neither has been changed.
class Content_Mismatch : public Disconnection {
 public:
  Content_Mismatch(std::string_view file, Offset start_of_bytes, Offset end_of_bytes);
  const std::string path;
  const Offset start;
  const Offset end;
};

// A push does not begin where the other copy ends: somebody else has pushed since it was last
// pulled, or the lock was lost. Nothing of it was appended. The copies parted at `position`, or
// behind it.
class Conflict : public Disconnection {
 public:
  explicit Conflict(Offset pushed_from);
  const Offset position;
};

}  // namespace joedb::inline v1

#endif
