#ifndef JOEDB_SRC_SHARE_CLUSTER_MESSAGE_H
#define JOEDB_SRC_SHARE_CLUSTER_MESSAGE_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/cluster/log_connection.h"
#include "share/cluster/prefix_hash.h"

// A message of a replicated log that carries a journal. Numbers are little-endian:
//
//     offset  size
//          0     4  "jdb1"
//          4     1  kind
//          5     1  flags: 1 first, 2 last, 4 unlocks
//          6     2  0
//          8     8  XXH3, 64 bits, of all bytes from 16 on, seeded with bytes 0 to 7
//         16     8  writer
//         24     8  id
//         32     8  after.end
//         40     8  after.block_hash
//         48     8  after.hash
//         56     8  lock
//         64     8  archive
//         72     8  argument
//         80        text

namespace joedb::inline v1 {

struct Message {
  enum class Kind : std::uint8_t {
    genesis = 1,  // message 1, or the first message of a log that was refilled
    data = 2,     // `text`: a piece of a push; `argument`: its position in the journal
    lock = 3,     // takes or renews the lock; `argument`: the lease in ms; `text`: the owner
    unlock = 4,
    archive = 5  // `text`: the location of a file that has all bytes before `argument`
  };

  Kind kind = Kind::genesis;
  // Flags of the pieces of a push. A push takes effect when its last piece is in the log.
  bool is_first = false;
  bool is_last = false;
  bool unlocks = false;  // the push releases the lock

  std::uint64_t writer = 0;  // a random number for each connection
  std::uint64_t id = 0;      // a random number for each push and for each other message

  // The state of the journal after this message.
  Journal_State after;
  // The numbers of the lock message and of the archive message in effect after this message; 0 if
  // none. A message of kind `lock` or `archive` has 0 for itself, because its own number is not
  // known when it is encoded.
  Replicated_Log::Number lock = 0;
  Replicated_Log::Number archive = 0;

  std::int64_t argument = 0;
  std::string_view text;

  // Returns the lease of a lock message, limited to 24 hours.
  std::chrono::milliseconds lease() const {
    constexpr std::int64_t longest = 86'400'000;
    return std::chrono::milliseconds(std::min(argument, longest));
  }
};

inline constexpr std::size_t message_header_size = 80;

std::string encode_message(const Message& message);
// Decodes a message. The text of the result points into `bytes`. If encode_message cannot have
// produced `bytes`, throws Corruption_Error, whose text is only the reason.
Message decode_message(std::string_view bytes);

}  // namespace joedb::inline v1

#endif
