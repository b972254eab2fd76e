#ifndef JOEDB_SRC_WAL_WAIT_H
#define JOEDB_SRC_WAL_WAIT_H

#include <algorithm>
#include <chrono>
#include <optional>

#include "joedb/base/threads.h"
#include "joedb/wal/log.h"
#include "kernel/base/backoff.h"

namespace joedb::inline v1::wal {

// Returns the next entry of a reader as soon as there is one, or nullopt after `timeout`. Polls
// with pauses that double from 1 to 16 ms.
template <class Reader>
std::optional<Entry> wait_for(Reader& reader, std::chrono::milliseconds timeout, System& system) {
  Backoff backoff(system, {std::chrono::milliseconds(1), std::chrono::milliseconds(16)},
                  std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(1'000'000)));
  for (;;) {
    if (auto entry = reader.next()) return entry;
    reader.require_not_replaced();
    if (reader.end().stop == Stop::overwritten || !backoff.wait()) return std::nullopt;
  }
}

}  // namespace joedb::inline v1::wal

#endif
