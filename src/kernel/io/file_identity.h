#ifndef JOEDB_SRC_KERNEL_IO_FILE_IDENTITY_H
#define JOEDB_SRC_KERNEL_IO_FILE_IDENTITY_H

#include <cstdint>
#include <optional>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Identifies a file and its last change. The identity is cheap to read; it differs after another
// file was moved or copied to the name of the file.
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

// Returns nullopt if the identity is unknown: the kind of file has none, or another file has its
// name now.
std::optional<File_Identity> identity_of(const Abstract_File& file);

}  // namespace joedb::inline v1

#endif
