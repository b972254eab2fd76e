#include "share/server/watch_server.h"

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "joedb/network/server_connection.h"

namespace joedb::server {

void watch_server(Connector& connector, Logger& log, System& system,
                  const std::function<void()>& notify,
                  const std::function<bool()>& should_continue) {
  constexpr std::chrono::milliseconds max_wait{500};
  while (should_continue()) {
    try {
      const std::unique_ptr<Channel> channel = connector.new_channel();
      Server_Connection connection(*channel);
      notify();
      while (should_continue()) {
        const Offset known = connection.get_checkpoint();
        connection.pull_checkpoint({known, max_wait});
        if (connection.get_checkpoint() != known) notify();
      }
    } catch (const std::exception& error) {
      log.log(std::string("waiting for the server of the connection: ") + error.what());
      system.sleep(max_wait);
    }
  }
}

}  // namespace joedb::server
