#include "joedb/network/rpc.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "joedb/base/log.h"
#include "share/network/protocol.h"
#include "share/network/rpc_protocol.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb::inline v1::rpc {
namespace {

using joedb::testing::error_of;
using joedb::testing::Temporary_Directory;

// A message without a schema, whose prolog is "prolog".
struct Bytes {
  std::vector<char> file{'p', 'r', 'o', 'l', 'o', 'g'};
  explicit Bytes(std::string_view text = "") { append_from_copy(text); }
  void soft_checkpoint() {}
  const std::vector<char>& get_data() const { return file; }
  void append_from_copy(std::string_view bytes) {
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  std::string text() const { return {file.begin() + 6, file.end()}; }
};

std::vector<Signature> signatures() {
  return {{"repeat", "prolog"}, {"fail", "prolog"}, {"throw_number", "prolog"}};
}

std::vector<Procedure> procedures() {
  return {[](std::string_view received) { return std::string(received); },
          [](std::string_view received) -> std::string { throw Exception(std::string(received)); },
          [](std::string_view) -> std::string { throw 1; }};
}

class Test_Client : public Client {
 public:
  explicit Test_Client(Channel& channel, std::vector<Signature> known = signatures(),
                       std::chrono::milliseconds keep_alive = {})
      : Client(channel, std::move(known), keep_alive) {}
  using Client::call;
  // Calls procedure 0.
  std::string repeat(const std::string& text) {
    Bytes message(text);
    call(0, message);
    return message.text();
  }
};

class Rpc_Server : public ::testing::Test {
 protected:
  Server& start(Limits limits = {}, std::vector<Procedure> all = procedures(), int threads = 1) {
    server_ = std::make_unique<Server>(Logger::none(), 0, threads, path_, signatures(),
                                       std::move(all), limits);
    return *server_;
  }

  // Sends bytes to the server, and returns all bytes received until the server closes the
  // connection.
  std::string answer_to(const std::string& bytes) {
    Local_Channel channel(path_);
    std::string answer;
    try {
      channel.write(bytes.data(), bytes.size());
      for (;;) {
        char buffer[100];
        answer.append(buffer, channel.read_some(buffer, sizeof buffer));
      }
    } catch (const Connection_Lost&) {
      return answer;
    }
  }

  const Temporary_Directory directory_;
  const std::string path_ = directory_.file("rpc.sock");
  std::unique_ptr<Server> server_;
};

std::string hello_bytes() {
  const network::Content_Hash hash = network::hash_of(signatures());
  return {hash.begin(), hash.end()};
}

std::string reply(char c, std::int64_t number, std::string_view bytes = "") {
  std::string text(1, c);
  network::append_number(text, number);
  return text.append(bytes);
}

std::string call_bytes(std::int64_t procedure, std::int64_t until, std::string_view bytes) {
  std::string text = reply('C', procedure);
  network::append_number(text, until);
  return text.append(bytes);
}

// ---- limits of all sessions together

TEST_F(Rpc_Server, WhoHasWaitedLongestWithAMessageMakesRoom) {
  start({.message_size = 20'000, .total_size = 40'000});
  std::vector<std::unique_ptr<Local_Channel>> slow;
  const std::string part = hello_bytes() + call_bytes(0, 9'006, std::string(8'999, 'x'));
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Local_Channel>(path_));
    slow.back()->write(part.data(), part.size());
    char hello[9];
    for (std::size_t n = 0; n < sizeof hello;) n += slow.back()->read_some(hello + n, 9 - n);
    Local_Channel channel(path_);
    Test_Client client(channel);
    const std::string message(9'000, static_cast<char>('a' + i));
    EXPECT_EQ(client.repeat(message), message + message) << i;
  }
  char byte;
  EXPECT_THROW(slow.front()->read_some(&byte, 1), Connection_Lost);
}

TEST_F(Rpc_Server, WhoSaysNothingMakesRoom) {
  start({.sessions = 10});
  std::vector<std::unique_ptr<Local_Channel>> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<Local_Channel>(path_));
  Local_Channel channel(path_);
  EXPECT_EQ(Test_Client(channel).repeat("x"), "xx");
}

// ---- valid clients

