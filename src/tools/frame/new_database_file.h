#ifndef JOEDB_SRC_TOOLS_FRAME_NEW_DATABASE_FILE_H
#define JOEDB_SRC_TOOLS_FRAME_NEW_DATABASE_FILE_H

#include <functional>
#include <memory>
#include <string>

#include "joedb/journal/writable_journal.h"
#include "kernel/io/new_file.h"

namespace joedb {

// A database file that a tool writes, and that appears under its name only when it is complete and
// synced (New_File). The file that it replaces is locked from the constructor on: no other process
// can open that file, keep it, and lose what it writes.
class New_Database_File {
 public:
  enum class Existing {
    refuse,   // the name must be unused
    replace,  // a file of this name is replaced
    rewrite   // the file must exist; the new one has its owner, permissions and access list
  };
  using Fill = std::function<void(New_File&)>;

  // Throws Exception if another process has the existing file open, or it is not a regular file;
  // for rewrite, also if it is empty, or has several hard links. Throws Io_Error. With --classic, a
  // file is replaced without being locked. The replaced file keeps the name `kept`, unless that is
  // empty; it may have that name already, from a process that was killed.
  New_Database_File(const std::string& name, Existing existing, const std::string& kept = "");

  // Returns the file that will be replaced, open for writing. Null if there is none, or if this
  // user may not write it: then no process with the same rights can. Never null for rewrite.
  File* replaced() { return replaced_.get(); }

  // Calls fill(file), removes the snapshots of the replaced file, and renames the new file. Returns
  // its size.
  //
  // Throws what fill throws; Io_Error, also if another file has the name to be kept, or a file must
  // not be replaced. If anything fails, nothing but these snapshots has changed, except if only the
  // sync of the directory failed: then the new file has the name. Snapshots are removed before the
  // rename, so a killed process leaves no snapshot of the old content beside the new file.
  Offset write(const Fill& fill);

 private:
  void publish(New_File& file);

  const std::string path_;
  const Existing existing_;
  const std::string kept_;
  std::unique_ptr<File> replaced_;
};

// Options for journals that tools create: with integrity entries, unless --classic is given.
Journal_Options options_of_new_file();

// Opens a journal in a file, and calls fill(journal). If that throws, disables the warnings of
// destructors about the tail of the journal, because the file will be removed.
void write_journal(Abstract_File& file, const std::function<void(Writable_Journal&)>& fill,
                   const Journal_Options& options = options_of_new_file());

// Creates a database with fill(journal), and ends it with a hard checkpoint (with --classic: a soft
// one). The file is compressed if its name ends with .zst. Otherwise like New_Database_File. Throws
// Exception if the file exists and `force` is not set.
void write_new_database(const std::string& name, bool force,
                        const std::function<void(Writable_Journal&)>& fill);

}  // namespace joedb

#endif
