#include "kernel/io/process_name.h"

#include <unistd.h>

#include <array>

namespace joedb::inline v1 {

std::string process_name() {
  std::string name = "process " + std::to_string(::getpid());
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) name += " on " + std::string(host.data());
  return name;
}

}  // namespace joedb::inline v1
