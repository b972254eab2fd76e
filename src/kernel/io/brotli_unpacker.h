#ifndef JOEDB_SRC_KERNEL_IO_BROTLI_UNPACKER_H
#define JOEDB_SRC_KERNEL_IO_BROTLI_UNPACKER_H

#include "kernel/io/unpacked_file.h"

namespace joedb::inline v1 {

// Returns an unpacker of Brotli archives, which have no checksum. Built only if libbrotli is found.
std::unique_ptr<Unpacker> new_brotli_unpacker();

}  // namespace joedb::inline v1

#endif
