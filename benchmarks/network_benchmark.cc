// Small transactions of several clients of one database, each of which sees those before it: beside
// SQLite, whose processes share a file, and beside nothing but messages over a socket.
//
//     network_benchmark joedb CLIENTS TRANSACTIONS SOCKET
//     network_benchmark joedb CLIENTS TRANSACTIONS joedb://HOST/DATABASE AUTHORITY TOKEN
//     network_benchmark joedb_lock …      the same, each transaction with the lock of the server
//     network_benchmark sqlite CLIENTS TRANSACTIONS FILE normal|full
//     network_benchmark messages CLIENTS TRANSACTIONS SOCKET ROUND_TRIPS
//     network_benchmark fill FILE MEGABYTES
//     network_benchmark pull SOCKET
//     network_benchmark copy FILE SOCKET   the bytes of a file through a socket, without a database
//     network_benchmark wait CLIENTS SOCKET
//
// Prints transactions per second, of all clients together, or MB/s. Each client is a process; the
// clock runs from the first transaction to the last.
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/network/channel.h"
#include "joedb/network/server_connection.h"
#include "joedb/replica/clients.h"

namespace {

using Clock = std::chrono::steady_clock;

// Runs `client` in as many processes, all of which begin at the same time. Returns seconds.
double run_processes(int clients, const std::function<std::function<void()>(int)>& prepare) {
  struct Shared {
    std::atomic<int> ready;
    std::atomic<bool> begins;
  };
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < clients; ++i) {
    if (fork() != 0) continue;
    try {
      const auto run = prepare(i);
      ++shared->ready;
      while (!shared->begins) usleep(100);
      run();
      std::_Exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "client %d: %s\n", i, error.what());
      std::_Exit(1);
    }
  }
  while (shared->ready < clients) {
    int status;
    if (waitpid(-1, &status, WNOHANG) > 0) throw std::runtime_error("a client has failed");
    usleep(100);
  }
  const auto start = Clock::now();
  shared->begins = true;
  bool has_failed = false;
  for (int i = 0; i < clients; ++i) {
    int status;
    wait(&status);
    has_failed = has_failed || status != 0;
  }
  if (has_failed) throw std::runtime_error("a client has failed");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- joedb --------------------------------------------------------------------------------------

std::unique_ptr<joedb::Connector> connector_to(const std::vector<std::string>& words) {
  if (words.at(0).find("://") == std::string::npos)
    return std::make_unique<joedb::Local_Connector>(words[0]);
  return std::make_unique<joedb::Tcp_Connector>(
      joedb::Tcp_Address::parse(words[0]),
      joedb::Tls_Identity{.authority_file = words.at(1), .token_file = words.at(2)});
}

struct Joedb_Client {
  explicit Joedb_Client(const std::vector<std::string>& words)
      : connector(connector_to(words)), connection(*connector), client(file, connection) {
    client.pull();
  }
  std::unique_ptr<joedb::Connector> connector;
  joedb::Robust_Connection connection;
  joedb::Memory_File file;
  joedb::Writable_Database_Client client;
};

double run_joedb(int clients, int transactions, const std::vector<std::string>& words,
                 bool is_optimistic) {
  Joedb_Client first(words);
  first.client.transaction([](const joedb::Database& tables, joedb::Writable_Database& db) {
    if (tables.find_table("row") != nullptr) return;
    db.write(joedb::Create_Table{"row"});
    db.write(joedb::Add_Field{joedb::Table_Id(1), "number", {joedb::Type_Code::int64, {}}});
  });
  return run_processes(clients, [&](int) {
    const auto client = std::make_shared<Joedb_Client>(words);
    client->client.set_optimistic(is_optimistic);
    return [client, transactions] {
      for (int i = 0; i < transactions; ++i)
        client->client.transaction(
            [&](const joedb::Database& tables, joedb::Writable_Database& db) {
              const auto id = tables.find_table("row")->records().size();
              db.write(joedb::Insert{joedb::Table_Id(1),
                                     joedb::Record_Id(static_cast<std::int64_t>(id))});
              db.write(joedb::Update<std::int64_t>{joedb::Table_Id(1),
                                                   joedb::Record_Id(static_cast<std::int64_t>(id)),
                                                   joedb::Field_Id(1), i});
            });
    };
  });
}

