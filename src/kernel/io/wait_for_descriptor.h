#ifndef JOEDB_SRC_KERNEL_IO_WAIT_FOR_DESCRIPTOR_H
#define JOEDB_SRC_KERNEL_IO_WAIT_FOR_DESCRIPTOR_H

#include <chrono>

namespace joedb::inline v1 {

enum class Direction { input, output };

// Waits until the descriptor is ready: a read or write would not block. Returns false if it is not
// ready after `time`, or if a signal arrives.
bool wait_for_descriptor(int descriptor, Direction direction, std::chrono::milliseconds time);

}  // namespace joedb::inline v1

#endif
