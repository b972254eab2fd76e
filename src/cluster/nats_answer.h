#ifndef CLUSTER_NATS_ANSWER_H
#define CLUSTER_NATS_ANSWER_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cluster/nats_session.h"

namespace joedb::inline v1 {

// An error of JetStream, as its answers have it.
struct Nats_Error {
  int code = 0;        // as in HTTP
  int error_code = 0;  // 10001 and so on
  std::string description;
};

// Numbers of errors that mean something to us.
enum : int {
  nats_no_peers = 10005,
  nats_no_message = 10037,
  nats_no_stream = 10059,
  nats_wrong_last = 10071,
  nats_wrong_last_pending = 10164,  // messages of other writers are on their way
  nats_batch_incomplete = 10176
};

// The answer of JetStream, which is JSON. Throws Disconnection if it is not.
nlohmann::json nats_answer(const Nats_Session& session, const natsMsg& message);
// Nothing but zeros, if the answer is not an error.
Nats_Error nats_error(const nlohmann::json& answer);
// Throws Connection_Lost for errors that may be over soon, else Disconnection.
[[noreturn]] void fail(const Nats_Session& session, const Nats_Error& error,
                       std::string_view action);

Nats_Stream_State nats_stream_state(const nlohmann::json& answer);
// STREAM.INFO; nothing, if there is no such stream.
std::optional<Nats_Stream_State> ask_for_state(Nats_Session& session);

// Sixteen digits.
std::string hex(std::uint64_t value);

}  // namespace joedb::inline v1

#endif
