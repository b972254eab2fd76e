#ifndef NETWORK_PROTOCOL_H
#define NETWORK_PROTOCOL_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/base/bytes.h"
#include "joedb/base/ids.h"

// The bytes of the server protocol of joedb 10, version 19: what both ends have in common. All
// numbers are 64-bit, signed, little-endian. The client sends a request, the server one reply.
//
// Source: docs/reference/protocol.md.

namespace joedb::network {

inline constexpr std::int64_t protocol_version = 19;
// Instead of that, by clients and servers that know more than joedb 10: the answer is the same
// number then, and 19 from a server that does not. No version of joedb 10 will have this number.
inline constexpr std::int64_t extended_version = (std::int64_t{1} << 32) + protocol_version;
inline constexpr std::string_view protocol_word = "joedb";
// What may be sent instead of the hello, and is answered by lines of text. Not of joedb 10.
inline constexpr std::string_view status_word = "status\n";
// "joedb", version
inline constexpr std::size_t hello_size = protocol_word.size() + 8;

// Codes of requests. The reply to each begins with the same code, or with one of Refusal.
namespace code {
inline constexpr char check_fast = 'H';   // checkpoint, hash
inline constexpr char check_full = 'I';   // checkpoint, hash
inline constexpr char read = 'r';         // from, until; reply: until, bytes
inline constexpr char pull_first = 'D';   // wait (milliseconds), from; reply: checkpoint
inline constexpr char pull_last = 'G';    // of these four: pulls_lock, pulls_data
inline constexpr char unlock = 'M';       //
inline constexpr char push = 'N';         // from, until, bytes
inline constexpr char push_unlock = 'O';  // from, until, bytes
inline constexpr char quit = 'Q';         // no reply
// Instead of the code of the request.
inline constexpr char mismatch = 'h';  // the hash is another one
inline constexpr char conflict = 'C';  // the push does not continue the journal: nothing is written
inline constexpr char readonly = 'R';  // the server cannot be written
inline constexpr char busy = 'B';      // extended: another client has the lock: nothing is written
inline constexpr char time_out = 't';  // the lock was lost during the push: nothing is written
}  // namespace code

constexpr bool is_pull(char c) { return c >= code::pull_first && c <= code::pull_last; }
constexpr bool pulls_lock(char c) { return ((c - code::pull_first) & 1) != 0; }
constexpr bool pulls_data(char c) { return ((c - code::pull_first) & 2) != 0; }

// The numbers of the bytes are those of this machine: base/bytes.h.
inline void append_number(std::string& out, std::int64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
inline std::int64_t number_at(std::string_view bytes, std::size_t offset) {
  return load<std::int64_t>(bytes.data() + offset);
}

}  // namespace joedb::network

#endif
