#include "cli/output.h"

#include <filesystem>
#include <iostream>

namespace joedb {

void finish_standard_output() {
  std::cout.flush();
  if (!std::cout) throw Exception("writing standard output failed");
}

void add_force_option(Options& options, bool& force) {
  options.add_flag("--force", force, "replace OUT if it exists");
}

void require_absent(const std::string& name, bool force) {
  std::error_code ignored;
  if (force || !std::filesystem::exists(name, ignored)) return;
  if (is_classic()) throw_io_error("opening", name, -1, EEXIST);
  throw Exception(name + ": exists; --force replaces it");
}

}  // namespace joedb
