#ifndef JOEDB_BASE_ERROR_H
#define JOEDB_BASE_ERROR_H

#include <stdexcept>
#include <string>
#include <string_view>

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

// Everything joedb throws derives from this. What is thrown by a function that changes something
// says in its header what is true afterwards.
class Exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The world failed: a system call on `path` at `offset` (-1 if it has none). `code` is an errno
// value.
class Io_Error : public Exception {
 public:
  Io_Error(std::string_view action, std::string_view file, Offset at, int errno_value);
  const std::string path;
  const Offset offset;
  const int code;
};

// The bytes of a journal are not what they should be. `offset` is where the trouble is.
class Corruption_Error : public Exception {
 public:
  Corruption_Error(const std::string& what, Offset at) : Exception(what), offset(at) {}
  const Offset offset;
};

// A file goes on behind its checkpoint: a process was killed, or ended, in a transaction. Nothing
// has been changed.
class Unfinished_Transaction : public Exception {
 public:
  Unfinished_Transaction(std::string_view file, Offset checkpoint_position, Offset file_size);
  const std::string path;
  const Offset checkpoint;
  const Offset size;  // of the file
};

// An operation that does not fit the content of the database: an unknown table, a record in use.
// Nothing has been changed. (Found in a journal, it becomes a Corruption_Error.)
class Data_Error : public Exception {
 public:
  using Exception::Exception;
};

// A read-only database whose file has an older schema than the program.
class Out_Of_Date : public Exception {
 public:
  using Exception::Exception;
};

// Two journals that should share their beginning differ.
class Content_Mismatch : public Exception {
 public:
  using Exception::Exception;
};

}  // namespace joedb::inline v1

#endif
