#include "share/cluster/nats_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernel/base/plain_text.h"

namespace joedb::inline v1 {

using nlohmann::json;

json nats_answer(const Nats_Client& client, const natsMsg& message) {
  const std::string_view text = nats_data(message);
  json result = json::parse(text.begin(), text.end(), nullptr, false);
  if (!result.is_object())
    throw Disconnection(client.name() + ": this is not an answer of JetStream: '" +
                        plain(text.substr(0, 100)) + "'");
  return result;
}

Nats_Error nats_error(const json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_object()) return {};
  try {
    return {error->value("code", 500), error->value("err_code", -1),
            plain(error->value("description", ""))};
  } catch (const json::exception&) {  // a field has an unexpected type
    return {500, -1, "an error that cannot be understood"};
  }
}

void fail(const Nats_Client& client, const Nats_Error& error, std::string_view action) {
  const std::string text = client.name() + ": " + std::string(action) + ": " + error.description +
                           " (" + std::to_string(error.error_code) + ")";
  // Errors from 500 on that are permanent.
  constexpr int lasting[] = {
      10039,  // JetStream is not enabled for the account
      10047,  // storage resources exceeded
      10052,  // invalid configuration
      10074   // replicas without a cluster
  };
  if (error.code >= 500 && std::ranges::find(lasting, error.error_code) == std::end(lasting))
    throw Connection_Lost(text);
  throw Disconnection(text);
}

Nats_Stream_State nats_stream_state(const json& answer) {
  const json& config = answer.at("config");
  const json& counts = answer.at("state");
  Nats_Stream_State state;
  state.stream = config.at("name").get<std::string>();
  if (const auto subjects = config.find("subjects");
      subjects != config.end() && subjects->is_array())
    state.subjects = subjects->get<std::vector<std::string>>();
  state.created = answer.value("created", "");
  state.messages = counts.value("messages", std::int64_t{0});
  state.bytes = counts.value("bytes", std::int64_t{0});
  state.first = std::max<std::int64_t>(1, counts.value("first_seq", std::int64_t{1}));
  state.last = counts.value("last_seq", std::int64_t{0});

  state.replicas = config.value("num_replicas", 1);
  if (const auto cluster = answer.find("cluster"); cluster != answer.end()) {
    state.leader = plain(cluster->value("leader", ""));
    if (const auto peers = cluster->find("replicas"); peers != cluster->end() && peers->is_array())
      for (const json& peer : *peers)
        state.peers.push_back(
            {plain(peer.value("name", "")), peer.value("current", false),
             peer.value("offline", false), peer.value("lag", std::int64_t{0}),
             std::chrono::duration_cast<System::Duration>(
                 std::chrono::nanoseconds(peer.value("active", std::int64_t{0})))});
  }
  if (const auto mirror = config.find("mirror"); mirror != config.end() && mirror->is_object())
    state.mirror_of = plain(mirror->value("name", ""));
  if (const auto mirror = answer.find("mirror"); mirror != answer.end() && mirror->is_object())
    state.mirror_lag = mirror->value("lag", std::int64_t{0});

  const auto limit = [&config](const char* name) {
    const auto value = config.value(name, std::int64_t{-1});
    return value > 0 ? std::optional(value) : std::nullopt;
  };
  state.max_message_size = limit("max_msg_size");
  state.has_file_storage = config.value("storage", "") == "file";
  state.has_limits = limit("max_age") || limit("max_msgs") || limit("max_bytes") ||
                     limit("max_msgs_per_subject") || config.value("retention", "") != "limits";
  state.is_sealed = config.value("sealed", false);
  state.denies_delete = config.value("deny_delete", false);
  state.denies_purge = config.value("deny_purge", false);
  state.allows_atomic = config.value("allow_atomic", false);
  state.allows_direct = config.value("allow_direct", false);
  state.persists_late = config.value("persist_mode", "") == "async";
  return state;
}

std::optional<Nats_Stream_State> ask_for_state(Nats_Client& client) {
  const Nats_Message message = client.request("$JS.API.STREAM.INFO." + client.address().stream, "");
  const json answer = nats_answer(client, *message);
  const Nats_Error error = nats_error(answer);
  if (error.error_code == nats_no_stream) return std::nullopt;
  if (error.error_code != 0) fail(client, error, "state of the stream");
  try {
    return nats_stream_state(answer);
  } catch (const json::exception& e) {
    throw Disconnection(client.name() + ": state of the stream: " + plain(e.what()));
  }
}

std::string hex(std::uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
  return text;
}

}  // namespace joedb::inline v1
