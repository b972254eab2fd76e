#ifndef JOEDB_SRC_SHARE_NETWORK_PROTOCOL_H
#define JOEDB_SRC_SHARE_NETWORK_PROTOCOL_H

#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/base/types.h"

// The encoding of the server protocol of joedb 10, version 19, for client and server. All numbers
// are signed 64-bit integers, little-endian. The server sends one reply to each request of the
// client.
//
// Source: docs/reference/protocol.md.

namespace joedb::network {

inline constexpr std::int64_t protocol_version = 19;
// The version number that clients with extensions send. A server with extensions replies with the
// same number; a server without them replies with 19. joedb 10 will never use this number.
inline constexpr std::int64_t extended_version = (std::int64_t{1} << 32) + protocol_version;
inline constexpr std::string_view protocol_word = "joedb";
// A client may send this word instead of the hello (an extension). The server replies with lines of
// text.
inline constexpr std::string_view status_word = "status\n";
// A client may send this word instead of the hello (an extension), to take the lock from the client
// that holds it. The server replies with one line: "ok …" or "no REASON".
inline constexpr std::string_view break_lock_word = "break_lock\n";
// The size in bytes of the hello of a client: "joedb", version.
inline constexpr std::size_t hello_size = protocol_word.size() + 8;

// Codes of requests, each with the fields that follow it. A reply begins with the code of its
// request, or with one of the codes of refusals.
namespace code {
inline constexpr char check_fast = 'H';   // checkpoint, hash
inline constexpr char check_full = 'I';   // checkpoint, hash
inline constexpr char read = 'r';         // from, until; reply: until, bytes
inline constexpr char pull_first = 'D';   // wait (milliseconds), from; reply: checkpoint
inline constexpr char pull_last = 'G';    // the last of four codes: see pulls_lock, pulls_data
inline constexpr char unlock = 'M';       // no fields
inline constexpr char push = 'N';         // from, until, bytes
inline constexpr char push_unlock = 'O';  // from, until, bytes
inline constexpr char quit = 'Q';         // no reply
// Codes of replies that refuse a request.
inline constexpr char mismatch = 'h';  // the hashes differ
inline constexpr char conflict = 'C';  // the push does not continue the journal; nothing is written
inline constexpr char readonly = 'R';  // the server is read-only
inline constexpr char busy = 'B';      // extended: another client has the lock; nothing is written
inline constexpr char time_out = 't';  // the lock was lost during the push; nothing is written
}  // namespace code

constexpr bool is_pull(char c) { return c >= code::pull_first && c <= code::pull_last; }
constexpr bool pulls_lock(char c) { return ((c - code::pull_first) & 1) != 0; }
constexpr bool pulls_data(char c) { return ((c - code::pull_first) & 2) != 0; }

// Numbers are copied as they are in memory: this machine is little-endian (base/types.h).
inline void append_number(std::string& out, std::int64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
inline std::int64_t number_at(std::string_view bytes, std::size_t offset) {
  return load<std::int64_t>(bytes.data() + offset);
}

}  // namespace joedb::network

#endif
