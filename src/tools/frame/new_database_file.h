#ifndef JOEDB_SRC_TOOLS_FRAME_NEW_DATABASE_FILE_H
#define JOEDB_SRC_TOOLS_FRAME_NEW_DATABASE_FILE_H

#include <functional>
#include <memory>
#include <string>

#include "joedb/journal/writable_journal.h"
#include "kernel/io/new_file.h"

namespace joedb {

// A database file that a tool writes. It gets its name only when it is complete and synced
// (New_File). If it replaces a file, the old file is locked from the constructor on. Otherwise,
// another process could keep the old file open, and lose what it writes to it.
class New_Database_File {
 public:
  enum class Existing {
    refuse,   // the name must be unused
    replace,  // a file with this name is replaced
    rewrite   // a file must exist; the new one gets its owner, permissions and access list
  };
  using Fill = std::function<void(New_File&)>;

  // Throws Exception if another process has the existing file open, or if it is not a regular file;
  // for rewrite, also if it is empty, or has several hard links. Throws Io_Error. With --classic,
  // the file is replaced without a lock. If `kept` is not empty, the replaced file keeps this name.
  // It may already have this name because of a process that was killed.
  New_Database_File(const std::string& name, Existing existing, const std::string& kept = "");

  // Returns the file to be replaced, open for writing. Returns null if there is none, or if this
  // user may not write it; in that case, no process with the same rights can write it either. Never
  // null for rewrite.
  File* replaced() { return replaced_.get(); }

  // Calls fill(file), removes the snapshots of the replaced file, and renames the new file. Returns
  // its size.
  //
  // Passes on the exceptions of fill. Throws Io_Error, for example if another file has the name
  // `kept`, or if a file must not be replaced. After an exception, only these snapshots have
  // changed, with one exception: if only the sync of the directory has failed, the new file has its
  // name. Snapshots are removed before the rename, so that a killed process leaves no snapshot of
  // the old content beside the new file.
  Offset write(const Fill& fill);

 private:
  void publish(New_File& file);

  const std::string path_;
  const Existing existing_;
  const std::string kept_;
  std::unique_ptr<File> replaced_;
};

// Returns the options for journals that tools create. Integrity entries are enabled, except with
// --classic.
Journal_Options options_of_new_file();

// Opens a journal in a file, and calls fill(journal). If this throws, disables the destructors'
// warnings about the tail of the journal, because the file will be removed.
void write_journal(Abstract_File& file, const std::function<void(Writable_Journal&)>& fill,
                   const Journal_Options& options = options_of_new_file());

// Creates a database with fill(journal), and makes a hard checkpoint at its end (with --classic: a
// soft one). The file is compressed if its name ends with .zst. Otherwise, this is like
// New_Database_File. Throws Exception if the file exists and `force` is false.
void write_new_database(const std::string& name, bool force,
                        const std::function<void(Writable_Journal&)>& fill);

}  // namespace joedb

#endif
