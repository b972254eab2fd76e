#ifndef JOEDB_SRC_SHARE_SERVER_FAIR_QUEUE_H
#define JOEDB_SRC_SHARE_SERVER_FAIR_QUEUE_H

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace joedb::server {

// A queue in which clients take turns: between two items of one client, each other client has at
// most one item removed. The items of a client keep their order.
template <class Item>
class Fair_Queue {
 public:
  void push(const std::string& client, Item item) { items_[client].push_back(std::move(item)); }

  // Removes the first item of the client that follows the one served last, in the order of their
  // names.
  std::optional<Item> pop() {
    if (items_.empty()) return std::nullopt;
    auto found = items_.upper_bound(last_);
    if (found == items_.end()) found = items_.begin();
    last_ = found->first;
    Item item = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) items_.erase(found);
    return item;
  }

  // Removes the items of a client for which is_unwanted(item) is true.
  template <class F>
  void remove(const std::string& client, F is_unwanted) {
    const auto found = items_.find(client);
    if (found == items_.end()) return;
    std::erase_if(found->second, is_unwanted);
    if (found->second.empty()) items_.erase(found);
  }

 private:
  std::map<std::string, std::deque<Item>> items_;  // by client; no queue is empty
  std::string last_;
};

}  // namespace joedb::server

#endif
