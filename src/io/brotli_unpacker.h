#ifndef JOEDB_SRC_IO_BROTLI_UNPACKER_H
#define JOEDB_SRC_IO_BROTLI_UNPACKER_H

#include "io/unpacked_file.h"

namespace joedb::inline v1 {

// An archive of brotli. It has no checksum. Built where libbrotli is.
std::unique_ptr<Unpacker> new_brotli_unpacker();

}  // namespace joedb::inline v1

#endif
