#include "cli/command.h"
#include "cli/parser.h"

// The commands that need libnats, where there was none when the tools were built.

namespace joedb {

std::span<const Command> nats_commands() { return {}; }

int run_nats(std::vector<std::string>) {
  throw Exception("this program was built without libnats (Debian: libnats-dev)");
}

}  // namespace joedb
