#ifndef JOEDB_SERVER_WATCH_SERVER_H
#define JOEDB_SERVER_WATCH_SERVER_H

#include <functional>

#include "joedb/base/log.h"
#include "joedb/base/system.h"
#include "joedb/network/channel.h"

namespace joedb::server {

// Waits at a server, and calls notify() when it may have something new: after each connection, and
// after each change of its checkpoint. A connection that is lost is made anew. Returns when
// goes_on() is false, which is asked twice a second, unless the server hangs.
void watch_server(Connector& connector, Logger& log, System& system,
                  const std::function<void()>& notify, const std::function<bool()>& goes_on);

}  // namespace joedb::server

#endif
