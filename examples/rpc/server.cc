// Sells what is in shop.joedb to clients at shop.sock, until Ctrl-C.

#include <iostream>

#include "joedb/base/log.h"
#include "joedb/network/rpc.h"
#include "shop/File_Client.h"
#include "shop/rpc/Procedures.h"
#include "shop/rpc/Signatures.h"

int main() {
  try {
    shop::File_Client client("shop.joedb");
    client.transaction([](shop::Writable_Database& db) {
      if (!db.get_product_table().is_empty()) return;
      db.new_product("tea", 10);
      db.new_product("salt", 3);
    });

    shop::rpc::Service service(client);
    const shop::rpc::Procedures procedures(service);
    joedb::CLog_Logger logger;
    constexpr int log_level = 2;
    constexpr int threads = 1;
    joedb::rpc::Server server(logger, log_level, threads, "shop.sock", shop::rpc::get_signatures(),
                              procedures.procedures);
    server.join();
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
