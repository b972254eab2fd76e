#ifndef JOEDB_CLUSTER_NATS_STREAM_H
#define JOEDB_CLUSTER_NATS_STREAM_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/cluster/nats_address.h"
#include "joedb/cluster/replicated_log.h"

namespace joedb::inline v1 {

// How to reach NATS servers.
struct Nats_Settings {
  // A file of credentials (JWT and seed), by which this client authenticates itself.
  std::string credentials_file = {};
  // TLS: certificates of the authorities that may sign certificates of servers, as PEM. Empty: the
  // authorities that this machine trusts. The server's certificate must be for the host of the URL.
  std::string authority_file = {};
  // TLS: a certificate of this client and its key, as PEM.
  std::string certificate_file = {};
  std::string key_file = {};
  // Where the servers report whether they sync: a port of all of them, or URLs separated by commas,
  // one for each server (http://HOST:PORT). Empty: no server is asked.
  std::string monitor = "8222";
  // Timeout of a request. It is shorter than the time in which a cluster replaces a leader (some 10
  // s): a request to a failed leader is repeated then, perhaps with another leader.
  System::Duration answer_time = std::chrono::seconds(2);
  // How long to keep asking all servers for a message that the leader has counted.
  System::Duration search_time = std::chrono::seconds(5);
};

// The state of a stream, as JetStream reports it.
struct Nats_Stream_State {
  struct Peer {
    std::string name;  // of the server
    bool is_current = false;
    bool is_offline = false;
    std::int64_t lag = 0;          // number of operations that it does not have yet
    System::Duration active = {};  // time since the leader last heard from it
  };

  std::string stream;
  std::vector<std::string> subjects;
  std::string created;  // YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ
  Replicated_Log::Number first = 1;
  Replicated_Log::Number last = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  int replicas = 1;
  std::string leader;       // the name of a server; empty without a cluster
  std::vector<Peer> peers;  // without the leader
  std::string mirror_of;    // the name of a stream; empty: not a mirror
  std::int64_t mirror_lag = 0;

  std::int64_t max_message_size = -1;  // -1: the limit of the server
  bool has_file_storage = false;
  bool has_limits = false;  // of age, number or size: old messages may be dropped
  bool is_sealed = false;
  bool denies_delete = false;
  bool denies_purge = false;
  bool allows_atomic = false;  // batches: server 2.12 or later
  bool allows_direct = false;
  bool persists_late = false;  // an acknowledgement may come before the write

  // Returns the number of messages in [first, last] that are missing.
  std::int64_t missing() const { return last - first + 1 - messages; }
};

// Options of a new stream.
struct Nats_Stream_Plan {
  int replicas = 3;
  // If true, shorten() is refused, too, for ever.
  bool denies_purge = false;
};

// Creates and changes the stream of a database: for tools.
//
// Functions throw Connection_Lost if no answer arrives in time, Disconnection if the servers
// refuse. Not thread-safe.
class Nats_Stream {
 public:
  // Connects. `logger` must outlive the object. Throws Exception if a file cannot be used.
  explicit Nats_Stream(const Nats_Address& address, const Nats_Settings& settings = {},
                       Logger& logger = Logger::none());
  ~Nats_Stream();
  Nats_Stream(const Nats_Stream&) = delete;
  Nats_Stream& operator=(const Nats_Stream&) = delete;

  // Returns nullopt if there is no such stream.
  std::optional<Nats_Stream_State> state();

  // Creates the stream of the database: stored on disks, without limits; single messages cannot be
  // deleted. Waits for the necessary servers, for half a minute. Throws Disconnection if the stream
  // exists.
  void create(const Nats_Stream_Plan& plan = {});
  // Creates the stream of the address, as a mirror of the stream of the database. Throws
  // Disconnection if both have the same name.
  void create_mirror(int replicas = 1);

  // Removes messages 1 to before - 1 on all replicas, wherever the stream ends meanwhile. A mirror
  // keeps its own messages. Throws Disconnection if the stream denies purges, or ends before
  // message before - 1.
  void shorten(Replicated_Log::Number before);

  // Removes the stream of the address with all messages.
  void remove();

 private:
  class Requests;
  const Process_Owned<Requests> requests_;
};

}  // namespace joedb::inline v1

#endif
