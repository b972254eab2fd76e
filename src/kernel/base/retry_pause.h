#ifndef BASE_RETRY_PAUSE_H
#define BASE_RETRY_PAUSE_H

#include <algorithm>
#include <chrono>
#include <string>

#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// Pauses between retries (exponential backoff): from 0.1 s up to 10 s, each about twice as long as
// the one before. They are randomized so that the clients of a server do not all retry at the same
// moment.
class Retry_Pause {
 public:
  explicit Retry_Pause(System& system) : system_(system) {}

  System::Duration next() {
    const System::Duration pause = pause_ / 2 + pause_ * (system_.random() % 1024) / 2048;
    pause_ = std::min<System::Duration>(2 * pause_, std::chrono::seconds(10));
    return pause;
  }

 private:
  System& system_;
  System::Duration pause_ = std::chrono::milliseconds(100);
};

// Returns "trying again in 73 ms".
inline std::string trying_again(System::Duration pause) {
  return "trying again in " +
         std::to_string(std::chrono::ceil<std::chrono::milliseconds>(pause).count()) + " ms";
}

}  // namespace joedb::inline v1

#endif
