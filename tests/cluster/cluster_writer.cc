// A client of a cluster that can be killed, for tests/cluster/chaos.py.
//
// A transaction is one or more comments "@WRITER.N I/COUNT;…": comment I of the COUNT comments of
// transaction N of writer WRITER. When a push has returned, a line "WRITER.N" is appended to the
// file of acknowledgements, by one system call: a kill does not lose it.
//
// Exit codes: 0 done, 1 an error that should not happen, 2 usage, 3 the copy has diverged (pull), 4
// an incomplete transaction was seen.

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "joedb/base/log.h"
#include "joedb/base/main_wrapper.h"
#include "joedb/cluster/nats_connection.h"
#include "joedb/io/posix_file.h"
#include "joedb/replica/clients.h"

namespace {

const char* const usage =
    R"(usage: cluster_writer write URL FILE ACKNOWLEDGED WRITER MODE [option...]
       cluster_writer read URL FILE [option...]    pulls, until SIGTERM
       cluster_writer pull URL FILE [option...]    pulls once, and prints the checkpoint
       cluster_writer list URL FILE [option...]    pulls, compares everything, and prints WRITER.N

MODE: optimistic, lock, several (pushes of one lock) or large
FILE is the copy of this client. All end when they get SIGTERM, after their transaction.

  --lease MS      of the lock (default 4000)
  --seed N        for the choices (default 1)
  --monitor TEXT  where the servers tell whether they sync
)";

struct Options {
  std::string task, url, file, acknowledged, writer, mode, monitor;
  std::int64_t lease_ms = 4000;
  unsigned seed = 1;
};

Options parse(const joedb::Arguments& arguments) {
  Options options;
  std::string* const words[] = {&options.task,         &options.url,    &options.file,
                                &options.acknowledged, &options.writer, &options.mode};
  int next = 1;
  int end = 2;
  for (; next < end; ++next) {
    if (next == arguments.size()) throw std::invalid_argument(usage);
    *words[next - 1] = arguments[next];
    if (next == 1) end = options.task == "write" ? 7 : 4;
  }
  for (; next + 1 < arguments.size(); next += 2) {
    const std::string value(arguments[next + 1]);
    if (arguments[next] == "--lease")
      options.lease_ms = std::stoll(value);
    else if (arguments[next] == "--seed")
      options.seed = static_cast<unsigned>(std::stoul(value));
    else if (arguments[next] == "--monitor")
      options.monitor = value;
    else
      throw std::invalid_argument(usage);
  }
  if (next != arguments.size()) throw std::invalid_argument(usage);
  return options;
}

std::atomic<bool> must_end = false;

// A transaction is incomplete, or the comments of two transactions are mixed.
struct Torn : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- content of a copy

struct Part {
  std::string_view transaction;
  int number = 0;
  int count = 0;
};

// Parses "@WRITER.N I/COUNT;…".
Part part_of(std::string_view comment) {
  const auto space = comment.find(' '), slash = comment.find('/'), end = comment.find(';');
  if (!comment.starts_with('@') || space > slash || slash > end || end == comment.npos)
    throw Torn("a comment that nobody has written: " + std::string(comment.substr(0, 100)));
  Part part{comment.substr(1, space - 1)};
  std::from_chars(&comment[space + 1], &comment[slash], part.number);
  std::from_chars(&comment[slash + 1], &comment[end], part.count);
  return part;
}

// Follows a file, as another process would, and checks that it sees only whole transactions.
class Observer {
 public:
  using Found = std::function<void(std::string_view transaction)>;

  explicit Observer(const std::string& path, Found found = {})
      : file_(path, joedb::Open_Mode::read_existing), journal_(file_), found_(std::move(found)) {}

  void look() {
    journal_.pull();
    journal_.replay(*this);
    if (next_ != 0)
      throw Torn("half a transaction, " + transaction_ + ", before the checkpoint " +
                 std::to_string(journal_.get_checkpoint()));
  }

  void operator()(const joedb::Comment& comment) {
    const Part part = part_of(comment.text);
    if (part.number != next_ || (next_ > 0 && part.transaction != transaction_))
      throw Torn("comment " + std::string(comment.text.substr(0, 60)) + " follows " +
                 std::to_string(next_) + " of " + transaction_);
    transaction_ = part.transaction;
    next_ = part.number + 1 == part.count ? 0 : part.number + 1;
    if (next_ == 0 && found_) found_(transaction_);
  }
  template <class Entry>
  void operator()(const Entry&) {}

 private:
  joedb::File file_;
  joedb::Readonly_Journal journal_;
  const Found found_;
  std::string transaction_;
  int next_ = 0;  // number of the next comment in its transaction
};

// ---- a client

class Lines : public joedb::Logger {
 public:
  explicit Lines(std::string name) : logger_(std::cerr, std::move(name)) {}
  void log(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    logger_.log(line);
  }

 private:
  std::mutex mutex_;
  joedb::Stream_Logger logger_;
};

class Program {
 public:
  explicit Program(const Options& options)
      : options_(options), random_(options.seed), logger_(options.writer + " " + options.task) {}

