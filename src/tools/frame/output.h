#ifndef JOEDB_CLI_OUTPUT_H
#define JOEDB_CLI_OUTPUT_H

#include <memory>
#include <string>

#include "joedb/base/log.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/snapshot.h"
#include "kernel/io/new_file.h"
#include "kernel/io/unnamed_file.h"
#include "tools/frame/parser.h"
#include "tools/frame/source.h"

namespace joedb {

// Throws Exception if the file exists and `force` is not set.
void require_absent(const std::string& name, bool force);

// Throws Exception if `out` and `in` are the same file: writing would destroy the input.
void require_other_file(const std::string& out, const std::string& in);

// Throws Exception if another process has the file open: it would keep the replaced file, and lose
// what it writes. Locks the file: no other process can open it while `file` lives.
void require_alone(File& file);

// Opens and locks a file that will be replaced, like require_alone. Returns null if the file does
// not exist, or if this user may not write it: then no process with the same rights can.
std::unique_ptr<File> lock_to_replace(const std::string& name);

// Prints on standard error where a recovery has saved the tail past the checkpoint; nothing if
// `saved` is empty (Writable_Journal::get_saved_tail).
void print_saved_tail(const std::string& saved);

// Prints on standard error why the snapshot beside the file was not used, unless it serves other
// programs (Snapshot_Report::is_for_others).
void print_snapshot_remark(const Database& database);

// Flushes standard output. Throws Exception if not everything could be written.
void finish_standard_output();

// --force
void add_force_option(Options& options, bool& force);

// --memory, in MB: approximate limit on the database content in memory at a time.
void add_memory_option(Options& options, std::int64_t& memory);

// Options for journals that tools create: with integrity entries, unless --classic is given.
Journal_Options options_of_new_file();

// Creates a journal, to which fill(journal) appends, then writes a hard checkpoint (with --classic:
// a soft one). Like fill_new_file otherwise; also removes the snapshots of a replaced file. The
// file is compressed if its name ends with .zst. Throws Exception if the file exists and `force` is
// not set, or if another process has it open.
template <class Fill>
void write_new_file(const std::string& name, bool force, Fill&& fill) {
  require_absent(name, force);
  if (!is_classic()) require_writable_output(name);
  const std::unique_ptr<File> replaced = is_classic() ? nullptr : lock_to_replace(name);
  const auto existing = force ? New_File::Existing::replace : New_File::Existing::refuse;
  const auto write = [&](File& file) {
    Writable_Journal journal(file, options_of_new_file());
    try {
      fill(journal);
      journal.checkpoint(is_classic() ? Checkpoint_Level::soft : Checkpoint_Level::hard);
    } catch (...) {
      // The file will be removed, so warnings about its tail are of no use.
      Destructor_Logger::remove_logger();
      throw;
    }
  };
  if (is_classic() || !is_zstd_name(name)) {
    fill_new_file(name, existing, write);
  } else {
    fill_new_file(name, existing, [&](File& archive) {
      Unnamed_File file(name);
      write(file);
      write_packed(file, archive);
    });
  }
  if (replaced) remove_snapshots(*replaced);
}

}  // namespace joedb

#endif
