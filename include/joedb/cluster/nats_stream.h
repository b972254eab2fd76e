#ifndef JOEDB_CLUSTER_NATS_STREAM_H
#define JOEDB_CLUSTER_NATS_STREAM_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/base/process_mark.h"
#include "joedb/base/system.h"
#include "joedb/cluster/nats_address.h"
#include "joedb/cluster/replicated_log.h"

namespace joedb::inline v1 {

// How NATS servers are reached.
struct Nats_Settings {
  // What proves who this client is, as a file of credentials (JWT and seed).
  std::string credentials_file = {};
  // TLS: whose certificates of servers are accepted, as PEM. Empty: those that this machine trusts.
  // The certificate must be for the host of the URL.
  std::string authority_file = {};
  // TLS: a certificate of this client and its key, as PEM.
  std::string certificate_file = {};
  std::string key_file = {};
  // Where the servers tell whether they sync: a port of all of them, or URLs separated by commas,
  // one for each server (http://HOST:PORT). Empty: nobody is asked.
  std::string monitor = "8222";
  // For one request. Shorter than the time in which a cluster replaces a leader (some 10 s): a
  // request to a leader that has failed is repeated then, perhaps by another one.
  System::Duration answer_time = std::chrono::seconds(2);
  // For a message that the leader has counted: so long, all servers are asked for it again.
  System::Duration search_time = std::chrono::seconds(5);
};

// What JetStream says about a stream.
struct Nats_Stream_State {
  struct Peer {
    std::string name;  // of the server
    bool is_current = false;
    bool is_offline = false;
    std::int64_t lag = 0;          // operations that it does not have yet
    System::Duration active = {};  // since it was heard last
  };

  std::string stream;
  std::vector<std::string> subjects;
  std::string created;  // YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ
  Replicated_Log::Number first = 1;
  Replicated_Log::Number last = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  int replicas = 1;
  std::string leader;       // the name of a server; empty: the only one, without a cluster
  std::vector<Peer> peers;  // without the leader
  std::string mirror_of;    // the name of a stream; empty: not a mirror
  std::int64_t mirror_lag = 0;

  std::int64_t max_message_size = -1;  // -1: that of the server
  bool has_file_storage = false;
  bool has_limits = false;  // of age, number or size: old messages may be dropped
  bool is_sealed = false;
  bool denies_delete = false;
  bool denies_purge = false;
  bool allows_atomic = false;  // batches: server 2.12 or later
  bool allows_direct = false;
  bool persists_late = false;  // an acknowledgement may come before the write

  // Messages that are counted in [first, last], and are not there.
  std::int64_t missing() const { return last - first + 1 - messages; }
};

// How a stream is made.
struct Nats_Stream_Plan {
  int replicas = 3;
  // Also shorten() is refused then, for ever.
  bool denies_purge = false;
};

// Makes and changes the stream of a database: for tools.
//
// Functions throw Connection_Lost where no answer came in time, Disconnection where the servers
// refuse. One thread at a time calls them.
class Nats_Stream {
 public:
  // Connects. The logger must outlive the object. Throws Exception for files that cannot be used.
  explicit Nats_Stream(const Nats_Address& address, const Nats_Settings& settings = {},
                       Logger& logger = Logger::none());
  ~Nats_Stream();
  Nats_Stream(const Nats_Stream&) = delete;
  Nats_Stream& operator=(const Nats_Stream&) = delete;

  // Nothing, if there is no such stream.
  std::optional<Nats_Stream_State> state();

  // Makes the stream of the database: on disks, without limits, messages cannot be deleted.
  // Waits for the servers that are needed, for half a minute. Throws Disconnection if there is one.
  void create(const Nats_Stream_Plan& plan = {});
  // Makes the stream of the address, which is another name, a mirror of that of the database.
  void create_mirror(int replicas = 1);

  // Removes messages 1 to before - 1, on all replicas, wherever the end is meanwhile; a mirror
  // keeps its own. Throws Disconnection if the stream denies purges.
  void shorten(Replicated_Log::Number before);

  // Removes the stream of the address with all messages.
  void remove();

 private:
  class Requests;
  const Process_Owned<Requests> requests_;
};

}  // namespace joedb::inline v1

#endif
