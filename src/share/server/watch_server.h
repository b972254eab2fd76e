#ifndef JOEDB_SRC_SHARE_SERVER_WATCH_SERVER_H
#define JOEDB_SRC_SHARE_SERVER_WATCH_SERVER_H

#include <functional>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/network/channel.h"

namespace joedb::server {

// Calls notify() when a server may have new entries: after each connection to it, and after each
// change of its checkpoint. Reconnects when the connection is lost. Returns when should_continue()
// is false, which is checked about twice a second unless the server hangs.
void watch_server(Connector& connector, Logger& log, System& system,
                  const std::function<void()>& notify,
                  const std::function<bool()>& should_continue);

}  // namespace joedb::server

#endif