void print_speed(joedb::Offset size, Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%.0f\n", static_cast<double>(size) / 1e6 / seconds);
}

void fill(const std::string& path, int megabytes) {
  joedb::File file(path, joedb::Open_Mode::create_new);
  joedb::Writable_Journal journal(file);
  const std::string bytes(1'000'000, 'x');
  for (int i = 0; i < megabytes; ++i) journal.append_blob(bytes);
  journal.soft_checkpoint();
}

// The first pull of a whole database.
void run_pull(const std::vector<std::string>& words) {
  const auto connector = connector_to(words);
  joedb::Robust_Connection connection(*connector);
  joedb::Memory_File file;
  const auto start = Clock::now();
  joedb::Writable_Journal_Client client(file, connection);
  client.pull();
  print_speed(file.get_size(), start);
}

// ---- SQLite -------------------------------------------------------------------------------------

void check(int result, sqlite3* db) {
  if (result != SQLITE_OK && result != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db));
}

double run_sqlite(int clients, int transactions, const std::vector<std::string>& words) {
  const auto open = [&words] {
    sqlite3* db = nullptr;
    check(sqlite3_open(words.at(0).c_str(), &db), db);
    sqlite3_busy_timeout(db, 60'000);
    const std::string pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=" + words.at(1) + ";";
    check(sqlite3_exec(db, pragmas.c_str(), nullptr, nullptr, nullptr), db);
    return db;
  };
  sqlite3* const first = open();
  check(sqlite3_exec(first, "CREATE TABLE row(number INTEGER)", nullptr, nullptr, nullptr), first);
  sqlite3_close(first);
  return run_processes(clients, [&](int) {
    sqlite3* const db = open();
    return [db, transactions] {
      sqlite3_stmt* begin = nullptr;
      sqlite3_stmt* insert = nullptr;
      sqlite3_stmt* commit = nullptr;
      check(sqlite3_prepare_v2(db, "BEGIN IMMEDIATE", -1, &begin, nullptr), db);
      check(sqlite3_prepare_v2(db, "INSERT INTO row VALUES(?)", -1, &insert, nullptr), db);
      check(sqlite3_prepare_v2(db, "COMMIT", -1, &commit, nullptr), db);
      for (int i = 0; i < transactions; ++i) {
        sqlite3_bind_int64(insert, 1, i);
        for (sqlite3_stmt* const statement : {begin, insert, commit}) {
          check(sqlite3_step(statement), db);
          sqlite3_reset(statement);
        }
      }
    };
  });
}

// ---- messages -----------------------------------------------------------------------------------

int open_socket(const std::string& path, bool listens) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  const int result = listens ? bind(fd, generic, sizeof address) || listen(fd, 128)
                             : connect(fd, generic, sizeof address);
  if (result != 0) throw std::runtime_error(path + ": " + std::strerror(errno));
  return fd;
}

// As many bytes in both directions as a transaction has. The server has a thread for each client.
double run_messages(int clients, int transactions, const std::vector<std::string>& words) {
  const int trips = std::atoi(words.at(1).c_str());
  unlink(words[0].c_str());
  const int listener = open_socket(words[0], true);
  const pid_t server = fork();
  if (server == 0) {
    for (;;) {
      const int fd = accept(listener, nullptr, nullptr);
      std::thread([fd] {
        char buffer[64];
        while (read(fd, buffer, 17) > 0)
          if (write(fd, buffer, 9) < 0) break;
      }).detach();
    }
  }
  const double seconds = run_processes(clients, [&](int) {
    const int fd = open_socket(words[0], false);
    return [fd, transactions, trips] {
      char buffer[64] = {};
      for (int i = 0; i < transactions * trips; ++i)
        if (write(fd, buffer, 17) != 17 || read(fd, buffer, 9) != 9)
          throw std::runtime_error("the server is gone");
    };
  });
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  return seconds;
}

