#include "share/cluster/messages.h"

#include <chrono>

namespace joedb::inline v1 {

std::unique_ptr<Received_Message> Messages::read(Replicated_Log::Number number,
                                                 System::Duration wait) {
  std::optional<std::string> bytes = log_.read(number, wait);
  if (!bytes) return nullptr;
  constexpr int machines = 8;  // no log has more
  std::string reason;
  for (int i = 0; i < machines; ++i) {
    try {
      if (bytes) return std::make_unique<Received_Message>(std::move(*bytes));
    } catch (const Corruption_Error& error) {
      if (reason.empty()) {
        reason = error.what();
        ++damaged_;
        logger_.log(log_.name() + ": message " + std::to_string(number) + " is damaged: " + reason +
                    "; asking another machine for it");
      }
    }
    bytes = log_.read_elsewhere(number);
  }
  throw Missing_Message(log_.name() + ": message " + std::to_string(number) +
                            " is damaged on all machines: " + reason,
                        number);
}

std::unique_ptr<Received_Message> Messages::read_known(Replicated_Log::Number number) {
  constexpr std::chrono::seconds longest(10);
  if (auto message = read(number, longest)) return message;
  throw Missing_Message(
      log_.name() + ": message " + std::to_string(number) + " should be there, and is not", number);
}

}  // namespace joedb::inline v1
