#ifndef JOEDB_SRC_KERNEL_IO_SECRET_FILE_H
#define JOEDB_SRC_KERNEL_IO_SECRET_FILE_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Files that contain keys, tokens or passwords.

// Creates a file that no other user can read at any time (mode 0600). It appears under its name
// when it is complete and synced. Throws Io_Error; its code is EEXIST if the file exists. Only one
// thread at a time may create such files.
void write_secret(const std::string& name, std::string_view text);

// Throws Exception if users other than the owner can read or change the file; the text contains the
// command that corrects this. The group may read a file that root owns, because services get keys
// of the system in this way. Does nothing if the file does not exist, or is not a regular file: the
// caller will notice this when it reads the file.
void require_secret(const std::string& name);

}  // namespace joedb::inline v1

#endif
