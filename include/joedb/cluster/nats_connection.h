#ifndef JOEDB_CLUSTER_NATS_CONNECTION_H
#define JOEDB_CLUSTER_NATS_CONNECTION_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/cluster/log_connection.h"

namespace joedb::inline v1 {

// The address of a database on a cluster of NATS servers. The journal of the database is in a
// stream of JetStream.
struct Nats_Address {
  std::vector<std::string> servers;  // HOST:PORT, at least one; an IPv6 address is in [ ]
  std::string user = {};             // empty if there is none; a token if there is no password
  std::string password = {};
  std::string database;
  std::string stream;   // the stream to read: joedb_DATABASE, or a mirror of it
  std::string subject;  // joedb.DATABASE; the subject of a message is joedb.DATABASE.ID
  bool has_tls = false;

  // Parses nats://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?stream=NAME], or tls://.
  // The default port is 4222. In user and password, characters that a URL cannot have are written
  // as %XX. The name of a database consists of letters, digits, `_` and `-`. Throws Exception if
  // `url` is not such an address.
  static Nats_Address parse(std::string_view url);

  // Returns the stream that takes the messages, even if `stream` is a mirror.
  std::string origin() const { return "joedb_" + database; }
  // Returns the URL without user and password.
  std::string url() const;
};

// Settings of connections to NATS servers.
struct Nats_Settings {
  // A file of credentials (JWT and seed), with which this client authenticates itself.
  std::string credentials_file = {};
  // TLS: certificates (PEM) of the authorities that may sign certificates of servers. If empty,
  // these are the authorities that this machine trusts. The server's certificate must be for the
  // host of the URL.
  std::string authority_file = {};
  // TLS: a certificate of this client and its key (PEM).
  std::string certificate_file = {};
  std::string key_file = {};
  // Where the servers report whether they sync: either a port, the same for all servers, or a
  // comma-separated list of URLs, one for each server (http://HOST:PORT). If empty, no server is
  // asked.
  std::string monitor = "8222";
  // The servers that Nats_Log::promise() asks whether they sync. With `all`, a server that is down
  // counts as a server that does not sync: a client that requires `power` cannot connect while a
  // server is down. With `running`, servers are ignored if they are offline, or if the leader has
  // not heard from them for 5 s; acknowledged messages are on the majority name of the servers. If
  // such a server returns with other settings, only the next connection notices this.
  enum class Asked { all, running };
  Asked asked = Asked::all;
  // Timeout of a request, after which the request is repeated, perhaps with another leader. The
  // default is shorter than the time in which a cluster replaces a failed leader (some 10 s).
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
    std::int64_t lag = 0;          // number of operations that this server does not have yet
    System::Duration active = {};  // time since the leader last heard from this server

    // True if the leader has not heard from this server for several heartbeats; the interval of
    // heartbeats is a second.
    bool is_silent() const { return active > std::chrono::seconds(5); }
  };

  std::string stream;
  std::vector<std::string> subjects;
  std::string created;  // YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ
  Replicated_Log::Number first = 1;
  Replicated_Log::Number last = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  int replicas = 1;
  std::string leader;       // name of the leader; empty without a cluster
  std::vector<Peer> peers;  // the other servers of the stream
  std::string mirror_of;    // name of the mirrored stream; empty if this is not a mirror
  std::int64_t mirror_lag = 0;

  std::optional<std::int64_t> max_message_size;  // nullopt means the limit of the server
  bool has_file_storage = false;
  bool has_limits = false;  // limits on age, number or size: old messages may be dropped
  bool is_sealed = false;
  bool denies_delete = false;
  bool denies_purge = false;
  bool allows_atomic = false;  // atomic batches (server 2.12 or later)
  bool allows_direct = false;
  bool persists_late = false;  // messages may be acknowledged before they are written

  // Returns the number of messages in [first, last] that are missing.
  std::int64_t missing() const { return last - first + 1 - messages; }
};

// Options of a new stream.
struct Nats_Stream_Plan {
  int replicas = 3;
  // If true, messages can never be purged, and shorten() is refused, too.
  bool denies_purge = false;
};

