#include "tools/frame/lock_notice.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "kernel/base/plain_text.h"
#include "share/network/protocol.h"

namespace joedb {

// Returns the lines of the status of a server; empty if the server does not report it.
static std::string status_of(Connector& connector) {
  std::string text;
  try {
    const std::unique_ptr<Channel> channel = connector.new_channel();
    channel->write(network::status_word.data(), network::status_word.size());
    char bytes[1024];
    while (text.size() < 65536) text.append(bytes, channel->read_some(bytes, sizeof bytes));
  } catch (const std::exception&) {  // the server has closed the channel
  }
  return text;
}

// For example "session 3 (ann) has had it for 12 s"; empty if unknown.
static std::string holder_of_lock(Connector& connector) {
  std::istringstream lines(status_of(connector));
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    std::string session;
    std::string seconds;
    std::string name;
    words >> word >> session >> seconds >> name;
    if (word != "lock") continue;
    return plain("session " + session + (name.empty() ? "" : " (" + name + ")") +
                 " has had it for " + seconds + " s");
  }
  return "";
}

Lock_Notice::Lock_Notice(Connector* connector) {
  if (connector == nullptr) return;
  thread_ = std::thread([this, connector] {
    {
      std::unique_lock lock(mutex_);
      if (ending_.wait_for(lock, std::chrono::seconds(1), [this] { return is_ending_; })) return;
    }
    const std::string holder = holder_of_lock(*connector);
    std::fprintf(stderr,
                 "waiting for the lock%s%s. It is given to the next one when the holder ends "
                 "its transaction, is disconnected, or has been silent for the time of "
                 "joedb_server --timeout. Ctrl-C gives up\n",
                 holder.empty() ? "" : ": ", holder.c_str());
  });
}

Lock_Notice::~Lock_Notice() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

}  // namespace joedb
