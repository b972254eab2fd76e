// Transactions per second on a cluster of NATS servers, beside a raw synchronous publish of the
// same bytes. Arguments: URL MONITOR SECONDS.

#include <nats/nats.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "joedb/cluster/nats_connection.h"
#include "joedb/io/memory_file.h"
#include "joedb/replica/clients.h"

namespace {

using Clock = std::chrono::steady_clock;

const std::string text(100, 'x');

// Calls f() for so long. Returns how often in a second.
double rate(double seconds, const std::function<void()>& f) {
  const auto start = Clock::now();
  const auto end =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::int64_t count = 0;
  while (Clock::now() < end) {
    f();
    ++count;
  }
  return static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - start).count();
}

void check(natsStatus status) {
  if (status != NATS_OK) throw joedb::Exception(natsStatus_GetText(status));
}

// What the client library does: one message, the expected last sequence, and an acknowledgement.
class Raw {
 public:
  explicit Raw(const joedb::Nats_Address& address) {
    std::string url;
    for (const std::string& server : address.servers) url += (url.empty() ? "" : ",") + server;
    check(natsConnection_ConnectTo(&connection_, url.c_str()));
    check(natsConnection_JetStream(&context_, connection_, nullptr));
    jsStreamInfo* info = nullptr;
    check(js_GetStreamInfo(&info, context_, address.origin().c_str(), nullptr, nullptr));
    last_ = info->State.LastSeq;
    subject_ = info->Config->Subjects[0];
    jsStreamInfo_Destroy(info);
    bytes_.assign(180, 'x');  // as long as a record of such a transaction
  }
  ~Raw() {
    jsCtx_Destroy(context_);
    natsConnection_Destroy(connection_);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  void publish() {
    jsPubAck* ack = nullptr;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.ExpectLastSeq = last_;
    check(js_Publish(&ack, context_, subject_.c_str(), bytes_.data(),
                     static_cast<int>(bytes_.size()), &options, nullptr));
    last_ = ack->Sequence;
    jsPubAck_Destroy(ack);
  }

 private:
  std::string subject_;
  natsConnection* connection_ = nullptr;
  jsCtx* context_ = nullptr;
  std::uint64_t last_ = 0;
  std::string bytes_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: cluster_benchmark URL_FOR_JOEDB URL_FOR_RAW SECONDS\n");
    return 1;
  }
  const double seconds = std::stod(argv[3]);
  joedb::Log_Settings settings;
  joedb::Nats_Settings nats;
  nats.monitor.clear();
  joedb::Nats_Connection connection(argv[1], joedb::Logger::none(), nats, settings);
  joedb::Memory_File file;
  joedb::Writable_Journal_Client client(file, connection);
  const auto write = [](joedb::Writable_Journal& journal) { journal.append(joedb::Comment{text}); };
  for (int i = 0; i < 3; ++i) client.transaction(write);  // then it is quiet

  Raw raw(joedb::Nats_Address::parse(argv[2]));
  double raw_rate = 0, one_rate = 0;
  constexpr int rounds = 5;
  for (int i = 0; i < rounds; ++i) {
    raw_rate += rate(seconds / rounds, [&] { raw.publish(); }) / rounds;
    one_rate += rate(seconds / rounds, [&] { client.transaction(write); }) / rounds;
  }
  joedb::Group_Client group(client);
  std::atomic<std::int64_t> count = 0;
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      rate(seconds, [&] {
        group.transaction(write);
        ++count;
      });
    });
  for (std::thread& thread : threads) thread.join();
  const double group_rate =
      static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("{\"raw\": %.0f, \"one\": %.0f, \"group_of_8\": %.0f}\n", raw_rate, one_rate,
              group_rate);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cluster_benchmark: %s\n", error.what());
  return 1;
}
