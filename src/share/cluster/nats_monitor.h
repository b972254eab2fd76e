#ifndef JOEDB_SRC_SHARE_CLUSTER_NATS_MONITOR_H
#define JOEDB_SRC_SHARE_CLUSTER_NATS_MONITOR_H

#include <optional>
#include <string>
#include <vector>

#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// The state of a server, as its monitoring port reports it.
struct Nats_Server_State {
  std::string name;
  std::string version;
  bool syncs_always = false;
};

// Queries the monitoring port of a server at `url` (http://HOST:PORT). Returns nullopt if it cannot
// be reached, or if joedb was built without libcurl.
std::optional<Nats_Server_State> ask_monitor(const std::string& url, System::Duration time);

// Returns the URLs that the setting Nats_Settings::monitor stands for.
std::vector<std::string> monitor_urls(const std::string& monitor,
                                      const std::vector<std::string>& servers);

}  // namespace joedb::inline v1

#endif
