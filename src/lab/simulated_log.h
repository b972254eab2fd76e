#ifndef LAB_SIMULATED_LOG_H
#define LAB_SIMULATED_LOG_H

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joedb/cluster/replicated_log.h"

namespace joedb::testing {

// What the machines of a replicated log have. In one thread.
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
  // What the first machine that is asked has instead of a message; no bytes: it has nothing.
  std::map<Number, std::string> damaged;
};

// A connection to them.
class Simulated_Log final : public Replicated_Log {
 public:
  explicit Simulated_Log(Simulated_Messages& content) : content_(content) {}

  enum class Call { range, append, read };
  // Called before and after what a call does: may throw Connection_Lost, or wait.
  std::function<void(Call)> before = [](Call) {};
  std::function<void(Call)> after = [](Call) {};
  // Waits for message `number`, at most so long.
  std::function<void(Number number, System::Duration wait)> wait_for = [](Number,
                                                                          System::Duration) {};
  std::function<Range()> late_range = {};  // instead of the right one
  // True: these messages are not appended now, and there is no answer.
  std::function<bool(std::span<const std::string> messages, Number last)> postpone =
      [](std::span<const std::string>, Number) { return false; };
  std::function<void(Number last)> appended = [](Number) {};  // behind message `last`
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
    if (++asked_ % 2 == 1) return std::nullopt;  // a machine that has nothing
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
