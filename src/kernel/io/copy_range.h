#ifndef JOEDB_SRC_KERNEL_IO_COPY_RANGE_H
#define JOEDB_SRC_KERNEL_IO_COPY_RANGE_H

#include <string>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// Copies the first `size` bytes of one named file to another, both of which exist, with
// copy_file_range: file systems that can do so share the blocks until one of the files is written
// to. Returns false if the file system does not support this, or if the first file ends before
// `size`; any part may have been copied then. Throws Io_Error.
bool copy_in_file_system(const std::string& from, const std::string& to, Offset size);

}  // namespace joedb::inline v1

#endif
