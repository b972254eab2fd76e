#ifndef JOEDB_SRC_KERNEL_IO_PROCESS_NAME_H
#define JOEDB_SRC_KERNEL_IO_PROCESS_NAME_H

#include <string>

namespace joedb::inline v1 {

// Returns "process 1234 on HOST", which names the holder of a lock to people who wait for it.
std::string process_name();

}  // namespace joedb::inline v1

#endif
