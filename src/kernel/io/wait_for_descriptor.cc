#include "kernel/io/wait_for_descriptor.h"

#include <poll.h>

namespace joedb::inline v1 {

bool wait_for_descriptor(int descriptor, Direction direction, std::chrono::milliseconds time) {
  pollfd waiting{descriptor, static_cast<short>(direction == Direction::input ? POLLIN : POLLOUT),
                 0};
  return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace joedb::inline v1
