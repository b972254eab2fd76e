#include "share/server/fair_queue.h"

#include <gtest/gtest.h>

namespace joedb::server {
namespace {

std::string rest_of(Fair_Queue<char>& queue) {
  std::string items;
  while (const auto item = queue.pop()) items += *item;
  return items;
}

TEST(Fair_Queue_Test, ClientsTakeTurns) {
  Fair_Queue<char> queue;
  for (const char item : {'1', '2', '3', '4'}) queue.push("ann", item);
  queue.push("bob", 'b');
  queue.push("cyd", 'c');
  EXPECT_EQ(rest_of(queue), "1bc234");
}

TEST(Fair_Queue_Test, WhatIsRemovedHasNoTurn) {
  Fair_Queue<char> queue;
  for (const char item : {'1', '2', '3'}) queue.push("ann", item);
  queue.push("bob", 'b');
  queue.remove("ann", [](char item) { return item != '2'; });
  queue.remove("bob", [](char) { return true; });
  queue.remove("cyd", [](char) { return true; });
  EXPECT_EQ(rest_of(queue), "2");
}

}  // namespace
}  // namespace joedb::server