  // Reconnects after errors that a client of a cluster must expect.
  int run() {
    while (!must_end) {
      try {
        connect();
        return 0;
      } catch (const joedb::Connection_Lost& error) {
        note("not connected", error);
      } catch (const joedb::Missing_Message& error) {
        // The faults of the test never damage a message on all servers.
        note("missing", error);
        return 4;
      } catch (const joedb::Conflict& error) {
        note("conflict", error);
      } catch (const joedb::Content_Mismatch& error) {
        // A transaction of this client was not acknowledged, and others have written in its place.
        note("diverged", error);
        std::filesystem::rename(options_.file,
                                options_.file + ".diverged-" + std::to_string(::getpid()));
      }
      if (options_.task != "write" && options_.task != "read") return 3;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return 0;
  }

 private:
  void note(std::string_view event, const std::exception& error) {
    logger_.log(std::string(event) + ": " + error.what());
  }

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  void connect() {
    joedb::Nats_Settings nats;
    if (!options_.monitor.empty()) nats.monitor = options_.monitor;
    joedb::Log_Settings settings;
    settings.retry_time = joedb::System::Duration::max();
    settings.lease = std::chrono::milliseconds(options_.lease_ms);
    settings.owner = options_.writer;
    joedb::Nats_Connection connection(options_.url, logger_, nats, settings);
    joedb::File file(options_.file, joedb::Open_Mode::write_existing_or_create_new);
    joedb::Journal_Options journal;
    journal.recovery = joedb::Recovery::keep;
    joedb::Writable_Journal_Client client(
        file, connection,
        options_.task == "list" ? joedb::Content_Check::full : joedb::Content_Check::fast, journal);
    if (options_.task == "list") return list(client);
    Observer observer(options_.file);
    if (options_.task == "write")
      write(client, observer);
    else if (options_.task == "read")
      read(client, observer);
    else
      pull(client, observer);
  }

  void pull(joedb::Writable_Journal_Client& client, Observer& observer) {
    client.pull();
    observer.look();
    std::cout << "checkpoint " << client.get_journal_checkpoint() << '\n';
  }

  void list(joedb::Writable_Journal_Client& client) {
    client.pull();
    Observer(options_.file, [](std::string_view name) { std::cout << name << '\n'; }).look();
  }

  void read(joedb::Writable_Journal_Client& client, Observer& observer) {
    while (!must_end) {
      client.pull(std::chrono::milliseconds(500));
      observer.look();
    }
  }

  void write(joedb::Writable_Journal_Client& client, Observer& observer) {
    client.set_optimistic(options_.mode != "lock");
    while (!must_end) {
      if (options_.mode == "several")
        push_several(client);
      else
        client.transaction([&](joedb::Writable_Journal& journal) { append(journal); });
      if (options_.mode != "several") acknowledge();
      observer.look();
      if (below(3) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(below(20)));
    }
    client.pull();
    observer.look();
  }

  void push_several(joedb::Writable_Journal_Client& client) {
    joedb::Writable_Journal_Client_Lock lock(client);
    try {
      for (int left = 1 + below(4); left > 0; --left) {
        append(lock.get_journal());
        if (left == 1)
          lock.checkpoint_and_push_unlock();
        else
          lock.checkpoint_and_push();
        acknowledge();
        if (below(4) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(below(300)));
      }
    } catch (...) {
      lock.abandon();  // the copy keeps its entries: they are pushed later, or have diverged
      throw;
    }
  }

  // Takes a new transaction number at each call, also when the same transaction is repeated: the
  // first attempt does not count.
  void append(joedb::Writable_Journal& journal) {
    name_ = options_.writer + "." + std::to_string(next_++);
    const int count = 1 + below(4);
    for (int i = 0; i < count; ++i) {
      std::string comment =
          "@" + name_ + " " + std::to_string(i) + "/" + std::to_string(count) + ";";
      comment.append(static_cast<std::size_t>(below(200)), 'x');
      if (options_.mode == "large" && i == 0 && below(20) == 0)
        comment.append(static_cast<std::size_t>(600'000 + below(2'400'000)), 'y');
      journal.append(joedb::Comment{comment});
    }
  }

  void acknowledge() {
    const std::string line = name_ + "\n";
    if (!acknowledged_) acknowledged_ = std::fopen(options_.acknowledged.c_str(), "ae");
    if (!acknowledged_) throw std::runtime_error("cannot open " + options_.acknowledged);
    if (::write(::fileno(acknowledged_), line.data(), line.size()) !=
        static_cast<ssize_t>(line.size()))
      throw std::runtime_error("cannot write " + options_.acknowledged);
  }

  const Options options_;
  std::mt19937 random_;
  Lines logger_;
  std::int64_t next_ = 0;
  std::string name_;
  std::FILE* acknowledged_ = nullptr;  // used only for its descriptor, so nothing is buffered
};

int run(const joedb::Arguments& arguments) {
  std::signal(SIGTERM, [](int) { must_end = true; });
  try {
    return Program(parse(arguments)).run();
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what();
    return 2;
  } catch (const Torn& error) {
    std::cerr << "torn: " << error.what() << '\n';
    return 4;
  }
}

}  // namespace

int main(int argc, char** argv) { return joedb::main_wrapper(run, argc, argv); }
