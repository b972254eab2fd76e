// Cities of a server on another machine, over TLS. `joedb_server --init` makes the files.

#include <iostream>
#include <string>

#include "city/writable.h"
#include "joedb/network/server_connection.h"

static void run(const std::string& server, const std::string& name) {
  joedb::Tls_Identity identity;
  identity.authority_file = "server.crt";
  identity.token_file = "ann.token";
  joedb::Tcp_Connector connector(joedb::Tcp_Address::parse(server), identity);

  joedb::Robust_Connection connection(connector);
  joedb::File file("copy.joedb", joedb::Open_Mode::shared_write);
  city::Client client(file, connection);
  client.transaction([&](city::Writable_Database& db) {
    if (db.find_city_by_name(name).is_null()) db.new_city(name);
  });
  for (const auto& [key, id] : client.get_database().get_index_of_city_by_name())
    std::cout << key << '\n';
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: remote_tls joedb://HOST CITY\n";
    return 2;
  }
  try {
    run(argv[1], argv[2]);
    return 0;
  } catch (const joedb::Connection_Lost& error) {
    std::cerr << "the server cannot be reached: " << error.what() << '\n';
  } catch (const joedb::Exception& error) {  // wrong name, wrong token, another certificate
    std::cerr << error.what() << '\n';
  }
  return 1;
}
