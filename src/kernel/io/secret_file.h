#ifndef JOEDB_SRC_KERNEL_IO_SECRET_FILE_H
#define JOEDB_SRC_KERNEL_IO_SECRET_FILE_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Keys, tokens and passwords in files.

// Creates a file that no other user can read at any time (mode 0600). It appears under its name
// when it is complete and synced. Throws Io_Error, also (EEXIST) if the file exists. Only one
// thread at a time may create such files.
void write_secret(const std::string& name, std::string_view text);

// Throws Exception, with the command that mends it, if users other than the owner can read or
// change the file. The group may read a file of root: programs get keys of the system in this way.
// No-op if the file is not there, or is no regular file: reading it shows the problem.
void require_secret(const std::string& name);

}  // namespace joedb::inline v1

#endif
