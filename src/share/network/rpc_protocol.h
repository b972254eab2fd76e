#ifndef JOEDB_SRC_SHARE_NETWORK_RPC_PROTOCOL_H
#define JOEDB_SRC_SHARE_NETWORK_RPC_PROTOCOL_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/network/rpc.h"
#include "share/network/content_hash.h"

// The encoding of remote procedure calls, as in joedb 10.
//
// Source: docs/reference/protocol.md.

namespace joedb::network {

namespace rpc_code {
inline constexpr char hello = 'H';     // reply to the hash (sent without a code); field: session
inline constexpr char mismatch = 'h';  // reply if the hashes differ, then the end; field: session
inline constexpr char call = 'C';      // procedure, until, bytes; reply: until, bytes
inline constexpr char failure = 'c';   // reply to a call: size, text
inline constexpr char ping = 'P';      // reply: the same
inline constexpr char quit = 'Q';      // no reply
}  // namespace rpc_code

inline constexpr std::size_t max_error_size = 8183;  // in bytes

// Returns the hash of all signatures (names and prologs), in their order.
Content_Hash hash_of(const std::vector<rpc::Signature>& signatures);

// Returns the first max_error_size bytes of `text`, without a partial UTF-8 sequence at the end.
std::string_view cut_error(std::string_view text);

// Splits the bytes that a client sends into requests. Its memory grows only as bytes arrive, up to
// `message_limit` for each message.
class Rpc_Requests {
 public:
  struct Request {
    enum class Kind { hello, ping, call, quit, invalid };
    Kind kind;
    std::size_t procedure = 0;  // for a call
    std::string bytes;          // hello: the hash; call: the message after its prolog
    std::string problem;        // invalid: the reason; no request follows
  };

  Rpc_Requests(std::vector<Offset> prolog_sizes, Offset message_limit)
      : prolog_sizes_(std::move(prolog_sizes)), message_limit_(message_limit) {}

  void append(std::string_view bytes) { input_.append(bytes); }
  // Returns the number of buffered bytes, which belong to an incomplete message.
  std::size_t size() const { return input_.size() + body_.size(); }
  // Extracts the next request. Returns false if the request has not arrived completely.
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
