#ifndef NETWORK_RPC_PROTOCOL_H
#define NETWORK_RPC_PROTOCOL_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/network/rpc_procedure.h"
#include "network/content_hash.h"

// The bytes of remote procedure calls, as joedb 10 sends them.
//
// Source: docs/reference/protocol.md.

namespace joedb::network {

namespace rpc_code {
inline constexpr char hello = 'H';     // reply to the hash, which has no code: session
inline constexpr char mismatch = 'h';  // the same, and the end: the hash is another one
inline constexpr char call = 'C';      // procedure, until, bytes; reply: until, bytes
inline constexpr char failure = 'c';   // reply to a call: size, text
inline constexpr char ping = 'P';      // reply: the same
inline constexpr char quit = 'Q';      // no reply
}  // namespace rpc_code

inline constexpr std::size_t longest_error = 8183;

// Of all names and prologs, in their order.
Content_Hash hash_of(const std::vector<rpc::Signature>& signatures);

// The first bytes of a text, no part of a UTF-8 sequence at the end.
std::string_view cut_error(std::string_view text);

// What a client sends, request by request. It takes no more memory than bytes have come, and at
// most `message_limit` for a message.
class Rpc_Requests {
 public:
  struct Request {
    enum class Kind { hello, ping, call, quit, invalid };
    Kind kind;
    std::size_t procedure = 0;  // of a call
    std::string bytes;          // of hello: the hash; of a call: what stands behind the prolog
    std::string problem;        // of an invalid one: there is no next request
  };

  Rpc_Requests(std::vector<Offset> prolog_sizes, Offset message_limit)
      : prolog_sizes_(std::move(prolog_sizes)), message_limit_(message_limit) {}

  void append(std::string_view bytes) { input_.append(bytes); }
  // Takes the next request out. False if its bytes have not come yet.
  bool take(Request& request);

 private:
  bool take_hello(Request& request);
  bool take_header(Request& request);
  bool take_body(Request& request);

  const std::vector<Offset> prolog_sizes_;
  const Offset message_limit_;
  std::string input_;
  bool has_hello_ = false;
  bool is_in_call_ = false;
  std::size_t procedure_ = 0;
  std::size_t body_size_ = 0;
  std::string body_;
};

}  // namespace joedb::network

#endif
