#ifndef JOEDB_SRC_IO_PROCESS_NAME_H
#define JOEDB_SRC_IO_PROCESS_NAME_H

#include <string>

namespace joedb::inline v1 {

// "process 1234 on HOST": who has a lock, for people who wait for it.
std::string process_name();

}  // namespace joedb::inline v1

#endif
