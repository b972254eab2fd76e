#ifndef JOEDB_SRC_KERNEL_IO_FILE_IDENTITY_H
#define JOEDB_SRC_KERNEL_IO_FILE_IDENTITY_H

#include <cstdint>
#include <optional>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Identifies a file and its last change. The identity is cheap to read. It changes if another file
// is moved or copied to the name of the file.
struct File_Identity {
  std::uint64_t file = 0;    // combines the inode number and the birth time
  std::uint64_t change = 0;  // time of the last change (ctime)
};

// Base of file classes other than File that have an identity.
class Has_Identity {
 public:
  virtual ~Has_Identity() = default;
  virtual std::optional<File_Identity> identity() const = 0;
};

// Returns nullopt if this kind of file has no identity, or if another file has the name of this
// file now.
std::optional<File_Identity> identity_of(const Abstract_File& file);

}  // namespace joedb::inline v1

#endif
