#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "joedb/base/log.h"
#include "joedb/network/channel.h"
#include "joedb/network/rpc.h"
#include "support/child_process.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

using testing::error_of;
using testing::in_child;

// The child process does not tell the server goodbye, remove the socket, or wait for threads.
TEST(Inherited_Connection, GoesOnInTheParentWhenAChildEnds) {
  const testing::Temporary_Directory directory;
  const std::string path = directory.file("sock");
  std::optional<rpc::Server> server(std::in_place, Logger::none(), 0, 2, path,
                                    std::vector<rpc::Signature>(), std::vector<rpc::Procedure>());
  Local_Channel channel(path);
  std::optional<rpc::Client> client(std::in_place, channel, std::vector<rpc::Signature>(),
                                    std::chrono::hours(1));
  client->ping();
  const std::string errors = in_child([&] {
    const std::string of_client = error_of<Inherited_Object>([&] { client->ping(); });
    const std::string of_server = error_of<Inherited_Object>([&] { server->join(); });
    client.reset();
    server.reset();
    return of_client + "; " + of_server;
  });
  const std::string inherited =
      " was opened before fork(), by the parent of this process: open it again here";
  EXPECT_EQ("the connection to the server" + inherited + "; " + path + inherited, errors);
  EXPECT_EQ("no error", error_of([&] { client->ping(); }));
  Local_Channel other(path);
  EXPECT_EQ("no error", error_of([&] { rpc::Client(other, {}); }));
}

}  // namespace
}  // namespace joedb
