#ifndef JOEDB_SRC_IO_COPY_RANGE_H
#define JOEDB_SRC_IO_COPY_RANGE_H

#include <string>

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

// Copies the first `size` bytes of a file into another one, both by their names: the file system
// does it, and where it can, both share the blocks until one of them is written to. Returns false
// where it cannot do such a thing, or the first file ends before: any part may have been copied
// then. Throws Io_Error.
bool copy_in_file_system(const std::string& from, const std::string& to, Offset size);

}  // namespace joedb::inline v1

#endif
