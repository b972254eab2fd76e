#ifndef JOEDB_TESTS_SUPPORT_NATS_SERVER_H
#define JOEDB_TESTS_SUPPORT_NATS_SERVER_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_directory.h"

namespace joedb::testing {

// The program nats-server.
struct Nats_Program {
  std::string path;
  int major = 0;
  int minor = 0;

  bool is_at_least(int major_version, int minor_version) const {
    return major != major_version ? major > major_version : minor >= minor_version;
  }
  // Returns the first of these that can be run: the program of the environment variable
  // JOEDB_NATS_SERVER, build/nats/nats-server of the sources (scripts/nats_server.py), nats-server
  // in the PATH. Returns nullopt if there is none.
  static std::optional<Nats_Program> find();
};

// Servers with JetStream: a single one, or a cluster. They listen on this machine only, keep their
// data in a temporary directory, and end with this object or with this process.
class Nats_Servers {
 public:
  struct Options {
    std::size_t size = 1;
    bool syncs_always = true;       // no effect before 2.10, which has no such option
    std::string more_options = {};  // appended to the configuration file of each server
  };
  // Waits until the servers accept connections. They may not have elected a leader yet.
  Nats_Servers(const Nats_Program& program, const Options& options);
  ~Nats_Servers();
  Nats_Servers(const Nats_Servers&) = delete;
  Nats_Servers& operator=(const Nats_Servers&) = delete;

  std::size_t size() const { return nodes_.size(); }
  // nats://127.0.0.1:PORT,.../DATABASE
  std::string url(std::string_view database) const;
  std::string url(std::string_view database, std::size_t node) const;
  // The URLs of the monitoring services, separated by commas.
  std::string monitor() const;

  std::string name(std::size_t node) const;
  std::size_t index(std::string_view name) const;
  // The directory in which a node keeps the blocks of messages of a stream (N.blk).
  std::string blocks(std::size_t node, std::string_view stream) const;
  std::string log(std::size_t node) const;

  void kill(std::size_t node);  // like kill -9
  void end(std::size_t node);   // SIGTERM: the node saves its state and exits
  void stop(std::size_t node);  // SIGSTOP: the node hangs, until resume()
  void resume(std::size_t node);
  // After kill() or end(): starts the node again, with the same ports and files.
  void start(std::size_t node);

 private:
  struct Node {
    int port = 0;
    int monitor_port = 0;
    int cluster_port = 0;
    int process = -1;  // -1: none
  };
  void write_options(const Options& options, const Nats_Program& program);
  void signal(std::size_t node, int number);
  void end_with(std::size_t node, int number);

  const std::string program_;
  const Temporary_Directory directory_;
  std::vector<Node> nodes_;
};

}  // namespace joedb::testing

#endif
