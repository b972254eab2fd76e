#include "joedb/cluster/nats_connection.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "share/cluster/nats_answer.h"
#include "share/cluster/nats_client.h"

namespace joedb::inline v1 {

using nlohmann::json;
using namespace std::chrono_literals;

static constexpr System::Duration patience = 30s;

class Nats_Stream::Requests {
 public:
  Requests(const Nats_Address& address, const Nats_Settings& settings, Logger& logger)
      : client(address, settings, logger) {}

  // Sends a request and returns the reply. The time limit is longer than for other requests,
  // because changing a stream may take longer.
  json ask(std::string_view what, const json& body) {
    const Nats_Message message =
        client.request("$JS.API.STREAM." + std::string(what) + "." + client.address().stream,
                       body.empty() ? "" : body.dump(), {}, longest());
    return nats_answer(client, *message);
  }
  void ask_for_success(std::string_view what, const json& body, std::string_view action) {
    if (const Nats_Error error = nats_error(ask(what, body)); error.error_code != 0)
      fail(client, error, action);
  }

  // Creates a stream. Retries, because the servers of a new cluster need some seconds to find each
  // other.
  void create(const json& config) {
    if (retry_for(patience, [this] { return ask_for_state(client); }))
      throw Disconnection(client.name() + ": there is a stream " + client.address().stream +
                          " already");
    retry_for(patience, [&] {
      const Nats_Error error = nats_error(ask("CREATE", config));
      const std::string_view action = "the stream cannot be made";
      if (error.error_code == nats_no_peers)
        throw Connection_Lost(client.name() + ": " + std::string(action) + ": " +
                              error.description);
      if (error.error_code != 0) fail(client, error, action);
      return true;
    });
    retry_for(patience, [this] {
      if (ask_for_state(client)) return true;
      throw Connection_Lost(client.name() + ": the new stream has no leader");
    });
  }

  Nats_Client client;

 private:
  System::Duration longest() const {
    return std::max<System::Duration>(5s, client.settings().answer_time);
  }
};

Nats_Stream::Nats_Stream(const Nats_Address& address, const Nats_Settings& settings, Logger& logger)
    : requests_(std::make_unique<Requests>(address, settings, logger), address.url()) {}
Nats_Stream::~Nats_Stream() = default;

std::optional<Nats_Stream_State> Nats_Stream::state() { return ask_for_state(requests_->client); }

namespace {

json plan_of(const std::string& name, int replicas) {
  return {{"name", name},
          {"retention", "limits"},
          {"storage", "file"},
          {"num_replicas", replicas},
          {"max_consumers", -1},
          {"max_msgs", -1},
          {"max_bytes", -1},
          {"max_age", 0},
          {"max_msgs_per_subject", -1},
          {"max_msg_size", -1},
          {"discard", "new"},
          {"allow_direct", true},
          {"deny_delete", true}};
}

}  // namespace

void Nats_Stream::create(const Nats_Stream_Plan& plan) {
  const Nats_Address& address = requests_->client.address();
  if (address.stream != address.origin())
    throw Disconnection(address.url() + ": the stream of the database is made without ?stream=");
  json config = plan_of(address.stream, plan.replicas);
  // Each stream has its own subject. If a stream was removed and recreated, a client that has not
  // noticed this still publishes to the old subject, which belongs to no stream.
  config["subjects"] = {address.subject + '.' + hex(System::real().random())};
  config["deny_purge"] = plan.denies_purge;
  config["duplicate_window"] = std::chrono::nanoseconds(2min).count();
  config["allow_atomic"] = true;  // servers before 2.12 ignore this
  requests_->create(config);
}

void Nats_Stream::create_mirror(int replicas) {
  const Nats_Address& address = requests_->client.address();
  if (address.stream == address.origin())
    throw Disconnection(address.url() + ": a mirror needs a name of its own: ?stream=NAME");
  json config = plan_of(address.stream, replicas);
  config["mirror"] = {{"name", address.origin()}};
  requests_->create(config);
}

void Nats_Stream::shorten(Replicated_Log::Number before) {
  Nats_Client& client = requests_->client;
  const auto state = ask_for_state(client);
  if (!state) throw Disconnection(client.name() + ": there is no such stream");
  if (before <= state->first) return;
  if (before > state->last + 1)
    throw Disconnection(client.name() + ": the stream ends with message " +
                        std::to_string(state->last));
  if (state->denies_purge)
    throw Disconnection(client.name() +
                        ": the stream was made so that it cannot be shortened (deny_purge)");
  requests_->ask_for_success("PURGE", {{"seq", before}}, "the stream cannot be shortened");
}

void Nats_Stream::remove() {
  requests_->ask_for_success("DELETE", {}, "the stream cannot be removed");
}

}  // namespace joedb::inline v1
