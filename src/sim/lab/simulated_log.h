#ifndef JOEDB_SRC_SIM_LAB_SIMULATED_LOG_H
#define JOEDB_SRC_SIM_LAB_SIMULATED_LOG_H

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joedb/cluster/log_connection.h"

namespace joedb::testing {

// The messages on the machines of a replicated log. Used by one thread.
struct Simulated_Messages {
  using Number = Replicated_Log::Number;

  Number last() const { return first + static_cast<Number>(messages.size()) - 1; }
  bool append(std::span<const std::string> more, Number expected) {
    if (expected != last()) return false;
    messages.insert(messages.end(), more.begin(), more.end());
    return true;
  }
  const std::string& at(Number number) const {
    return messages.at(static_cast<std::size_t>(number - first));
  }
  void remove_before(Number number) {
    messages.erase(messages.begin(), messages.begin() + (number - first));
    first = number;
  }

  std::vector<std::string> messages;
  Number first = 1;
  // For a damaged message: the bytes that the first queried machine has instead; empty if this
  // machine has lost the message.
  std::map<Number, std::string> damaged;
};

// A connection to Simulated_Messages.
class Simulated_Log final : public Replicated_Log {
 public:
  explicit Simulated_Log(Simulated_Messages& content) : content_(content) {}

  enum class Call { range, append, read };
  // Called before and after the effect of a call. They may throw Connection_Lost, or wait.
  std::function<void(Call)> before = [](Call) {};
  std::function<void(Call)> after = [](Call) {};
  // Waits for message `number`, for at most `wait`.
  std::function<void(Number number, System::Duration wait)> wait_for = [](Number,
                                                                          System::Duration) {};
  std::function<Range()> late_range = {};  // replaces the current range
  // Returns true to postpone these messages: append() throws Connection_Lost as if there were no
  // answer.
  std::function<bool(std::span<const std::string> messages, Number last)> postpone =
      [](std::span<const std::string>, Number) { return false; };
  std::function<void(Number last)> appended = [](Number) {};  // called after an append
  std::size_t message_size = std::size_t{1} << 16;
  std::size_t batch = 1;
  bool is_mirror = false;
  Durability promised = Durability::power;
  std::int64_t reconnected = 0;

  std::string name() const override { return "sim://log"; }
  bool can_append() const override { return !is_mirror; }
  std::size_t max_message_size() const override { return message_size; }
  std::size_t max_batch() const override { return batch; }
  Range range() override {
    before(Call::range);
    const Range range = late_range ? late_range() : Range{content_.first, content_.last()};
    after(Call::range);
    return range;
  }
  bool append(std::span<const std::string> messages, Number last) override {
    before(Call::append);
    for (const std::string& message : messages)
      // Every log accepts 64 KiB, even if a test sets a smaller size to get small pieces.
      if (message.size() > std::max(message_size, std::size_t{1} << 16))
        throw Message_Too_Large("too large");
    if (postpone(messages, last)) throw Connection_Lost("no answer");
    const bool result = content_.append(messages, last);
    if (result) appended(last);
    after(Call::append);
    return result;
  }
  std::optional<std::string> read(Number number, System::Duration wait) override {
    before(Call::read);
    if (number == content_.last() + 1 && wait > System::Duration(0)) wait_for(number, wait);
    if (number > content_.last()) return std::nullopt;
    if (number < content_.first) throw Missing_Message("it was removed", number);
    const auto damaged = content_.damaged.find(number);
    std::optional<std::string> result =
        damaged == content_.damaged.end() ? content_.at(number) : damaged->second;
    after(Call::read);
    return result;
  }
  std::optional<std::string> read_elsewhere(Number number) override {
    before(Call::read);
    if (number < content_.first) throw Missing_Message("it was removed", number);
    if (is_damaged_everywhere) return content_.damaged.at(number);
    if (++asked_ % 2 == 1) return std::nullopt;  // this machine has lost the message
    return content_.at(number);
  }
  Promise promise() override { return {promised}; }
  std::int64_t reconnections() const override { return reconnected; }

  bool is_damaged_everywhere = false;

 private:
  Simulated_Messages& content_;
  int asked_ = 0;
};

}  // namespace joedb::testing

#endif
