#include "tools/frame/output.h"

#include <filesystem>
#include <iostream>

#include "kernel/io/new_file.h"

namespace joedb {

void print_snapshot_remark(const Database& database) {
  const Snapshot_Report& report = database.snapshot_report();
  if (!report.remark.empty() && !report.is_for_others) std::cerr << report.remark << '\n';
}

void finish_standard_output() {
  std::cout.flush();
  if (!std::cout) throw Exception("writing standard output failed");
}

void add_force_option(Options& options, bool& force) {
  options.add_flag("--force", force, "replace OUT if it exists");
}

void add_memory_option(Options& options, std::int64_t& memory) {
  options.add("--memory", memory,
              "maximum memory for values, in MB (default: 1024); if they exceed it, the files are "
              "read again for each part",
              {.min = 1, .max = std::int64_t{1} << 30});
}

void require_absent(const std::string& name, bool force) {
  std::error_code ignored;
  if (force || !std::filesystem::exists(name, ignored)) return;
  file_to_replace(name);
  if (is_classic()) throw_io_error("opening", name, -1, EEXIST);
  throw Exception(name + ": exists; --force replaces it");
}

void require_other_file(const std::string& out, const std::string& in) {
  std::error_code ignored;
  if (std::filesystem::equivalent(out, in, ignored))
    throw Exception(out + ": this command works on this file, and does not replace it");
}

}  // namespace joedb
