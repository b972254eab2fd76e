// Sells the seats of a theatre. Run it as many times as you like at the same time: all processes
// share one file.

#include <cstdlib>
#include <iostream>
#include <string>

#include "theatre/writable.h"

static constexpr std::int32_t seat_count = 100;

// Sells the first free seat; false if there is none. While the function runs, this process has the
// file for itself, and sees all that others have sold.
static bool sell(theatre::File_Client& client, const std::string& seller) {
  return client.transaction([&](theatre::Writable_Database& db) {
    std::int32_t seat = 1;
    for (const auto& [sold, ticket] : db.get_index_of_ticket_by_seat()) {
      if (sold != seat) break;
      ++seat;
    }
    if (seat > seat_count) return false;
    db.new_ticket(seat, seller);
    return true;
  });
}

// A reader takes no lock that would hold up the sellers.
static void print_report() {
  const theatre::Readonly_Database db("theatre.joedb");
  std::cout << db.get_index_of_ticket_by_seat().size() << " of " << seat_count << " seats sold\n";
  std::string seller;
  for (const auto& [name, ticket] : db.get_index_of_ticket_by_seller()) {
    if (name == seller) continue;
    seller = name;
    std::cout << seller << ": " << db.find_ticket_by_seller(seller).size() << '\n';
  }
}

static int run(int argc, char** argv) {
  if (argc == 1) {
    print_report();
    return 0;
  }
  if (argc != 3) {
    std::cerr << "usage: processes [SELLER NUMBER]\n";
    return 2;
  }
  theatre::File_Client client("theatre.joedb");
  for (int i = std::atoi(argv[2]); i > 0; --i)
    if (!sell(client, argv[1])) {
      std::cout << argv[1] << ": sold out\n";
      return 1;
    }
  return 0;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
