#include "share/network/rpc_protocol.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "share/network/protocol.h"

namespace joedb::network {
namespace {

using Request = Rpc_Requests::Request;
using Kind = Request::Kind;

const std::string hello(32, '#');

std::string call(std::int64_t procedure, std::int64_t until, std::string_view bytes) {
  std::string request = "C";
  append_number(request, procedure);
  append_number(request, until);
  return request.append(bytes);
}

// Returns requests for two procedures, with prologs of 50 and 60 bytes.
Rpc_Requests two_procedures() { return Rpc_Requests({50, 60}, 100); }

// Returns one word for each request.
std::string requests_in(Rpc_Requests& requests) {
  std::string text;
  for (Request request; requests.take(request);) {
    switch (request.kind) {
      case Kind::hello:
        text += "hello(" + request.bytes + ") ";
        break;
      case Kind::ping:
        text += "ping ";
        break;
      case Kind::call:
        text += "call(" + std::to_string(request.procedure) + "," + request.bytes + ") ";
        break;
      case Kind::quit:
        return text + "quit";
      case Kind::invalid:
        return text + request.problem;
    }
  }
  return text;
}

std::string requests_in(std::string_view bytes) {
  Rpc_Requests requests = two_procedures();
  requests.append(bytes);
  return requests_in(requests);
}

TEST(Rpc_Requests, AreAHashAndThenCallsAndPings) {
  const std::string bytes =
      hello + call(0, 53, "abc") + "P" + call(1, 60, "") + call(1, 62, "PQ") + "Q";
  const std::string expected = "hello(" + hello + ") call(0,abc) ping call(1,) call(1,PQ) quit";
  EXPECT_EQ(requests_in(bytes), expected);

  Rpc_Requests by_byte = two_procedures();
  std::string found;
  for (const char c : bytes) {
    by_byte.append({&c, 1});
    found += requests_in(by_byte);
  }
  EXPECT_EQ(found, expected);
}

TEST(Rpc_Requests, AreInvalidWhenNothingThatFollowsMakesSense) {
  const struct {
    std::string request;
    std::string problem;
  } cases[] = {
      {"x", "unknown code 120"},
      {call(2, 60, ""), "there is no procedure 2"},
      {call(-1, 60, ""), "there is no procedure -1"},
      {call(0, 49, ""), "a message cannot end at 49"},
      {call(0, -1, ""), "a message cannot end at -1"},
      {call(1, 59, ""), "a message cannot end at 59"},
      {call(0, 101, ""), "a message of 101 bytes; at most 100 are allowed"},
      {call(0, std::numeric_limits<std::int64_t>::max(), ""),
       "a message of 9223372036854775807 bytes; at most 100 are allowed"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(requests_in(hello + c.request), "hello(" + hello + ") " + c.problem);
}

TEST(Rpc_Requests, TakeAMessageOfTheLimit) {
  EXPECT_EQ(requests_in(hello + call(1, 100, std::string(40, 'x'))),
            "hello(" + hello + ") call(1," + std::string(40, 'x') + ") ");
}

TEST(Rpc_Requests, SurviveRandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = round % 2 == 0 ? hello : "";
    const std::size_t size = random() % 200;
    constexpr std::string_view frequent("CPQ\0\0\0\0\0\0\0\1\62\74\377", 14);
    while (bytes.size() < size) {
      const bool is_frequent = random() % 4 != 0;
      bytes += is_frequent ? frequent[random() % frequent.size()] : static_cast<char>(random());
    }
    Rpc_Requests requests = two_procedures();
    std::size_t taken = 0;
    for (std::size_t start = 0; start < bytes.size();) {
      const std::size_t n = 1 + random() % 20;
      requests.append(std::string_view(bytes).substr(start, n));
      start += n;
      Request request;
      while (requests.take(request)) {
        if (request.kind == Kind::invalid || request.kind == Kind::quit) start = bytes.size();
        if (start >= bytes.size()) break;
        taken += request.bytes.size();
      }
    }
    EXPECT_LE(taken, bytes.size());
  }
}

TEST(Rpc_Error_Text, IsCutWhereALetterEnds) {
  EXPECT_EQ(cut_error("no way"), "no way");
  EXPECT_EQ(cut_error(std::string(8183, 'x')).size(), 8183u);
  EXPECT_EQ(cut_error(std::string(8184, 'x')).size(), 8183u);
  EXPECT_EQ(cut_error(std::string(8182, 'x') + "é").size(), 8182u);
  EXPECT_EQ(cut_error(std::string(8180, 'x') + "\U0001F600").size(), 8180u);
  EXPECT_EQ(cut_error(std::string(9000, '\x80')).size(), 8183u) << "no UTF-8";
}

TEST(Rpc_Hash, IsOfNamesAndPrologsInTheirOrder) {
  const std::vector<rpc::Signature> ab{{"a", "x"}, {"b", "y"}};
  const std::vector<rpc::Signature> others[] = {{},
                                                {{"a", "x"}},
                                                {{"b", "y"}, {"a", "x"}},
                                                {{"a", "y"}, {"b", "y"}},
                                                {{"a", "x"}, {"c", "y"}}};
  EXPECT_EQ(hash_of(ab), hash_of(ab));
  for (const auto& other : others) EXPECT_NE(hash_of(ab), hash_of(other));
}

}  // namespace
}  // namespace joedb::network
