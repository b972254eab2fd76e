#include "tools/frame/lock_notice.h"

#include <chrono>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "joedb/io/posix_file.h"
#include "kernel/base/plain_text.h"
#include "kernel/io/lock_wait.h"
#include "share/network/protocol.h"
#include "tools/frame/arguments.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

// ---- files --------------------------------------------------------------------------------------

static std::chrono::duration<double> busy_seconds(default_busy_timeout);
static bool is_busy_option_added = false;

bool has_busy_option() { return is_busy_option_added; }

void add_busy_option(Options& options) {
  is_busy_option_added = true;
  options.add("--busy-timeout", busy_seconds,
              "how long to wait for another program that writes the file (default: 5)");
}

System::Duration busy_timeout() {
  return is_classic() ? System::Duration::max()
                      : std::chrono::duration_cast<System::Duration>(busy_seconds);
}

static void announce(Lock_Wait& wait) {
  if (const int signal = stop_signal_come(); signal != 0)
    throw Interrupted(signal, "the wait for a lock has ended");
  if (wait.is_announced || wait.waited() < std::chrono::seconds(1)) return;
  wait.is_announced = true;
  const std::string holder = wait.find_holder().text;
  print_notice("waiting for " + wait.file() + ", which " +
               (holder.empty() ? "somebody else" : holder) + " has locked. Ctrl-C gives up");
}

void announce_lock_waits() { set_lock_wait_hook(announce); }

// ---- servers ------------------------------------------------------------------------------------

std::string ask_server(Connector& connector, std::string_view word) {
  std::string text;
  try {
    const std::unique_ptr<Channel> channel = connector.new_channel();
    channel->set_patience({std::chrono::seconds(2)});
    channel->write(word.data(), word.size());
    char bytes[1024];
    while (text.size() < 65536) text.append(bytes, channel->read_some(bytes, sizeof bytes));
  } catch (const std::exception&) {  // the server has closed the channel
  }
  return text;
}

// Returns a text like "session 3 (ann) has had it for 12 s"; empty if unknown.
static std::string holder_of_lock(Connector& connector) {
  std::istringstream lines(ask_server(connector, network::status_word));
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
    print_notice("waiting for the lock" + (holder.empty() ? "" : ": " + holder) +
                 ". It is given to the next one when the holder ends its transaction, is "
                 "disconnected, or has been silent for the time of joedb_server --timeout. Ctrl-C "
                 "gives up");
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
