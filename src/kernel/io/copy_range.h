#ifndef JOEDB_SRC_KERNEL_IO_COPY_RANGE_H
#define JOEDB_SRC_KERNEL_IO_COPY_RANGE_H

#include <string>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// Copies the first `size` bytes of the file `from` to the file `to`, which must exist, with
// copy_file_range. If the file system supports this, the files share the blocks until one of them
// is written. Returns false if the file system does not support this, or if the first file ends
// before `size`; any part may have been copied then. Throws Io_Error.
bool copy_in_file_system(const std::string& from, const std::string& to, Offset size);

}  // namespace joedb::inline v1

#endif
