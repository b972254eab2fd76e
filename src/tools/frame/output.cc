#include "tools/frame/output.h"

#include <filesystem>
#include <iostream>

namespace joedb {

void print_saved_tail(const std::string& saved) {
  if (!saved.empty()) std::cerr << "saved the data after the checkpoint in " << saved << '\n';
}

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

void require_alone(File& file) {
  if (file.try_exclusive_lock(presence_lock.start, presence_lock.size)) return;
  throw Exception(
      file.get_name() +
      ": another process has the file open, and would keep using the old file: stop it first");
}

Journal_Options options_of_new_file() {
  Journal_Options options;
  options.has_integrity = !is_classic();
  return options;
}

std::unique_ptr<File> lock_to_replace(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return nullptr;
  try {
    auto file = std::make_unique<File>(file_to_replace(name), Open_Mode::write_existing);
    require_alone(*file);
    return file;
  } catch (const Io_Error& error) {
    if (error.code == EACCES || error.code == EROFS) return nullptr;
    throw;
  }
}

}  // namespace joedb
