#ifndef JOEDB_SRC_IO_ZSTD_UNPACKER_H
#define JOEDB_SRC_IO_ZSTD_UNPACKER_H

#include "io/unpacked_file.h"

// Built where libzstd is.

namespace joedb::inline v1 {

// One archive of zstd, or several behind each other. It compares the bytes with checksums if the
// archive has them, as those of the program zstd have.
std::unique_ptr<Unpacker> new_zstd_unpacker();

// Writes an archive of what is in `file`, with a checksum. `report` hears how much is done.
void write_zstd(const Abstract_File& file, Abstract_File& archive,
                const std::function<void(Offset)>& report);

}  // namespace joedb::inline v1

#endif
