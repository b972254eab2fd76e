#ifndef JOEDB_NETWORK_RPC_PROCEDURE_H
#define JOEDB_NETWORK_RPC_PROCEDURE_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"

// Remote procedure calls: declarations shared by client and server. joedbc generates the code that
// uses them (docs/rpc.md).

namespace joedb::inline v1::rpc {

// Default limit on the size of a message in bytes: its file up to the checkpoint, prolog included.
inline constexpr Offset default_message_limit = Offset{1} << 26;

// Describes a procedure. Client and server compare a hash of all signatures.
struct Signature {
  std::string name;
  std::string prolog;  // the file of an empty message
};

// Appends the bytes that a client has sent to an empty message, runs the procedure, and returns the
// bytes that the procedure has appended. Throws the exceptions of the procedure, and Exception if
// `received` is not a sequence of whole, valid entries.
using Procedure = std::function<std::string(std::string_view received)>;

// Called by generated code. Message is a Memory_Database.
template <class Message>
Signature make_signature(std::string name) {
  const Message message;
  return {std::move(name), {message.get_data().begin(), message.get_data().end()}};
}

// Called by generated code. f(message) runs the procedure.
template <class Message, class F>
Procedure make_procedure(F f) {
  return [f](std::string_view received) {
    Message message;
    try {
      message.append_from_copy(received);
    } catch (const Exception& error) {
      throw Exception(std::string("invalid message: ") + error.what());
    }
    const std::size_t end = message.get_data().size();
    f(message);
    message.soft_checkpoint();
    return std::string(message.get_data().data() + end, message.get_data().size() - end);
  };
}

}  // namespace joedb::inline v1::rpc

#endif
