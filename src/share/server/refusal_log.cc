#include "share/server/refusal_log.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace joedb::server {

void Refusal_Log::add(const std::string& address, const std::string& client,
                      const std::string& why) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(system_.now() - time_);
  time_ += seconds;
  lines_ = std::min(most, lines_ + seconds.count());
  if (lines_ == 0) {
    ++unlogged_;
    return;
  }
  --lines_;
  std::vector<Log_Field> fields;
  if (!address.empty()) fields.push_back({"address", address});
  if (!client.empty()) fields.push_back({"client", client});
  fields.push_back({"error", why});
  if (unlogged_ > 0) fields.push_back({"not_logged_before", unlogged_});
  log_.event("a connection over TCP was refused", fields);
  unlogged_ = 0;
}

}  // namespace joedb::server
