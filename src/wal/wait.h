#ifndef WAL_WAIT_H
#define WAL_WAIT_H

#include <algorithm>
#include <chrono>
#include <optional>

#include "joedb/base/threads.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

// Returns the next entry of a reader as soon as there is one, or nullopt after `timeout`. Polls
// with pauses that double from 1 to 16 ms.
template <class Reader>
std::optional<Entry> wait_for(Reader& reader, std::chrono::milliseconds timeout, System& system) {
  const System::Time until = System::after(
      system.now(), std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(1'000'000)));
  for (auto pause = std::chrono::milliseconds(1);;) {
    if (auto entry = reader.next()) return entry;
    reader.require_not_replaced();
    const auto now = system.now();
    if (now >= until || reader.end().stop == Stop::overwritten) return std::nullopt;
    system.sleep(std::min<System::Duration>(pause, until - now));
    pause = std::min(2 * pause, std::chrono::milliseconds(16));
  }
}

}  // namespace joedb::inline v1::wal

#endif
