// Cities of a server. With the name of a file, the program keeps a copy of the database there, and
// needs the server only for transactions; without, it reads from the server what it needs.

#include <chrono>
#include <iostream>
#include <string>

#include "city/writable.h"
#include "joedb/network/server_connection.h"

static void print(const city::Database& db) {
  for (const auto& [name, id] : db.get_index_of_city_by_name()) std::cout << name << '\n';
}

// The transaction has the lock of the server, and begins with everything that the server has.
static void add(city::Client& client, const std::string& name) {
  client.transaction([&](city::Writable_Database& db) {
    if (db.find_city_by_name(name).is_null()) db.new_city(name);
  });
  print(client.get_database());
}

static void add_with_copy(joedb::Connector& connector, const std::string& path,
                          const std::string& name) {
  joedb::Robust_Connection connection(connector);
  joedb::File file(path, joedb::Open_Mode::shared_write);
  city::Client client(file, connection);
  add(client, name);
}

static void add_without_copy(joedb::Connector& connector, const std::string& name) {
  joedb::Server_File file(connector);
  city::Client client(file, file);
  add(client, name);
}

static int run(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: remote CITY [FILE]\n";
    return 2;
  }
  joedb::Local_Connector connector("city.joedb.sock");
  connector.set_keep_alive_interval(std::chrono::seconds(60));
  connector.set_retry_time(std::chrono::minutes(10));
  connector.set_answer_time(std::chrono::seconds(5));
  if (argc == 3)
    add_with_copy(connector, argv[2], argv[1]);
  else
    add_without_copy(connector, argv[1]);
  return 0;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const joedb::Connection_Lost& error) {
    std::cerr << "the server cannot be reached: " << error.what() << '\n';
  } catch (const joedb::Content_Mismatch& error) {
    std::cerr << error.path << " has what the server has not: rename it, and start again\n";
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
  }
  return 1;
}
