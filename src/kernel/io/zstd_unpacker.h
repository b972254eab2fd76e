#ifndef JOEDB_SRC_KERNEL_IO_ZSTD_UNPACKER_H
#define JOEDB_SRC_KERNEL_IO_ZSTD_UNPACKER_H

#include "kernel/io/unpacked_file.h"

// These functions are built only if libzstd is found.

namespace joedb::inline v1 {

// Returns an unpacker of one or more concatenated zstd archives. It verifies the checksums that an
// archive has; the zstd program writes them.
std::unique_ptr<Unpacker> new_zstd_unpacker();

// Compresses the content of `file` to `archive`, with a checksum. Calls `report` with the number of
// bytes compressed so far. Throws Exception, Io_Error, or std::bad_alloc.
void write_zstd(const Abstract_File& file, Abstract_File& archive,
                const std::function<void(Offset)>& report);

}  // namespace joedb::inline v1

#endif