// The first pull without a database: from the file through a socket to memory.
void run_copy(const std::string& path, const std::string& socket) {
  unlink(socket.c_str());
  const int listener = open_socket(socket, true);
  constexpr std::size_t block_size = 1 << 16;
  const pid_t server = fork();
  if (server == 0) {
    const joedb::File file(path, joedb::Open_Mode::read_existing);
    const int fd = accept(listener, nullptr, nullptr);
    char block[block_size];
    joedb::Offset position = 0;
    for (std::size_t n; (n = file.pread(block, sizeof block, position)) > 0;
         position += static_cast<joedb::Offset>(n))
      if (write(fd, block, n) != static_cast<ssize_t>(n)) std::_Exit(1);
    std::_Exit(0);
  }
  const int fd = open_socket(socket, false);
  const auto start = Clock::now();
  joedb::Memory_File file;
  char block[block_size];
  joedb::Offset position = 0;
  for (ssize_t n; (n = read(fd, block, sizeof block)) > 0; position += n)
    file.pwrite(block, static_cast<std::size_t>(n), position);
  print_speed(position, start);
  waitpid(server, nullptr, 0);
}

// ---- waiting ------------------------------------------------------------------------------------

// Many clients wait, one pushes. Prints their number, and how many milliseconds it takes until it
// has pushed, and until all of them have it.
void run_wait(int clients, const std::vector<std::string>& words) {
  joedb::Local_Connector connector(words.at(0));
  Joedb_Client writer(words);
  struct Waiter {
    explicit Waiter(joedb::Connector& c) : channel(c.new_channel()), connection(*channel) {}
    std::unique_ptr<joedb::Channel> channel;
    joedb::Server_Connection connection;
  };
  const joedb::Offset from = writer.client.get_journal_checkpoint();
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < clients; ++i) waiters.push_back(std::make_unique<Waiter>(connector));
  std::atomic<int> woken = 0;
  std::vector<std::thread> threads;
  for (auto& waiter : waiters)
    threads.emplace_back([&] {
      waiter->connection.pull({from, std::chrono::seconds(300)},
                              [](const joedb::Abstract_File&, joedb::Offset) {});
      ++woken;
    });
  std::this_thread::sleep_for(std::chrono::seconds(1));  // until all of them wait
  const auto start = Clock::now();
  writer.client.transaction([](const joedb::Database&, joedb::Writable_Database& db) {
    db.write(joedb::Comment{"for all"});
  });
  const double pushed = std::chrono::duration<double>(Clock::now() - start).count();
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%d %.1f %.1f\n", woken.load(), 1000 * pushed, 1000 * seconds);
}

int run(const std::vector<std::string>& words) {
  const std::string& mode = words.at(0);
  if (mode == "fill") return fill(words.at(1), std::atoi(words.at(2).c_str())), 0;
  if (mode == "pull") return run_pull({words.begin() + 1, words.end()}), 0;
  if (mode == "copy") return run_copy(words.at(1), words.at(2)), 0;
  const int clients = std::atoi(words.at(1).c_str());
  if (mode == "wait") return run_wait(clients, {words.begin() + 2, words.end()}), 0;
  const int transactions = std::atoi(words.at(2).c_str()) / clients;
  const std::vector<std::string> rest(words.begin() + 3, words.end());
  double seconds;
  if (mode == "joedb" || mode == "joedb_lock")
    seconds = run_joedb(clients, transactions, rest, mode == "joedb");
  else if (mode == "sqlite")
    seconds = run_sqlite(clients, transactions, rest);
  else if (mode == "messages")
    seconds = run_messages(clients, transactions, rest);
  else
    throw std::runtime_error("unknown mode: " + mode);
  std::printf("%.0f\n", clients * transactions / seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "network_benchmark: %s\n", error.what());
    return 1;
  }
}
