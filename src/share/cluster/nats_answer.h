#ifndef JOEDB_SRC_SHARE_CLUSTER_NATS_ANSWER_H
#define JOEDB_SRC_SHARE_CLUSTER_NATS_ANSWER_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "share/cluster/nats_client.h"

namespace joedb::inline v1 {

// An error in an answer of JetStream.
struct Nats_Error {
  int code = 0;        // as in HTTP
  int error_code = 0;  // 10001 and so on
  std::string description;
};

// Error numbers that are handled.
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
// Returns the error in an answer; its numbers are 0 if there is none.
Nats_Error nats_error(const nlohmann::json& answer);
// Throws Connection_Lost for an error that may be over soon, otherwise Disconnection.
[[noreturn]] void fail(const Nats_Client& client, const Nats_Error& error, std::string_view action);

Nats_Stream_State nats_stream_state(const nlohmann::json& answer);
// Returns the state of the stream (STREAM.INFO); nullopt if there is no such stream.
std::optional<Nats_Stream_State> ask_for_state(Nats_Client& client);

// Returns 16 hexadecimal digits.
std::string hex(std::uint64_t value);

}  // namespace joedb::inline v1

#endif
