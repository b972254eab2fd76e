#ifndef JOEDB_CLI_OUTPUT_H
#define JOEDB_CLI_OUTPUT_H

#include <memory>
#include <string>

#include "cli/parser.h"
#include "cli/source.h"
#include "io/new_file.h"
#include "io/temporary_file.h"
#include "joedb/base/log.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/snapshot.h"

namespace joedb {

// Throws Exception if there is such a file and `force` is not set.
void require_absent(const std::string& name, bool force);

// Throws Exception if `out` is the file `in`, which would be lost.
void require_other_file(const std::string& out, const std::string& in);

// The file that a new one replaces: where a symbolic link leads, or the name itself. Throws
// Exception if something is there that is no regular file.
std::string file_to_replace(const std::string& name);

// A process that has the file open would go on with the old one when it is replaced, and lose what
// it writes: throws Exception if there is one. No other opens it while `file` lives.
void require_alone(File& file);

// Locks a file that will be replaced, as require_alone; null if there is none, or if it cannot be
// opened to be written, by others with the same rights neither.
std::unique_ptr<File> lock_to_replace(const std::string& name);

// Says on standard error where a recovery has saved what was behind the checkpoint, if it has
// (Writable_Journal::get_saved_tail).
void print_saved_tail(const std::string& saved);

// Says on standard error why the snapshot beside the file was not used, unless it serves others.
void print_snapshot_remark(const Database& database);

// Throws if standard output could not take everything that was printed.
void finish_standard_output();

// --force
void add_force_option(Options& options, bool& force);

// --memory, in MB: how much of the content of databases is in memory at a time, about.
void add_memory_option(Options& options, std::int64_t& memory);

// Makes a file and calls fill(file). It appears under its name when it is complete and on the disk:
// if anything fails, or a signal ends the process, nothing has changed there. Throws Io_Error
// (EEXIST) if there is such a file and it must not be replaced.
template <class Fill>
void fill_new_file(const std::string& name, New_File::Existing existing, Fill&& fill) {
  New_File file(existing == New_File::Existing::replace ? file_to_replace(name) : name, existing);
  fill(file);
  file.publish();
}
template <class Fill>
void fill_new_file(const std::string& name, Fill&& fill) {
  fill_new_file(name, New_File::Existing::refuse, fill);
}

// Of journals that tools make: with integrity entries, unless --classic is given.
Journal_Options options_of_new_file();

// The same for a journal, to which fill(journal) appends; then writes a hard checkpoint (with
// --classic: a soft one). The file is compressed if its name ends with .zst. Throws Exception if
// there is such a file and `force` is not set.
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
      // The file will be removed, so that nobody needs the warnings about its tail.
      Destructor_Logger::remove_logger();
      throw;
    }
  };
  if (is_classic() || !is_zstd_name(name)) {
    fill_new_file(name, existing, write);
  } else {
    fill_new_file(name, existing, [&](File& archive) {
      Temporary_File file(name);
      write(file);
      write_packed(file, archive);
    });
  }
  if (replaced) remove_snapshots(*replaced);
}

}  // namespace joedb

#endif
