#ifndef JOEDB_NETWORK_RPC_PROCEDURE_H
#define JOEDB_NETWORK_RPC_PROCEDURE_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"

// Remote procedure calls: what client and server have in common. joedbc generates the code that
// uses this (docs/rpc.md).

namespace joedb::inline v1::rpc {

// The bytes of a message: the file before its checkpoint, prolog included.
inline constexpr Offset default_message_limit = Offset{1} << 26;

// What a client must know of a procedure. Client and server compare a hash of all of them.
struct Signature {
  std::string name;
  std::string prolog;  // the file of an empty message
};

// Reads the bytes that a client has appended to an empty message, calls the procedure, and returns
// what this has appended. Throws what the procedure throws, and Exception if the bytes are not
// whole valid entries of the message.
using Procedure = std::function<std::string(std::string_view received)>;

// For generated code. Message is a Memory_Database.
template <class Message>
Signature make_signature(std::string name) {
  const Message message;
  return {std::move(name), {message.get_data().begin(), message.get_data().end()}};
}

// For generated code: f(message) is the procedure.
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
