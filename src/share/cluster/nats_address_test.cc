#include "joedb/cluster/nats_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

TEST(Nats_Address_Test, AUrlNamesServersAndADatabase) {
  const auto address = Nats_Address::parse("nats://a,b.example:5222,[::1]:7/city-2_x");
  EXPECT_THAT(address.servers, ElementsAre("a:4222", "b.example:5222", "[::1]:7"));
  EXPECT_EQ(address.database, "city-2_x");
  EXPECT_EQ(address.stream, "joedb_city-2_x");
  EXPECT_EQ(address.subject, "joedb.city-2_x");
  EXPECT_FALSE(address.has_tls);
  EXPECT_EQ(address.url(), "nats://a,b.example:5222,[::1]:7/city-2_x");
}

TEST(Nats_Address_Test, ItsTextHasNoSecrets) {
  const auto address = Nats_Address::parse("tls://me:s%40cret@a/city?stream=copy");
  EXPECT_EQ(address.user, "me");
  EXPECT_EQ(address.password, "s@cret");
  EXPECT_TRUE(address.has_tls);
  EXPECT_EQ(address.stream, "copy");
  EXPECT_EQ(address.origin(), "joedb_city");
  EXPECT_EQ(address.url(), "tls://a/city?stream=copy");
  const std::string error = error_of([] { Nats_Address::parse("nats://me:secret@a:b/city"); });
  EXPECT_THAT(error, HasSubstr("'a:b' has no port"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("secret")));
}

TEST(Nats_Address_Test, AnErrorSaysWhatIsWrong) {
  const auto error = [](const char* url) { return error_of([url] { Nats_Address::parse(url); }); };
  EXPECT_THAT(error("http://a/city"), HasSubstr("begins with nats:// or tls://"));
  EXPECT_THAT(error("nats://a"), HasSubstr("the name of the database is missing"));
  EXPECT_THAT(error("nats://a/"), HasSubstr("the name of the database is missing"));
  EXPECT_THAT(error("nats:///city"), HasSubstr("'' is no host"));
  EXPECT_THAT(error("nats://a,,b/city"), HasSubstr("'' is no host"));
  EXPECT_THAT(error("nats://a b/city"), HasSubstr("'a b' is no host"));
  EXPECT_THAT(error("nats://[::1/city"), HasSubstr("is no host"));
  EXPECT_THAT(error("nats://a/my.city"), HasSubstr("characters other than"));
  EXPECT_THAT(error("nats://a/x/y"), HasSubstr("characters other than"));
  EXPECT_THAT(error("nats://a/city?stream="), HasSubstr("the name of the stream is missing"));
  EXPECT_THAT(error("nats://a/city?replicas=3"), HasSubstr("the only option is ?stream=NAME"));
  EXPECT_THAT(error("nats://:x@a/city"), HasSubstr("the user in front of @ is missing"));
  EXPECT_THAT(error("nats://u%4@a/city"), HasSubstr("written %25"));
  EXPECT_THAT(error("nats://u@a,v@b/city"), HasSubstr("the user is given once"));
}

}  // namespace
}  // namespace joedb
