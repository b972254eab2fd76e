#include "share/server/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/base/error.h"

namespace joedb::server {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Access_List, KnowsAClientByItsToken) {
  const New_Token ann = make_token("ann", Role::push);
  const New_Token bob = make_token("bob", Role::pull);
  const Access_List list =
      Access_List::parse("# who may connect\n\n" + ann.line + "\n" + bob.line + "  # reads\n");
  EXPECT_EQ(list.with_token("ann", ann.token), Role::push);
  EXPECT_EQ(list.with_token("bob", bob.token), Role::pull);
  EXPECT_EQ(list.with_token("ann", bob.token), std::nullopt);
  EXPECT_EQ(list.with_token("ann", ""), std::nullopt);
  EXPECT_EQ(list.with_token("carl", ann.token), std::nullopt);
  EXPECT_EQ(list.with_certificate("ann"), std::nullopt);
}

TEST(Access_List, KnowsAClientByItsCertificate) {
  const Access_List list = Access_List::parse("backup admin certificate\n");
  EXPECT_EQ(list.with_certificate("backup"), Role::admin);
  EXPECT_EQ(list.with_certificate("other"), std::nullopt);
  EXPECT_EQ(list.with_token("backup", ""), std::nullopt);
}

TEST(Access_List, DoesNotContainTokens) {
  const New_Token token = make_token("ann", Role::push);
  EXPECT_EQ(token.token.size(), 64u);
  EXPECT_EQ(token.line.find(token.token), std::string::npos);
  EXPECT_NE(make_token("ann", Role::push).token, token.token);
}

struct Bad_Line {
  const char* line;
  const char* complaint;
};
class Bad_Access_List : public ::testing::TestWithParam<Bad_Line> {};

TEST_P(Bad_Access_List, IsRefusedWithTheLine) {
  const auto [line, complaint] = GetParam();
  const std::string text = std::string("ann pull certificate\n") + line + "\n";
  EXPECT_THAT([&text] { Access_List::parse(text); },
              ThrowsMessage<Exception>(HasSubstr(std::string("line 2: ") + complaint)));
}

INSTANTIATE_TEST_SUITE_P(All, Bad_Access_List,
                         ::testing::Values(Bad_Line{"bob", "pull, push or admin"},
                                           Bad_Line{"bob read", "pull, push or admin"},
                                           Bad_Line{"b/b pull certificate", "not a name: b/b"},
                                           Bad_Line{"bob pull", "token or certificate"},
                                           Bad_Line{"bob pull password", "token or certificate"},
                                           Bad_Line{"bob pull token 12", "a salt and a hash"},
                                           Bad_Line{"bob pull token 12 34", "a salt and a hash"},
                                           Bad_Line{"bob pull certificate more",
                                                    "unexpected: more"},
                                           Bad_Line{"ann push certificate", "ann is there twice"}));

}  // namespace
}  // namespace joedb::server