// Creates and changes the stream of a database. For tools.
//
// Functions throw Connection_Lost if no answer arrives in time, and Disconnection if the servers
// refuse the request. Not thread-safe.
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

  // Creates the stream of the database. The stream is stored on disks and has no limits; single
  // messages cannot be deleted. Waits for the necessary servers for at most half a minute. Throws
  // Disconnection if the stream exists.
  void create(const Nats_Stream_Plan& plan = {});
  // Creates the stream of the address, as a mirror of the stream of the database. Throws
  // Disconnection if both have the same name.
  void create_mirror(int replicas = 1);

  // Removes messages 1 to before - 1 on all replicas. Other clients may append meanwhile. A mirror
  // keeps its own messages. Throws Disconnection if the stream denies purges, or ends before
  // message before - 1.
  void shorten(Replicated_Log::Number before);

  // Removes the stream of the address, with all its messages.
  void remove();

 private:
  class Requests;
  const Process_Owned<Requests> requests_;
};

// A log that is a stream of NATS JetStream. Link joedb::nats.
//
// Each append succeeds only if the stream ends with the expected last sequence, so an append can be
// repeated safely. Several messages are appended as one atomic batch if the stream allows batches.
//
// If the connection is lost, reconnects to any server of the cluster, and logs this. Every function
// returns or throws in bounded time: a request takes up to Nats_Settings::answer_time (more for
// large batches), and the search for a message up to search_time. Both times count anew for each
// server that has to be asked.
class Nats_Log final : public Replicated_Log {
 public:
  // `logger` must outlive the log. Throws Connection_Lost if no server can be reached, or if the
  // leader of the stream does not answer for 15 s; Disconnection if the servers refuse, if there is
  // no such stream (`joedb nats create` makes it), or if it may drop messages; Exception if a file
  // cannot be used.
  explicit Nats_Log(const Nats_Address& address, const Nats_Settings& settings = {},
                    Logger& logger = Logger::none());
  ~Nats_Log() override;

  // Returns the URL without user and password.
  std::string name() const override;
  // False for a mirror. Then only the mirror is read, and messages that the mirror does not have
  // yet are not found.
  bool can_append() const override;
  // Returns at most 512 KiB.
  std::size_t max_message_size() const override;
  std::size_t max_batch() const override;

  Range range() override;
  bool append(std::span<const std::string> messages, Number last) override;
  // Never skips a missing sequence: asks the other servers for the message.
  std::optional<std::string> read(Number number, System::Duration wait) override;
  std::optional<std::string> read_elsewhere(Number number) override;

  // Returns
  //
  // * `power` for three or more replicas if all servers that have one (Nats_Settings::asked) sync
  //   before they acknowledge (sync_interval: always) and say so at their monitoring port,
  // * `machine` for three or more replicas otherwise,
  // * `process` for fewer,
  // * `unknown` for storage in memory, and for fewer if it is not known whether their servers sync,
  //   or if the stream acknowledges before it writes.
  //
  // A mirror promises as much as it would as a log of its own. The monitoring port can be asked
  // only if the library was built with libcurl.
  Promise promise() override;
  std::int64_t reconnections() const override;

  // Asks JetStream for the state of the stream.
  Nats_Stream_State state();

 private:
  class Reader;
  const Process_Owned<Reader> reader_;
};

// A journal on a cluster of NATS servers. Link joedb::nats.
//
//     joedb::Nats_Connection connection("nats://a,b,c/city");
//     city::Client client(file, connection);
//
// `joedb nats create nats://a,b,c/city` makes the journal. docs/cluster.md describes how to set up
// the servers, and what an acknowledged transaction survives.
class Nats_Connection final : public Connection {
 public:
  // `logger` must outlive the connection. Throws the exceptions of Nats_Address::parse, Nats_Log
  // and Log_Connection: for example, Connection_Lost if no server can be reached, and Disconnection
  // if there is no such journal, or if its promise is less than Log_Settings::required.
  explicit Nats_Connection(const std::string& url, Logger& logger = Logger::none(),
                           const Nats_Settings& settings = {},
                           const Log_Settings& log_settings = {})
      : log_(Nats_Address::parse(url), settings, logger),
        connection_(log_, logger, System::real(), log_settings) {}

  // Returns the promise that the log made when the connection was opened.
  const Replicated_Log::Promise& promise() const { return connection_.promise(); }

  // As in Log_Connection.
  bool can_push() const override { return connection_.can_push(); }
  bool can_wait() const override { return connection_.can_wait(); }
  bool can_push_without_lock() const override { return connection_.can_push_without_lock(); }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override {
    connection_.compare(local, start, end, check);
  }
  void pull(const Pull& pull, const Receive& receive) override { connection_.pull(pull, receive); }
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override {
    connection_.push(local, end, level, after);
  }
  void unlock() noexcept override { connection_.unlock(); }

 private:
  Nats_Log log_;
  Log_Connection connection_;
};

}  // namespace joedb::inline v1

#endif
