// Writes to a journal that several machines keep, from four threads. Usage: city URL
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "city/writable.h"
#include "joedb/cluster/nats_connection.h"
#include "joedb/io/memory_file.h"
#include "joedb/replica/clients.h"

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "nats://127.0.0.1:4222/city";
  joedb::Nats_Connection connection(url);
  std::cout << "what is acknowledged " << text_of(connection.promise().durability) << '\n';

  joedb::Memory_File file;  // or a joedb::File: the next start reads only what is new
  city::Client client(file, connection);

  // The transactions of threads that wait at the same moment are one push.
  joedb::Group_Client group(client);
  std::vector<std::thread> threads;
  for (const char* const name : {"Tokyo", "Lisbon", "Oslo", "Lima"})
    threads.emplace_back([&group, name] {
      group.transaction([&](city::Writable_Database& db) { db.new_city(name, 1'000'000); });
    });
  for (std::thread& thread : threads) thread.join();

  for (const auto& [name, city] : client.get_database().get_index_of_city_by_name())
    std::cout << name << ' ' << client.get_database().get_population(city) << '\n';
  return 0;
} catch (const joedb::Exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
