#ifndef JOEDB_SRC_SHARE_NETWORK_ACCESS_H
#define JOEDB_SRC_SHARE_NETWORK_ACCESS_H

#include <string>
#include <string_view>

// The first line that a client sends over TCP, before the protocol begins.
//
//     joedb-access 1 DATABASE [NAME TOKEN]
//
// The server answers "ok", or "no REASON" and closes the connection. Over a unix-domain socket,
// this line is not sent, as in joedb 10.
//
// Source: docs/reference/protocol.md.

namespace joedb::network {

inline constexpr std::string_view access_word = "joedb-access 1 ";
inline constexpr std::size_t max_access_line = 1024;
inline constexpr int default_port = 5619;

}  // namespace joedb::network

#endif
