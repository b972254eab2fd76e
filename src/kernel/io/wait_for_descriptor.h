#ifndef JOEDB_SRC_KERNEL_IO_WAIT_FOR_DESCRIPTOR_H
#define JOEDB_SRC_KERNEL_IO_WAIT_FOR_DESCRIPTOR_H

#include <chrono>

namespace joedb::inline v1 {

enum class Direction { input, output };

// Waits until a read or write of the descriptor would not block, and returns true. Returns false
// after `time`, or if a signal arrives.
bool wait_for_descriptor(int descriptor, Direction direction, std::chrono::milliseconds time);

}  // namespace joedb::inline v1

#endif
