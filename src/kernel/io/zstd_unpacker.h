#ifndef JOEDB_SRC_KERNEL_IO_ZSTD_UNPACKER_H
#define JOEDB_SRC_KERNEL_IO_ZSTD_UNPACKER_H

#include "kernel/io/unpacked_file.h"

// Built only if libzstd is found.

namespace joedb::inline v1 {

// Returns an unpacker of one or more concatenated zstd archives. It verifies checksums if the
// archive has them, as those of the zstd program do.
std::unique_ptr<Unpacker> new_zstd_unpacker();

// Writes the content of `file` to `archive`, with a checksum. `report` is called with the number of
// bytes done. Throws Exception, Io_Error, or std::bad_alloc.
void write_zstd(const Abstract_File& file, Abstract_File& archive,
                const std::function<void(Offset)>& report);

}  // namespace joedb::inline v1

#endif
