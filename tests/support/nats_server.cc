#include "support/nats_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

namespace joedb::testing {

// ---- the program --------------------------------------------------------------------------------

namespace {

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* file) const { ::pclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(::popen(command.c_str(), "r"));
  std::string text;
  char buffer[256];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe.get())) text += buffer;
  return text;
}

}  // namespace

std::optional<Nats_Program> Nats_Program::find() {
  std::vector<std::string> paths;
  if (const char* const path = std::getenv("JOEDB_NATS_SERVER"); path && *path)
    paths.emplace_back(path);
  paths.emplace_back(JOEDB_SOURCE_DIR "/build/nats/nats-server");
  const std::string in_path = output_of("command -v nats-server 2>/dev/null");
  paths.push_back(in_path.substr(0, in_path.find('\n')));
  for (const std::string& path : paths) {
    if (path.empty() || path.find('\'') != std::string::npos || ::access(path.c_str(), X_OK) != 0)
      continue;
    Nats_Program program{path};
    const std::string version = output_of("'" + path + "' --version 2>/dev/null");
    if (std::sscanf(version.c_str(), "nats-server: v%d.%d", &program.major, &program.minor) == 2)
      return program;
  }
  return std::nullopt;
}

// ---- ports --------------------------------------------------------------------------------------

namespace {

class Socket {
 public:
  Socket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool connects(int port) const {
    const sockaddr_in address = local(port);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool can_listen(int port) const {
    const int yes = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in address = local(port);
    return ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
           ::listen(fd_, 1) == 0;
  }

 private:
  static sockaddr_in local(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  const int fd_;
};

// Returns a free port below the range that the system uses for connections: a node that is started
// again must find its port free, because it is in the configuration of the other nodes.
int free_port() {
  static std::random_device random;
  static std::set<int> used;
  while (true) {
    const int port = std::uniform_int_distribution(15000, 32000)(random);
    if (Socket().can_listen(port) && used.insert(port).second) return port;
  }
}

}  // namespace

// ---- servers ------------------------------------------------------------------------------------

Nats_Servers::Nats_Servers(const Nats_Program& program, const Options& options)
    : program_(program.path), nodes_(options.size) {
  for (Node& node : nodes_) {
    node.port = free_port();
    node.monitor_port = free_port();
    node.cluster_port = free_port();
  }
  write_options(options, program);
  try {
    for (std::size_t i = 0; i < size(); ++i) start(i);
  } catch (...) {
    for (std::size_t i = 0; i < size(); ++i) kill(i);
    throw;
  }
}

Nats_Servers::~Nats_Servers() {
  for (std::size_t i = 0; i < size(); ++i) kill(i);
}

void Nats_Servers::write_options(const Options& options, const Nats_Program& program) {
  std::string routes;
  for (const Node& node : nodes_)
    routes += "    nats-route://127.0.0.1:" + std::to_string(node.cluster_port) + "\n";
  for (std::size_t i = 0; i < size(); ++i) {
    const Node& node = nodes_[i];
    std::string text = "server_name: " + name(i) +
                       "\n"
                       "listen: \"127.0.0.1:" +
                       std::to_string(node.port) +
                       "\"\n"
                       "http: \"127.0.0.1:" +
                       std::to_string(node.monitor_port) +
                       "\"\n"
                       "jetstream {\n"
                       "  store_dir: \"" +
                       directory_.file(name(i)) +
                       "\"\n"
                       "  max_file_store: 1GB\n";
    if (options.syncs_always && program.is_at_least(2, 10)) text += "  sync_interval: always\n";
    text += "}\n";
    if (size() > 1)
      text +=
          "cluster {\n"
          "  name: test\n"
          "  listen: \"127.0.0.1:" +
          std::to_string(node.cluster_port) +
          "\"\n"
          "  routes: [\n" +
          routes + "  ]\n}\n";
    directory_.write(name(i) + ".conf", text + options.more_options);
  }
}

std::string Nats_Servers::url(std::string_view database) const {
  std::string result = "nats://";
  for (const Node& node : nodes_)
    result += (&node == &nodes_.front() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(node.port);
  return result.append("/").append(database);
}

std::string Nats_Servers::url(std::string_view database, std::size_t node) const {
  return ("nats://127.0.0.1:" + std::to_string(nodes_.at(node).port) + "/").append(database);
}

std::string Nats_Servers::monitor() const {
  std::string result;
  for (const Node& node : nodes_)
    result += (result.empty() ? "http://127.0.0.1:" : ",http://127.0.0.1:") +
              std::to_string(node.monitor_port);
  return result;
}

std::string Nats_Servers::name(std::size_t node) const { return "node_" + std::to_string(node); }

std::size_t Nats_Servers::index(std::string_view name_of_node) const {
  for (std::size_t i = 0; i < size(); ++i)
    if (name(i) == name_of_node) return i;
  throw std::runtime_error("there is no server " + std::string(name_of_node));
}

std::string Nats_Servers::blocks(std::size_t node, std::string_view stream) const {
  return (directory_.file(name(node)) + "/jetstream/$G/streams/").append(stream).append("/msgs");
}

std::string Nats_Servers::log(std::size_t node) const {
  return directory_.read(name(node) + ".log");
}

void Nats_Servers::signal(std::size_t node, int number) {
  if (nodes_.at(node).process > 0) ::kill(nodes_[node].process, number);
}

void Nats_Servers::end_with(std::size_t node, int number) {
  signal(node, number);
  int& process = nodes_.at(node).process;
  if (process > 0) ::waitpid(process, nullptr, 0);
  process = -1;
}

void Nats_Servers::kill(std::size_t node) { end_with(node, SIGKILL); }
void Nats_Servers::end(std::size_t node) { end_with(node, SIGTERM); }
void Nats_Servers::stop(std::size_t node) { signal(node, SIGSTOP); }
void Nats_Servers::resume(std::size_t node) { signal(node, SIGCONT); }

void Nats_Servers::start(std::size_t node) {
  Node& started = nodes_.at(node);
  if (started.process > 0) return;
  const std::string options = directory_.file(name(node) + ".conf");
  const std::string log_file = directory_.file(name(node) + ".log");
  const int parent = ::getpid();
  const int process = ::fork();
  if (process < 0) throw std::runtime_error("cannot start a process");
  if (process == 0) {
    // Only system calls: other threads may have held locks at the fork().
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int fd = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(fd, 1);
    ::dup2(fd, 2);
    ::execl(program_.c_str(), program_.c_str(), "-c", options.c_str(), nullptr);
    ::_exit(127);
  }
  started.process = process;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (!Socket().connects(started.port)) {
    const bool has_ended = ::waitpid(process, nullptr, WNOHANG) == process;
    if (has_ended) started.process = -1;
    if (has_ended || Clock::now() > end)
      throw std::runtime_error("nats-server does not start: " + log(node));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace joedb::testing
