#ifndef JOEDB_SRC_IO_FILE_IDENTITY_H
#define JOEDB_SRC_IO_FILE_IDENTITY_H

#include <cstdint>
#include <optional>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Which file this is, and when it was last changed: cheap to read, and different after another file
// was moved or copied to its name.
struct File_Identity {
  std::uint64_t file = 0;    // of its inode number and its time of birth
  std::uint64_t change = 0;  // the time of its last change
};

// Kinds of files that are not a File, and can say it.
class Has_Identity {
 public:
  virtual ~Has_Identity() = default;
  virtual std::optional<File_Identity> identity() const = 0;
};

// Nothing where it is not known: the kind of file cannot say it, or another file has its name.
std::optional<File_Identity> identity_of(const Abstract_File& file);

}  // namespace joedb::inline v1

#endif
