#ifndef JOEDB_SRC_KERNEL_BASE_STANDARD_DESCRIPTORS_H
#define JOEDB_SRC_KERNEL_BASE_STANDARD_DESCRIPTORS_H

// Descriptors 0, 1 and 2 are standard input, output and error. If a process was started without
// them, the next file to be opened would get one of these numbers, and output of the program would
// be written to this file. So no file or socket of this library may have one of these numbers.

namespace joedb::inline v1 {

// Opens /dev/null under each of the three numbers that is free, so that no other file gets these
// numbers. Reads and writes of the new descriptors fail with EBADF, as before. Call this before
// third-party code opens files or sockets.
void reserve_standard_descriptors() noexcept;

}  // namespace joedb::inline v1

#endif
