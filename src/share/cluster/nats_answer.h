#ifndef JOEDB_SRC_SHARE_CLUSTER_NATS_ANSWER_H
#define JOEDB_SRC_SHARE_CLUSTER_NATS_ANSWER_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "share/cluster/nats_client.h"

namespace joedb::inline v1 {

// The error in a reply of JetStream.
struct Nats_Error {
  int code = 0;        // like a status code of HTTP
  int error_code = 0;  // the number of JetStream, from 10001 on
  std::string description;
};

// The error numbers that the caller handles.
enum : int {
  nats_no_peers = 10005,
  nats_no_message = 10037,
  nats_no_stream = 10059,
  nats_wrong_last = 10071,
  nats_wrong_last_pending = 10164,  // messages of other writers are in flight
  nats_batch_incomplete = 10176
};

// Parses an answer of JetStream, which is JSON. Throws Disconnection if it is not a JSON object.
nlohmann::json nats_answer(const Nats_Client& client, const natsMsg& message);
// Returns the error in a reply. If there is none, both numbers are 0.
Nats_Error nats_error(const nlohmann::json& answer);
// Throws Connection_Lost if the error may be temporary, otherwise Disconnection.
[[noreturn]] void fail(const Nats_Client& client, const Nats_Error& error, std::string_view action);

Nats_Stream_State nats_stream_state(const nlohmann::json& answer);
// Returns the state of the stream (STREAM.INFO); nullopt if there is no such stream.
std::optional<Nats_Stream_State> ask_for_state(Nats_Client& client);

// Returns `value` as 16 hexadecimal digits.
std::string hex(std::uint64_t value);

}  // namespace joedb::inline v1

#endif
