#ifndef JOEDB_SRC_KERNEL_IO_GZIP_UNPACKER_H
#define JOEDB_SRC_KERNEL_IO_GZIP_UNPACKER_H

#include "kernel/io/unpacked_file.h"

// Built only if zlib is found.

namespace joedb::inline v1 {

// Returns an unpacker of one or more concatenated gzip archives. It verifies their checksums, and
// ignores zero bytes after the last one, as gzip does.
std::unique_ptr<Unpacker> new_gzip_unpacker();

}  // namespace joedb::inline v1

#endif