TEST_F(Rpc_Server, CallsProceduresAndReturnsWhatTheyAppend) {
  start();
  Local_Channel channel(path_);
  Test_Client client(channel);
  EXPECT_EQ(client.repeat("a"), "aa");
  EXPECT_EQ(client.repeat(""), "");
  client.ping();
  EXPECT_EQ(client.repeat(std::string(1 << 20, 'x')).size(), std::size_t{2} << 20);
}

TEST_F(Rpc_Server, SendsTheErrorOfAProcedureAndGoesOn) {
  start();
  Local_Channel channel(path_);
  Test_Client client(channel);
  Bytes message("no way");
  EXPECT_EQ(error_of<Error>([&] { client.call(1, message); }), "no way");
  EXPECT_EQ(message.text(), "no way");
  EXPECT_EQ(error_of<Error>([&] { client.call(2, message); }),
            "the procedure has thrown something that is no std::exception");
  Bytes long_text(std::string(10'000, 'x'));
  EXPECT_EQ(error_of<Error>([&] { client.call(1, long_text); }), std::string(8183, 'x'));
  EXPECT_EQ(client.repeat("a"), "aa");
}

TEST_F(Rpc_Server, CountsItsSessions) {
  start();
  Local_Channel first_channel(path_), second_channel(path_);
  const Test_Client first(first_channel);
  const Test_Client second(second_channel);
  EXPECT_EQ(first.get_session_id(), 0);
  EXPECT_EQ(second.get_session_id(), 1);
}

TEST_F(Rpc_Server, RunsCallsOfSeveralSessionsAtTheSameTime) {
  std::latch both(2);
  auto all = procedures();
  all[0] = [&both](std::string_view) {
    both.arrive_and_wait();  // with a single thread, this would wait forever
    return std::string("!");
  };
  start({}, all, 2);
  const auto call = [this] {
    Local_Channel channel(path_);
    Test_Client client(channel);
    EXPECT_EQ(client.repeat("a"), "a!");
  };
  std::thread other(call);
  call();
  other.join();
}

TEST_F(Rpc_Server, RunsTheCallsOfASessionInTheirOrder) {
  std::mutex mutex;
  std::string order;
  auto all = procedures();
  all[0] = [&](std::string_view received) {
    const std::lock_guard lock(mutex);
    order += received;
    return std::string();
  };
  start({}, all, 4);
  std::string bytes = hello_bytes();
  for (const char c : std::string("abcdefgh")) bytes += call_bytes(0, 7, {&c, 1});
  answer_to(bytes + "Q");
  EXPECT_EQ(order, "abcdefgh");
}

TEST_F(Rpc_Server, CanBeStoppedByAProcedure) {
  Server* server = nullptr;
  std::latch is_known(1);
  auto all = procedures();
  all[0] = [&](std::string_view) {
    is_known.wait();
    server->stop();
    return std::string();
  };
  server = &start({}, all);
  is_known.count_down();
  EXPECT_EQ(answer_to(hello_bytes() + call_bytes(0, 6, "")).substr(0, 9), reply('H', 0));
  server->join();
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Rpc_Server, TellsItsClientsWhenItStops) {
  start();
  Local_Channel channel(path_);
  Test_Client client(channel);
  server_.reset();
  EXPECT_THROW(client.ping(), Connection_Lost);
  EXPECT_THROW(client.repeat("a"), Connection_Lost);
}

TEST_F(Rpc_Server, LogsWhatItsLevelSaysOneLineEach) {
  const std::string at[] = {": serving 3 procedures\n", ": 0: start\n", ": 0: call of fail\n",
                            ": 0: error: a\\012b\\033\n", ": stop\n"};
  for (int level = 0; level <= 2; ++level) {
    String_Logger log;
    {
      Server server(log, level, 1, path_, signatures(), procedures());
      Local_Channel channel(path_);
      Test_Client client(channel);
      Bytes message("a\nb\x1b");
      EXPECT_EQ(error_of<Error>([&] { client.call(1, message); }), "a\nb\\033");
    }
    const auto has = [&](const std::string& line) {
      return log.get_text().find(path_ + line) != std::string::npos;
    };
    EXPECT_TRUE(has(at[0]) && has(at[4])) << log.get_text();
    EXPECT_EQ(has(at[1]), level >= 1) << log.get_text();
    EXPECT_EQ(has(at[2]), level >= 2) << log.get_text();
    EXPECT_EQ(has(at[3]), level >= 2) << log.get_text();
  }
}

TEST_F(Rpc_Server, ServesOnWhenItsLoggerThrows) {
  class Throwing_Logger final : public Logger {
   public:
    void log(std::string_view) override { throw std::runtime_error("no log"); }
  } log;
  Server server(log, 2, 1, path_, signatures(), procedures());
  Local_Channel channel(path_);
  EXPECT_EQ(Test_Client(channel).repeat("a"), "aa");
}

// ---- the socket

TEST_F(Rpc_Server, OpensItsSocketForTheUserAloneAndRemovesIt) {
  start();
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Rpc_Server, RefusesThePlaceOfAnotherServerAndOfAFile) {
  start();
  EXPECT_EQ(
      error_of<Exception>([&] { Server(Logger::none(), 0, 1, path_, signatures(), procedures()); }),
      path_ + ": another server listens there");
  const std::string file = directory_.write("file", "text");
  EXPECT_EQ(
      error_of<Exception>([&] { Server(Logger::none(), 0, 1, file, signatures(), procedures()); }),
      file + ": is there already, and no socket");
  Local_Channel channel(path_);
  EXPECT_EQ(Test_Client(channel).repeat("a"), "aa");
}

TEST_F(Rpc_Server, NeedsASignatureForEachProcedure) {
  EXPECT_EQ(error_of<Exception>([&] { Server(Logger::none(), 0, 1, path_, {}, procedures()); }),
            "an rpc server needs a signature for each procedure");
}

// ---- invalid clients

TEST_F(Rpc_Server, ClosesAfterAWrongHash) {
  start();
  EXPECT_EQ(answer_to(std::string(32, 'x')), reply('h', 0));
  Local_Channel channel(path_);
  EXPECT_EQ(error_of<Disconnection>([&] {
              Test_Client(channel, {{"other", "prolog"}});
            }),
            "failed handshake: the server has other procedures, or other messages");
}

TEST_F(Rpc_Server, ClosesAtWhatIsNoRequest) {
  start({.message_size = 100});
  const std::string bad[] = {"x", call_bytes(3, 6, ""), call_bytes(-1, 6, ""), call_bytes(0, 5, ""),
                             call_bytes(0, 101, "")};
  std::int64_t session = 0;
  for (const std::string& request : bad)
    EXPECT_EQ(answer_to(hello_bytes() + "P" + request), reply('H', session++) + "P");
}

TEST_F(Rpc_Server, DoesNotSendMoreThanTheLimit) {
  start({.message_size = 100});
  Local_Channel channel(path_);
  Test_Client client(channel);
  EXPECT_EQ(client.repeat(std::string(47, 'x')), std::string(94, 'x'));
  EXPECT_EQ(error_of<Error>([&] { client.repeat(std::string(48, 'x')); }),
            "the answer has 102 bytes; at most 100 are allowed");
  EXPECT_THROW(client.repeat(std::string(95, 'x')), Connection_Lost);
}

TEST_F(Rpc_Server, ClosesConnectionsThatSayNothing) {
  start({.hello_time = std::chrono::milliseconds(1)});
  EXPECT_EQ(answer_to(""), "");
  EXPECT_EQ(answer_to("half a hash"), "");
}

TEST_F(Rpc_Server, ClosesIdleSessions) {
  start({.idle_time = std::chrono::milliseconds(1)});
  EXPECT_EQ(answer_to(hello_bytes()), reply('H', 0));
  EXPECT_EQ(answer_to(hello_bytes() + call_bytes(0, 10, "half")),
            reply('H', 1) + reply('C', 14, "half"));
  EXPECT_EQ(answer_to(hello_bytes() + call_bytes(0, 10, "ha")), reply('H', 2));
}

TEST_F(Rpc_Server, RefusesMoreSessionsThanItMayHave) {
  start({.sessions = 1});
  {
    Local_Channel channel(path_);
    Test_Client client(channel);
    EXPECT_EQ(answer_to(hello_bytes()), "");
    EXPECT_EQ(client.repeat("a"), "aa");
  }
  for (;;) {  // repeat until the server has read the end of the first session
    if (answer_to(hello_bytes() + "Q") == reply('H', 1)) break;
    std::this_thread::yield();
  }
}

TEST_F(Rpc_Server, SurvivesClientsThatSendRandomBytesAndGo) {
  start({.message_size = 1000});
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = hello_bytes();
    if (round % 4 == 0) bytes.clear();
    for (std::size_t n = random() % 100; n > 0; --n)
      bytes += random() % 2 == 0 ? "CPC\0\0\0\6\7"[random() % 8] : static_cast<char>(random());
    Local_Channel channel(path_);
    try {
      channel.write(bytes.data(), bytes.size());
    } catch (const Connection_Lost&) {
    }
  }
  Local_Channel channel(path_);
  EXPECT_EQ(Test_Client(channel).repeat("a"), "aa");
}

// ---- invalid servers

// Sends given bytes, whatever the client writes. Then the connection is lost.
class Scripted_Channel : public Channel {
 public:
  explicit Scripted_Channel(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read_some(char* data, std::size_t size) override {
    if (taken_ == bytes_.size()) throw Connection_Lost("the end");
    const std::size_t n = bytes_.copy(data, size, taken_);
    taken_ += n;
    return n;
  }
  void write(const char* data, std::size_t size) override { sent.append(data, size); }
  std::string sent;

 private:
  const std::string bytes_;
  std::size_t taken_ = 0;
};

TEST(Rpc_Client, SaysHelloAndGoodBye) {
  Scripted_Channel channel(reply('H', 7));
  EXPECT_EQ(Test_Client(channel).get_session_id(), 7);
  EXPECT_EQ(channel.sent, hello_bytes() + "Q");
}

TEST(Rpc_Client, ThrowsWhereTheServerDoesNotSpeakTheProtocol) {
  EXPECT_EQ(error_of<Disconnection>([] {
              Scripted_Channel channel("joedb");
              Test_Client client(channel);
            }),
            "failed handshake: the server does not speak the protocol");
  const struct {
    std::string bytes;
    std::string error;
  } cases[] = {
      {reply('x', 0), "unexpected reply to a call"},
      {reply('C', 6), "a message of 7 bytes was returned with 6; the limit is 100"},
      {reply('C', -1), "a message of 7 bytes was returned with -1; the limit is 100"},
      {reply('C', 101), "a message of 7 bytes was returned with 101; the limit is 100"},
      {reply('c', -1), "an error text of -1 bytes"},
      {reply('c', 8184), "an error text of 8184 bytes"},
  };
  for (const auto& c : cases) {
    Scripted_Channel channel(reply('H', 0) + c.bytes);
    Test_Client client(channel);
    client.set_message_limit(100);
    EXPECT_EQ(error_of<Disconnection>([&] { client.repeat("a"); }), c.error);
    EXPECT_EQ(error_of<Disconnection>([&] { client.ping(); }), c.error) << "again";
  }
}

TEST(Rpc_Client, ThrowsConnectionLostFromTheLossOn) {
  Scripted_Channel channel(reply('H', 0) + reply('C', 9, "a"));
  Test_Client client(channel);
  EXPECT_EQ(error_of<Connection_Lost>([&] { client.repeat("a"); }), "the end");
  EXPECT_EQ(error_of<Connection_Lost>([&] { client.ping(); }), "the end");
}

TEST(Rpc_Client, DoesNotSendAMessageAboveItsLimit) {
  Scripted_Channel channel(reply('H', 0) + "P");
  Test_Client client(channel);
  client.set_message_limit(100);
  EXPECT_EQ(error_of<Exception>([&] { client.repeat(std::string(95, 'x')); }),
            "the message has 101 bytes; the limit is 100");
  client.ping();
  EXPECT_EQ(channel.sent, hello_bytes() + "P");
}

TEST(Rpc_Client, SendsPingsWhenItIsIdle) {
  class Pinged_Channel final : public Scripted_Channel {
   public:
    Pinged_Channel() : Scripted_Channel(reply('H', 0) + "PP") {}
    void write(const char* data, std::size_t size) override {
      if (std::string_view(data, size) == "P" && ++pings <= 2) two_pings.count_down();
      Scripted_Channel::write(data, size);
    }
    std::latch two_pings{2};
    int pings = 0;
  };
  Pinged_Channel channel;
  {
    const Test_Client client(channel, signatures(), std::chrono::milliseconds(1));
    channel.two_pings.wait();
  }
  EXPECT_TRUE(channel.sent.starts_with(hello_bytes() + "PP"));
}

}  // namespace
}  // namespace joedb::inline v1::rpc
