#include "tools/frame/command.h"
#include "tools/frame/parser.h"

// Stubs for the commands that need libnats, for a build without libnats.

namespace joedb {

std::span<const Command> nats_commands() { return {}; }

int run_nats(std::vector<std::string>) {
  throw Exception("this program was built without libnats (Debian: libnats-dev)");
}

}  // namespace joedb
